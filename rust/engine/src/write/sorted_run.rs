//! Sorted rows in a temporary file, with their keys if those are short: so they are not made again for a merge.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, IoSlice, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{FixedSizeBinaryArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::row_order::{RowKeys, RowOrder};
use super::run_memory::RunMemory;
use crate::error::{Error, Result};
#[cfg(not(unix))]
use crate::runtime::spill::remove_temporary;
use crate::runtime::spill::temporary_file;

/// Bytes of a key.
const KEY_BYTES: i32 = 16;

/// A run that is being written.
pub(super) struct RunWriter {
    path: PathBuf,
    file: File,
    /// The schema with the column of keys; None if the run has no keys.
    keyed: Option<SchemaRef>,
    schema: SchemaRef,
    encoder: StreamEncoder,
    /// Bytes of each batch in the file.
    lengths: Vec<usize>,
}

impl RunWriter {
    /// Create an empty run in the directory of temporary files; only the owner can read it.
    pub(super) fn new(schema: &SchemaRef, order: &RowOrder) -> Result<Self> {
        let keyed = order.has_short_keys().then(|| with_keys(schema));
        let (path, file) = temporary_file("run")?;
        let encoder = StreamEncoder::try_new(keyed.as_deref().unwrap_or(schema));
        let encoder = encoder.map_err(|error| broken(&path, error))?;
        Ok(Self { path, file, keyed, schema: Arc::clone(schema), encoder, lengths: vec![] })
    }

    /// Write rows and the first bytes of their keys.
    pub(super) fn write(&mut self, batch: &RecordBatch, keys: Vec<u128>) -> Result<()> {
        let encoded = match &self.keyed {
            None => self.encoder.encode(batch),
            Some(schema) => {
                keyed_batch(schema, batch, keys).and_then(|batch| self.encoder.encode(&batch))
            }
        };
        let buffers = encoded.map_err(|error| broken(&self.path, error))?;
        self.lengths.push(buffers.iter().map(Buffer::len).sum());
        write_all(&self.file, &buffers).map_err(|error| failed(&self.path, &error))
    }

    /// End the run.
    pub(super) fn finish(self) -> Run {
        Run { path: self.path, schema: self.schema, file: self.file, lengths: self.lengths }
    }
}

/// Write buffers one after the other, without a copy of them in one place.
fn write_all(mut file: &File, buffers: &[Buffer]) -> Result<(), IoError> {
    let mut slices: Vec<IoSlice> = buffers.iter().map(|buffer| IoSlice::new(buffer)).collect();
    let mut left = slices.as_mut_slice();
    // Leading empty slices are skipped, so that a write of no bytes is a failed one.
    IoSlice::advance_slices(&mut left, 0);
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut left, written),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A complete run.
pub(super) struct Run {
    path: PathBuf,
    schema: SchemaRef,
    file: File,
    lengths: Vec<usize>,
}

impl Run {
    /// Read the run's batches in order.
    pub(super) fn open(mut self, order: &RowOrder) -> Result<RunReader> {
        self.file.seek(SeekFrom::Start(0)).map_err(|error| failed(&self.path, &error))?;
        Ok(RunReader {
            path: self.path,
            file: self.file,
            schema: self.schema,
            has_keys: order.has_short_keys(),
            decoder: StreamDecoder::new(),
            lengths: self.lengths.into_iter(),
        })
    }
}

#[cfg(test)]
impl Run {
    /// Remove the bytes after the first `bytes`.
    pub(super) fn cut(&self, bytes: u64) {
        self.file.set_len(bytes).unwrap();
    }
}

/// The batches of a run.
pub(super) struct RunReader {
    path: PathBuf,
    file: File,
    schema: SchemaRef,
    has_keys: bool,
    decoder: StreamDecoder,
    lengths: std::vec::IntoIter<usize>,
}

/// Rows of a run.
pub(super) struct RunBatch {
    pub(super) rows: RecordBatch,
    pub(super) keys: RowKeys,
    /// The memory that the rows are read from.
    pub(super) bytes: Buffer,
}

impl RunReader {
    /// Return the next rows and their keys, `None` after the last.
    pub(super) fn next_batch(
        &mut self,
        order: &RowOrder,
        memory: &mut RunMemory,
    ) -> Result<Option<RunBatch>> {
        let Some(length) = self.lengths.next() else { return Ok(None) };
        let mut bytes = memory.take(length);
        self.file.read_exact(&mut bytes).map_err(|error| failed(&self.path, &error))?;
        let bytes = Buffer::from_vec(bytes);
        let batch = self.decoder.decode(&mut bytes.clone());
        let batch = batch.map_err(|error| broken(&self.path, error))?;
        let batch = batch.ok_or_else(|| Error::internal("sort rows", "a run has no rows"))?;
        let (rows, keys) = self.rows_and_keys(batch, order)?;
        Ok(Some(RunBatch { rows, keys, bytes }))
    }

    fn rows_and_keys(
        &self,
        batch: RecordBatch,
        order: &RowOrder,
    ) -> Result<(RecordBatch, RowKeys)> {
        if !self.has_keys {
            let keys = order.keys(&batch)?;
            return Ok((batch, keys));
        }
        let keys = batch.columns().last().and_then(|keys| keys.as_fixed_size_binary_opt());
        let keys = keys.map(|keys| {
            let (keys, _) = keys.value_data().as_chunks::<16>();
            RowKeys::of_numbers(keys.iter().map(|key| u128::from_ne_bytes(*key)).collect())
        });
        let keys = keys.ok_or_else(|| Error::internal("sort rows", "a run has no keys"))?;
        let columns = batch.columns().iter().take(self.schema.fields().len()).cloned().collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map(|batch| (batch, keys))
            .map_err(|error| broken(&self.path, error))
    }
}

fn with_keys(schema: &Schema) -> SchemaRef {
    let key = Field::new("key", DataType::FixedSizeBinary(KEY_BYTES), false);
    let fields = schema.fields().iter().cloned().chain([Arc::new(key)]);
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn keyed_batch(
    schema: &SchemaRef,
    batch: &RecordBatch,
    keys: Vec<u128>,
) -> Result<RecordBatch, ArrowError> {
    let numbers: Vec<i128> = keys.into_iter().map(u128::cast_signed).collect();
    let keys = FixedSizeBinaryArray::try_new(KEY_BYTES, Buffer::from_vec(numbers), None)?;
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(keys));
    RecordBatch::try_new(Arc::clone(schema), columns)
}

impl Drop for RunReader {
    fn drop(&mut self) {
        #[cfg(not(unix))]
        remove_temporary(&self.path);
    }
}

fn failed(path: &Path, error: &IoError) -> Error {
    Error::of_system(format!("{}, a temporary file", path.display()), error)
}

fn broken(path: &Path, error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => failed(path, &source),
        other => Error::internal(format!("sort rows in {}", path.display()), other),
    }
}

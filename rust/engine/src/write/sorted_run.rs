//! Sorted rows in a temporary file, with their keys if those are short: so they are not made again for a merge.
//!
//! Runs follow each other in one file: a process may have few files open.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, IoSlice, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
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

/// A temporary file of consecutive runs. One thread at a time writes or reads it.
struct RunFile {
    path: PathBuf,
    file: File,
}

/// A run that is being written.
pub(super) struct RunWriter {
    file: Arc<RunFile>,
    /// Offset of the run in the file.
    start: u64,
    /// The schema with the column of keys; None if the run has no keys.
    keyed: Option<SchemaRef>,
    schema: SchemaRef,
    encoder: StreamEncoder,
    /// Bytes of each batch in the file.
    lengths: Vec<usize>,
}

impl RunWriter {
    /// Create an empty run after the last run of a file, or else in a new temporary file, which only the
    /// owner can read.
    ///
    /// # Errors
    /// [`Error::System`] where no file can be made.
    pub(super) fn new(schema: &SchemaRef, order: &RowOrder, last: Option<&Run>) -> Result<Self> {
        let keyed = order.has_short_keys().then(|| with_keys(schema));
        let (file, start) = match last {
            Some(last) => (Arc::clone(&last.file), last.end()),
            None => (Arc::new(RunFile::new()?), 0),
        };
        file.seek(start)?;
        let encoder = StreamEncoder::try_new(keyed.as_deref().unwrap_or(schema));
        let encoder = encoder.map_err(|error| file.broken(error))?;
        Ok(Self { file, start, keyed, schema: Arc::clone(schema), encoder, lengths: vec![] })
    }

    /// Write rows and the first bytes of their keys.
    pub(super) fn write(&mut self, batch: &RecordBatch, keys: Vec<u128>) -> Result<()> {
        let encoded = match &self.keyed {
            None => self.encoder.encode(batch),
            Some(schema) => {
                keyed_batch(schema, batch, keys).and_then(|batch| self.encoder.encode(&batch))
            }
        };
        let buffers = encoded.map_err(|error| self.file.broken(error))?;
        self.lengths.push(buffers.iter().map(Buffer::len).sum());
        write_all(&self.file.file, &buffers).map_err(|error| self.file.failed(&error))
    }

    /// End the run.
    pub(super) fn finish(self) -> Run {
        Run { file: self.file, start: self.start, schema: self.schema, lengths: self.lengths }
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
    file: Arc<RunFile>,
    start: u64,
    schema: SchemaRef,
    lengths: Vec<usize>,
}

impl Run {
    /// Read the run's batches in order.
    pub(super) fn open(self, order: &RowOrder) -> RunReader {
        RunReader {
            file: self.file,
            next: self.start,
            schema: self.schema,
            has_keys: order.has_short_keys(),
            decoder: StreamDecoder::new(),
            lengths: self.lengths.into_iter(),
        }
    }

    /// Return the offset after the run's last byte.
    fn end(&self) -> u64 {
        self.start + self.lengths.iter().map(|length| *length as u64).sum::<u64>()
    }
}

#[cfg(test)]
impl Run {
    /// Remove the bytes after the first `bytes` of the run.
    pub(super) fn cut(&self, bytes: u64) {
        self.file.file.set_len(self.start + bytes).unwrap();
    }

    /// Return whether two runs are in one file.
    pub(super) fn shares_file(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
    }
}

/// The batches of a run.
pub(super) struct RunReader {
    file: Arc<RunFile>,
    /// Offset of the next batch.
    next: u64,
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
        self.file.seek(self.next)?;
        let read = (&self.file.file).read_exact(&mut bytes);
        read.map_err(|error| self.file.failed(&error))?;
        self.next += length as u64;
        let bytes = Buffer::from_vec(bytes);
        let batch = self.decoder.decode(&mut bytes.clone());
        let batch = batch.map_err(|error| self.file.broken(error))?;
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
            .map_err(|error| self.file.broken(error))
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

impl RunFile {
    fn new() -> Result<Self> {
        temporary_file("run").map(|(path, file)| Self { path, file })
    }

    fn seek(&self, offset: u64) -> Result<()> {
        let sought = (&self.file).seek(SeekFrom::Start(offset));
        sought.map(drop).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &IoError) -> Error {
        Error::of_system(format!("{}, a temporary file", self.path.display()), error)
    }

    fn broken(&self, error: ArrowError) -> Error {
        match error {
            ArrowError::IoError(_, source) => self.failed(&source),
            other => Error::internal(format!("sort rows in {}", self.path.display()), other),
        }
    }
}

impl Drop for RunFile {
    fn drop(&mut self) {
        #[cfg(not(unix))]
        remove_temporary(&self.path);
    }
}

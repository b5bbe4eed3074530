//! Sorted rows in a temporary file, with their keys if those are short: so they are not made again for a merge.

use std::fs::File;
use std::io::{BufReader, BufWriter, Error as IoError, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{FixedSizeBinaryArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::row_order::{RowKeys, RowOrder};
use crate::error::{Error, Result};
#[cfg(not(unix))]
use crate::runtime::spill::remove_temporary;
use crate::runtime::spill::temporary_file;

const WRITE_BUFFER_BYTES: usize = 256 * 1024;
/// Many runs are open at once.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Bytes of a key.
const KEY_BYTES: i32 = 16;

/// A run that is being written.
pub(super) struct RunWriter {
    path: PathBuf,
    /// The schema with the column of keys; None if the run has no keys.
    keyed: Option<SchemaRef>,
    schema: SchemaRef,
    writer: StreamWriter<BufWriter<File>>,
}

impl RunWriter {
    /// An empty run in the directory of temporary files; only the owner can read it.
    pub(super) fn new(schema: &SchemaRef, order: &RowOrder) -> Result<Self> {
        let keyed = order.has_short_keys().then(|| with_keys(schema));
        let (path, file) = temporary_file("run")?;
        let buffered = BufWriter::with_capacity(WRITE_BUFFER_BYTES, file);
        let writer = StreamWriter::try_new(buffered, keyed.as_deref().unwrap_or(schema));
        let writer = writer.map_err(|error| broken(&path, error))?;
        Ok(Self { path, keyed, schema: Arc::clone(schema), writer })
    }

    /// Write rows and the first bytes of their keys.
    pub(super) fn write(&mut self, batch: &RecordBatch, keys: Vec<u128>) -> Result<()> {
        let written = match &self.keyed {
            None => self.writer.write(batch),
            Some(schema) => {
                keyed_batch(schema, batch, keys).and_then(|batch| self.writer.write(&batch))
            }
        };
        written.map_err(|error| broken(&self.path, error))
    }

    /// End the run.
    pub(super) fn finish(mut self) -> Result<Run> {
        let path = self.path;
        self.writer.finish().map_err(|error| broken(&path, error))?;
        let mut buffered = self.writer.into_inner().map_err(|error| broken(&path, error))?;
        buffered.flush().map_err(|error| failed(&path, &error))?;
        let file = buffered.into_inner().map_err(|error| failed(&path, error.error()))?;
        Ok(Run { path, schema: self.schema, file })
    }
}

/// A complete run.
pub(super) struct Run {
    path: PathBuf,
    schema: SchemaRef,
    file: File,
}

impl Run {
    /// Read the run's batches in order.
    pub(super) fn open(mut self, order: &RowOrder) -> Result<RunReader> {
        self.file.seek(SeekFrom::Start(0)).map_err(|error| failed(&self.path, &error))?;
        let buffered = BufReader::with_capacity(READ_BUFFER_BYTES, self.file);
        let reader = StreamReader::try_new(buffered, None);
        let reader = reader.map_err(|error| broken(&self.path, error))?;
        let has_keys = order.has_short_keys();
        Ok(RunReader { path: self.path, schema: self.schema, has_keys, reader })
    }
}

/// The batches of a run.
pub(super) struct RunReader {
    path: PathBuf,
    schema: SchemaRef,
    has_keys: bool,
    reader: StreamReader<BufReader<File>>,
}

impl RunReader {
    /// The next rows and their keys, `None` after the last.
    pub(super) fn next_batch(
        &mut self,
        order: &RowOrder,
    ) -> Result<Option<(RecordBatch, RowKeys)>> {
        let batch = self.reader.next().transpose().map_err(|error| broken(&self.path, error))?;
        let Some(batch) = batch else { return Ok(None) };
        if !self.has_keys {
            let keys = order.keys(&batch)?;
            return Ok(Some((batch, keys)));
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
            .map(|batch| Some((batch, keys)))
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

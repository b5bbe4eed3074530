//! Sorted rows in a temporary file.

use std::fs::File;
use std::io::{BufReader, BufWriter, Error as IoError, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Schema};

use crate::error::{Error, Result};
#[cfg(not(unix))]
use crate::runtime::spill::remove_temporary;
use crate::runtime::spill::temporary_file;

const BUFFER_BYTES: usize = 256 * 1024;

/// A run that is being written.
pub(super) struct RunWriter {
    path: PathBuf,
    writer: StreamWriter<BufWriter<File>>,
}

impl RunWriter {
    /// An empty run in the directory of temporary files; only the owner can read it.
    pub(super) fn new(schema: &Schema) -> Result<Self> {
        let (path, file) = temporary_file("run")?;
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, file);
        let writer = StreamWriter::try_new(buffered, schema);
        Ok(Self { writer: writer.map_err(|error| broken(&path, error))?, path })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|error| broken(&self.path, error))
    }

    /// End the run.
    pub(super) fn finish(mut self) -> Result<Run> {
        let path = self.path;
        self.writer.finish().map_err(|error| broken(&path, error))?;
        let mut buffered = self.writer.into_inner().map_err(|error| broken(&path, error))?;
        buffered.flush().map_err(|error| failed(&path, &error))?;
        let file = buffered.into_inner().map_err(|error| failed(&path, error.error()))?;
        Ok(Run { path, file })
    }
}

/// A complete run.
pub(super) struct Run {
    path: PathBuf,
    file: File,
}

impl Run {
    /// Read the run's batches in order.
    pub(super) fn open(mut self) -> Result<RunReader> {
        self.file.seek(SeekFrom::Start(0)).map_err(|error| failed(&self.path, &error))?;
        let buffered = BufReader::with_capacity(BUFFER_BYTES, self.file);
        let reader = StreamReader::try_new(buffered, None);
        Ok(RunReader {
            reader: reader.map_err(|error| broken(&self.path, error))?,
            path: self.path,
        })
    }
}

/// The batches of a run.
pub(super) struct RunReader {
    path: PathBuf,
    reader: StreamReader<BufReader<File>>,
}

impl RunReader {
    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.reader.next().transpose().map_err(|error| broken(&self.path, error))
    }
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

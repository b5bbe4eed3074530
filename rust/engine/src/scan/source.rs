//! The bytes of one data file, for one decoding thread.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::error::Error;
use crate::store::FileIo;

/// Enough for a page header with statistics; a longer one is read in several steps.
const HEADER_BUFFER_BYTES: usize = 512;

/// An open local file. A page is read straight into the buffer that it is decoded from.
#[derive(Debug, Clone)]
pub(crate) struct DataFile {
    // The lock guards the cursor; each decoding thread opens its own file and never waits.
    file: Arc<Mutex<File>>,
    length: u64,
}

impl DataFile {
    /// Open a file by its location.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`], and those of [`FileIo::local_path`].
    pub(crate) fn open(io: &FileIo, location: &str) -> crate::Result<Self> {
        let path = io.local_path(location)?.ok_or_else(|| {
            Error::unsupported_in(location, "reading data files from this storage")
        })?;
        Self::open_path(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::Missing { location: location.to_owned() },
            _ => Error::Storage { location: location.to_owned(), reason: error.to_string() },
        })
    }

    fn open_path(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(Mutex::new(file)), length })
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Length for DataFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for DataFile {
    type T = BufReader<FromOffset>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let reader = FromOffset { file: self.clone(), offset: start };
        Ok(BufReader::with_capacity(HEADER_BUFFER_BYTES, reader))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length);
        if end.is_none() {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} lie beyond the end of the file at {}",
                self.length
            )));
        }
        let mut buffer = Vec::with_capacity(length);
        let mut file = self.lock();
        file.seek(SeekFrom::Start(start))?;
        let read = (&mut *file).take(length as u64).read_to_end(&mut buffer)?;
        if read != length {
            return Err(ParquetError::EOF(format!("{read} of {length} bytes at {start}")));
        }
        Ok(buffer.into())
    }
}

/// Reads on from an offset.
#[derive(Debug)]
pub(crate) struct FromOffset {
    file: DataFile,
    offset: u64,
}

impl Read for FromOffset {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.read(buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

//! The bytes of one data file, for one decoding thread.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Buf;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::remote_file::RemoteFile;
use crate::error::Error;
use crate::store::FileIo;

/// Enough for a page header with statistics; a longer one is read in several steps.
const HEADER_BUFFER_BYTES: usize = 512;

/// An open data file.
#[derive(Debug, Clone)]
pub(crate) enum DataFile {
    /// A page is read straight into the buffer that it is decoded from.
    Local(LocalFile),
    /// What will be needed is read ahead.
    Remote(RemoteFile),
}

impl DataFile {
    /// Open a file by its location.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`], and those of [`FileIo::local_path`].
    pub(crate) fn open(io: &FileIo, location: &str) -> crate::Result<Self> {
        let Some(path) = io.local_path(location)? else {
            return RemoteFile::open(io, location).map(Self::Remote);
        };
        LocalFile::open(&path).map(Self::Local).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::Missing { location: location.to_owned() },
            _ => Error::Storage { location: location.to_owned(), reason: error.to_string() },
        })
    }

    /// The same file for one decoding thread, which will read the ranges that `stages` tells, those of
    /// a stage together.
    ///
    /// # Errors
    /// As for [`DataFile::open`].
    pub(crate) fn again(
        &self,
        io: &FileIo,
        location: &str,
        stages: impl FnOnce() -> Vec<Vec<Range<u64>>>,
    ) -> crate::Result<Self> {
        match self {
            Self::Local(_) => Self::open(io, location),
            Self::Remote(remote) => Ok(Self::Remote(remote.ahead(stages()))),
        }
    }

    /// The failure of storage that a decoder met and may have made another error of.
    pub(crate) fn failure(&self) -> Option<Error> {
        match self {
            Self::Local(_) => None,
            Self::Remote(remote) => remote.failure().cloned(),
        }
    }
}

impl Length for DataFile {
    fn len(&self) -> u64 {
        match self {
            Self::Local(file) => file.length,
            Self::Remote(file) => file.len(),
        }
    }
}

impl ChunkReader for DataFile {
    type T = ReadOn;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(match self {
            Self::Local(file) => ReadOn::Local(file.read_on(start)),
            Self::Remote(file) => ReadOn::Remote(file.read_on(start)?.reader()),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let whole = self.len();
        if start.checked_add(length as u64).filter(|end| *end <= whole).is_none() {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} lie beyond the end of the file at {whole}"
            )));
        }
        match self {
            Self::Local(file) => file.bytes(start, length),
            Self::Remote(file) => file.bytes(start..start + length as u64),
        }
    }
}

/// Reads on from an offset.
#[derive(Debug)]
pub(crate) enum ReadOn {
    Local(BufReader<FromOffset>),
    Remote(bytes::buf::Reader<Bytes>),
}

impl Read for ReadOn {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Local(reader) => reader.read(buffer),
            Self::Remote(reader) => reader.read(buffer),
        }
    }
}

/// An open file of this machine.
#[derive(Debug, Clone)]
pub(crate) struct LocalFile {
    // The lock guards the cursor; each decoding thread opens its own file and never waits.
    file: Arc<Mutex<File>>,
    length: u64,
}

impl LocalFile {
    fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(Mutex::new(file)), length })
    }

    fn read_on(&self, start: u64) -> BufReader<FromOffset> {
        let reader = FromOffset { file: self.clone(), offset: start };
        BufReader::with_capacity(HEADER_BUFFER_BYTES, reader)
    }

    fn bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut buffer = Vec::with_capacity(length);
        let mut file = self.lock();
        file.seek(SeekFrom::Start(start))?;
        let read = (&mut *file).take(length as u64).read_to_end(&mut buffer)?;
        if read != length {
            return Err(ParquetError::EOF(format!("{read} of {length} bytes at {start}")));
        }
        Ok(buffer.into())
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a local file on from an offset.
#[derive(Debug)]
pub(crate) struct FromOffset {
    file: LocalFile,
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

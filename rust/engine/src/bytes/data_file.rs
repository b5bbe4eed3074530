//! The bytes of one data file, for one decoding thread.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::fetch::Fetch;
use super::local::{FromOffset, LocalFile};
use super::remote::{RemoteFile, RemoteReader, TAIL_BYTES};
use crate::error::Error;
use crate::store::FileIo;

/// An open data file.
#[derive(Debug, Clone)]
pub(crate) enum DataFile {
    /// A page is read straight into the buffer that it is decoded from.
    Local(LocalFile),
    /// Ranges are read ahead.
    Remote(RemoteFile),
}

/// A request for the last bytes of a remote file, or the file if it is open.
#[derive(Debug)]
pub(crate) enum TailFetch {
    Requested(Fetch<RemoteFile>),
    Opened(DataFile),
}

impl TailFetch {
    /// The most bytes that are requested.
    pub(crate) const BYTES: usize = TAIL_BYTES as usize;

    /// Request the last bytes of a file if it is remote. Opening the file reports the errors.
    pub(crate) fn start(io: &FileIo, location: &str) -> Option<Self> {
        let Ok(None) = io.local_path(location) else { return None };
        Fetch::start(RemoteFile::opened(io.clone(), location.to_owned())).ok().map(Self::Requested)
    }

    /// Return whether the bytes have arrived.
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            Self::Requested(end) => end.is_ready(),
            Self::Opened(_) => true,
        }
    }
}

impl DataFile {
    /// As [`DataFile::open`], with the last bytes if they were requested.
    ///
    /// # Errors
    /// As for [`DataFile::open`].
    pub(crate) fn opened(
        tail: Option<TailFetch>,
        io: &FileIo,
        location: &str,
    ) -> crate::Result<Self> {
        match tail {
            Some(TailFetch::Requested(end)) => end.wait().map(Self::Remote),
            Some(TailFetch::Opened(file)) => Ok(file),
            None => Self::open(io, location),
        }
    }

    /// Open a file by its location.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`], and errors of [`FileIo::local_path`].
    pub(crate) fn open(io: &FileIo, location: &str) -> crate::Result<Self> {
        match io.local_path(location)? {
            Some(path) => Self::open_local(io, location, &path),
            None => RemoteFile::open(io, location).map(Self::Remote),
        }
    }

    /// As [`DataFile::open`], for a file of a known length: no bytes of a remote file are requested.
    ///
    /// # Errors
    /// As for [`DataFile::open`] of a local file.
    pub(crate) fn of_length(io: &FileIo, location: &str, length: u64) -> crate::Result<Self> {
        match io.local_path(location)? {
            Some(path) => Self::open_local(io, location, &path),
            None => Ok(Self::Remote(RemoteFile::of_length(io.clone(), location.into(), length))),
        }
    }

    fn open_local(io: &FileIo, location: &str, path: &Path) -> crate::Result<Self> {
        LocalFile::open(path)
            .map(Self::Local)
            .map_err(|error| Error::of_system(io.absolute(location), &error))
    }

    /// Return the file for one decoding thread that reads the ranges of `stages`, each stage in one request. With
    /// `passing` the thread drops the bytes of a read before the next read.
    pub(crate) fn for_thread(
        &self,
        passing: bool,
        stages: impl FnOnce() -> Vec<Vec<Range<u64>>>,
    ) -> Self {
        match self {
            Self::Local(local) => Self::Local(local.for_thread(passing)),
            Self::Remote(remote) => Self::Remote(remote.with_stages(stages())),
        }
    }

    /// Return the file for another thread, sharing the bytes that were read.
    pub(crate) fn share(&self) -> Self {
        match self {
            Self::Local(local) => Self::Local(local.clone()),
            Self::Remote(remote) => Self::Remote(remote.with_own_failure()),
        }
    }

    /// Request the bytes of the first stage, unless they are more than `most`. Return the number of bytes that were not
    /// requested before.
    pub(crate) fn begin(&self, most: usize) -> Option<usize> {
        match self {
            Self::Local(_) => Some(0),
            Self::Remote(remote) => remote.begin(most),
        }
    }

    /// Read `length` bytes from `start` on.
    ///
    /// # Errors
    /// [`Error::Storage`], also for a range beyond the end of the file.
    pub(crate) fn range(&self, location: &str, start: u64, length: usize) -> crate::Result<Bytes> {
        self.get_bytes(start, length).map_err(|error| storage_error(location, error))
    }

    /// Return the storage error of a read, which a decoder may have wrapped into another error.
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
            Self::Local(file) => file.len(),
            Self::Remote(file) => file.len(),
        }
    }
}

impl ChunkReader for DataFile {
    type T = SequentialReader;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(match self {
            Self::Local(file) => SequentialReader::Local(file.reader_from(start)),
            Self::Remote(file) => SequentialReader::Remote(file.reader_from(start)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let whole = self.len();
        if start.checked_add(length as u64).filter(|end| *end <= whole).is_none() {
            return Err(ParquetError::EOF(format!(
                "expected a range within the {whole} bytes of the file, got {length} bytes at {start}"
            )));
        }
        match self {
            Self::Local(file) => file.bytes(start, length).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => ParquetError::EOF(format!("{length} bytes at {start}")),
                _ => error.into(),
            }),
            Self::Remote(file) => file.bytes(start..start + length as u64),
        }
    }
}

fn storage_error(location: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => {
                Error::Storage { location: location.to_owned(), reason: other.to_string() }
            }
        },
        other => Error::Storage { location: location.to_owned(), reason: other.to_string() },
    }
}

/// A sequential reader from an offset.
#[derive(Debug)]
pub(crate) enum SequentialReader {
    Local(BufReader<FromOffset>),
    Remote(RemoteReader),
}

impl SequentialReader {
    /// Return the next bytes, which stay unread: at least one unless the file ends.
    ///
    /// # Errors
    /// Errors of reading
    pub(crate) fn peek(&mut self) -> std::io::Result<&[u8]> {
        match self {
            Self::Local(reader) => reader.fill_buf(),
            Self::Remote(reader) => reader.peek(),
        }
    }
}

impl Read for SequentialReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Local(reader) => reader.read(buffer),
            Self::Remote(reader) => reader.read(buffer),
        }
    }
}

//! Output files: local or remote, all kept or all removed at the end.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::runtime::block_on;
use crate::store::{Abandoned, FileIo, Upload, create_file, delete_file};

/// A new file under its final name. Names are unique to a task attempt, so nothing reads the file
/// before the commit that lists it.
#[derive(Debug)]
pub(super) enum Output {
    Local { file: File, written: u64 },
    Remote(Box<Upload>),
}

impl Output {
    /// Return the bytes written so far.
    pub(super) fn written(&self) -> u64 {
        match self {
            Self::Local { written, .. } => *written,
            Self::Remote(upload) => upload.written(),
        }
    }

    /// Return the bytes that wait in memory to be uploaded.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Local { .. } => 0,
            Self::Remote(upload) => upload.memory_bytes(),
        }
    }

    /// Finish the file; a remote file becomes visible.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub(super) fn finish(&mut self) -> Result<()> {
        match self {
            Self::Local { .. } => Ok(()),
            Self::Remote(upload) => upload.finish(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Local { file, written } => {
                let count = file.write(bytes)?;
                *written += u64::try_from(count).unwrap_or(u64::MAX);
                Ok(count)
            }
            Self::Remote(upload) => {
                upload.write(bytes).map(|()| bytes.len()).map_err(io::Error::other)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Local { file, .. } => file.flush(),
            Self::Remote(_) => Ok(()),
        }
    }
}

/// Return the error of a failed write to an [`Output`].
pub(super) fn write_failure(location: &str, failure: &io::Error) -> Error {
    match failure.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(error) => error.clone(),
        None => Error::of_system(location, failure),
    }
}

/// The files that one call creates, on any number of threads: all of them stay, or none. Clones share their files.
#[derive(Debug, Clone)]
pub(super) struct Outputs {
    io: FileIo,
    /// The directory of data files.
    data_path: PathBuf,
    created: Arc<Mutex<Created>>,
    abandoned: Abandoned,
}

#[derive(Debug, Default)]
struct Created {
    local: Vec<PathBuf>,
    /// Locations of remote files.
    remote: Vec<String>,
}

impl Outputs {
    /// Create an empty set, whose files will be below `data_path`.
    ///
    /// # Errors
    /// The errors of [`FileIo::local_path`].
    pub(super) fn new(io: &FileIo, data_path: &str) -> Result<Self> {
        let data_path = io.local_path(data_path)?.unwrap_or_default();
        let (created, abandoned) = (Arc::default(), Abandoned::default());
        Ok(Self { io: io.clone(), data_path, created, abandoned })
    }

    /// Create a file, and the directories above it.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Storage`]; errors of [`FileIo::local_path`].
    pub(super) fn create(&self, location: &str) -> Result<Output> {
        if let Some(upload) = self.io.upload(location, &self.abandoned)? {
            self.created().remote.push(location.to_owned());
            return Ok(Output::Remote(Box::new(upload)));
        }
        self.create_local(location)
    }

    fn create_local(&self, location: &str) -> Result<Output> {
        let Some(path) = self.io.local_path(location)? else {
            return Err(Error::internal("create a file", format!("{location} is not local")));
        };
        let file = create_file(&path, &self.data_path)
            .map_err(|error| Error::of_system(location, &error))?;
        self.created().local.push(path);
        Ok(Output::Local { file, written: 0 })
    }

    /// Wait until every file and the directories above it are on disk: a commit must not outlive the data it lists.
    /// Access that defers syncs leaves this to its commit.
    ///
    /// # Errors
    /// The errors of [`UnsyncedFiles::sync`].
    pub(super) fn sync(&self) -> Result<()> {
        self.io.sync_or_defer(&self.created().local, &self.data_path)
    }

    /// Remove the created files. Removal is best effort: the caller reports the error that led here, and maintenance
    /// removes files that no commit lists.
    pub(super) fn discard(self) {
        let Created { local, remote } = std::mem::take(&mut *self.created());
        for path in local {
            drop(delete_file(&path));
        }
        self.abandoned.abort();
        if !remote.is_empty() {
            drop(block_on(async { Ok(self.io.delete_many(&remote).await) }));
        }
    }

    fn created(&self) -> MutexGuard<'_, Created> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

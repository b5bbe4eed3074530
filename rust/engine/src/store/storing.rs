//! Storing new files, and the time of their syncs.

use std::path::{Path, PathBuf};

use super::content::Content;
use super::file_io::{FileIo, Target, blocking};
use super::local::{self, WriteMode};
use super::location::LocalLocation;
use super::unsynced::UnsyncedFiles;
use crate::error::Result;

impl FileIo {
    /// Return the same access, whose new local files are added to `unsynced` instead of synced by each write. Replaced
    /// and published files are synced by their writes.
    #[must_use]
    pub fn deferring(&self, unsynced: &UnsyncedFiles) -> Self {
        Self { unsynced: Some(unsynced.clone()), ..self.clone() }
    }

    /// Store `data` under a location, completely or not at all; missing directories are created. The file is on disk
    /// afterwards, unless this access defers syncs.
    ///
    /// # Errors
    /// [`Error::Exists`] if `overwrite` is false and a file exists: of two concurrent writers one succeeds. The errors of
    /// [`FileIo::read`]; after [`Error::Storage`] of a remote store the outcome is unknown.
    pub async fn write(
        &self,
        location: &str,
        data: impl Into<Content>,
        overwrite: bool,
    ) -> Result<()> {
        let (location, data) = (&*self.absolute(location), data.into());
        match self.target(location)? {
            Target::Local(LocalLocation { path, .. }) => {
                let mode = self.write_mode(overwrite);
                blocking(location, move || local::write(&path, &data, &mode)).await
            }
            Target::Remote(remote) => remote.write(data.joined(), overwrite).await,
        }
    }

    /// Store `data` under a new location, complete as soon as it is visible.
    ///
    /// # Errors
    /// The errors of [`FileIo::write`]; [`Error::Storage`] on local file systems without such a step, and `Unsupported` on servers
    /// without conditional writes.
    pub async fn publish(&self, location: &str, data: impl Into<Content>) -> Result<()> {
        let (location, data) = (&*self.absolute(location), data.into());
        match self.target(location)? {
            Target::Local(LocalLocation { path, .. }) => {
                let mode = WriteMode::CreateAtomically;
                blocking(location, move || local::write(&path, &data, &mode)).await
            }
            Target::Remote(remote) => remote.create(data.joined()).await,
        }
    }

    /// Sync finished files below `top` and the directories that lead to them, or leave that to the set of this access.
    ///
    /// # Errors
    /// The errors of [`UnsyncedFiles::sync`].
    pub(crate) fn sync_or_defer(&self, files: &[PathBuf], top: &Path) -> Result<()> {
        if let Some(unsynced) = &self.unsynced {
            unsynced.add_below(files, top);
            return Ok(());
        }
        let unsynced = UnsyncedFiles::default();
        unsynced.add_below(files, top);
        unsynced.sync()
    }

    fn write_mode(&self, overwrite: bool) -> WriteMode {
        match &self.unsynced {
            _ if overwrite => WriteMode::Replace,
            // Other systems sync a file only while it is open for writes.
            Some(unsynced) if cfg!(unix) => WriteMode::CreateUnsynced(unsynced.clone()),
            _ => WriteMode::Create,
        }
    }
}

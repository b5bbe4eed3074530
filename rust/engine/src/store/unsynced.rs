//! Local files that a power cut can still lose.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use super::directories::{self, entries_of};
use crate::error::{Error, Result};

/// Threads that sync files; the file system combines concurrent syncs.
const SYNC_THREADS: usize = 64;

/// New local files, complete under their final names, that are not synced yet. Clones share their files.
///
/// A commit collects its files here and calls [`UnsyncedFiles::sync`] once, before the step that makes them part of the
/// table. Nothing refers to a file before, so a file that a power cut loses until then is no loss.
#[derive(Debug, Clone, Default)]
pub struct UnsyncedFiles(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    paths: BTreeMap<PathBuf, Entry>,
    failure: Option<Error>,
}

/// A path to sync; the greater of two entries for the same path is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    /// A directory above the directory of data files. The user may not be allowed to read it; another user created it then.
    Above,
    /// A new file, or a directory with new entries.
    New,
}

impl UnsyncedFiles {
    /// Add a file, whose directory is synced with it.
    pub(super) fn add(&self, file: &Path) {
        let parent = file.parent().map(|parent| (parent, Entry::New));
        self.state().add(parent.into_iter().chain([(file, Entry::New)]));
    }

    /// Add files below `top`, the directory of data files. Every directory between a file and `top`, and the directory of
    /// `top`, is synced with them.
    pub(super) fn add_below(&self, files: &[PathBuf], top: &Path) {
        let directories = entries_of(files.iter().map(PathBuf::as_path), top).into_iter();
        let directories = directories
            .map(|path| (path, if path.starts_with(top) { Entry::New } else { Entry::Above }));
        let files = files.iter().map(|file| (file.as_path(), Entry::New));
        self.state().add(directories.chain(files));
    }

    /// Wait until every added file and the directories that lead to the files are on disk. Each path is synced once, all of
    /// them concurrently.
    ///
    /// # Errors
    /// [`Error::Storage`], [`Error::System`]. An error is final, and returned by every later call: the system reports a lost
    /// write to one sync only, so a second sync would succeed without the bytes.
    pub fn sync(&self) -> Result<()> {
        let mut state = self.state();
        if state.failure.is_none() {
            let paths: Vec<_> = std::mem::take(&mut state.paths).into_iter().collect();
            state.failure = sync_all(&paths).err();
        }
        state.failure.clone().map_or(Ok(()), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add<'a>(&mut self, paths: impl Iterator<Item = (&'a Path, Entry)>) {
        for (path, entry) in paths {
            let known = self.paths.entry(path.to_path_buf()).or_insert(entry);
            *known = entry.max(*known);
        }
    }
}

fn sync_all(paths: &[(PathBuf, Entry)]) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some((path, entry)) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            sync_path(path, *entry)
                .map_err(|error| Error::of_system(path.to_string_lossy(), &error))?;
        }
        Ok(())
    };
    if paths.len() <= 1 {
        return work();
    }
    std::thread::scope(|scope| {
        // If no more threads can be started, the running ones sync all files.
        let others = 1..SYNC_THREADS.min(paths.len());
        let others: Vec<_> =
            others.map_while(|_| Builder::new().spawn_scoped(scope, work).ok()).collect();
        let here = work();
        let others = others.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(Error::internal("sync files", "a thread died")))
        });
        others.fold(here, Result::and)
    })
}

fn sync_path(path: &Path, entry: Entry) -> io::Result<()> {
    match directories::sync(path) {
        // Deleted, by an operation that failed or with its table; the swap notices that a table is gone.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && entry == Entry::Above => {
            Ok(())
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::fs;

    use super::*;

    fn directory(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("icefloe-unsynced-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_failed_sync_is_final() {
        let directory = directory("failed");
        let (blocked, fine) = (directory.join("blocked"), directory.join("fine"));
        fs::write(&blocked, "a file where a directory is expected").unwrap();
        fs::write(&fine, "fine").unwrap();
        let unsynced = UnsyncedFiles::default();
        unsynced.add(&blocked.join("file"));
        let failure = unsynced.sync().unwrap_err().to_string();
        fs::remove_file(&blocked).unwrap();
        unsynced.add(&fine);
        assert_eq!(unsynced.sync().unwrap_err().to_string(), failure);
    }

    #[test]
    fn deleted_files_need_no_sync() {
        let directory = directory("deleted");
        let unsynced = UnsyncedFiles::default();
        unsynced.add(&directory.join("deleted"));
        unsynced.add_below(&[directory.join("data/p=1/deleted")], &directory.join("data"));
        unsynced.sync().unwrap();
    }

    #[test]
    fn clones_share_their_files_and_each_path_is_synced_once() {
        let directory = directory("shared");
        let unsynced = UnsyncedFiles::default();
        unsynced.clone().add(&directory.join("first"));
        unsynced.add(&directory.join("second"));
        unsynced.add_below(&[directory.join("data/third")], &directory.join("data"));
        let found: Vec<_> = unsynced.state().paths.clone().into_iter().collect();
        let expected = [
            (directory.clone(), Entry::New),
            (directory.join("data"), Entry::New),
            (directory.join("data/third"), Entry::New),
            (directory.join("first"), Entry::New),
            (directory.join("second"), Entry::New),
        ];
        assert_eq!(found, expected);
        unsynced.sync().unwrap();
        assert!(unsynced.state().paths.is_empty());
    }
}

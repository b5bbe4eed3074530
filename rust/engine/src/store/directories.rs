//! Directories whose entries survive a power cut.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Create a directory and the missing directories above it, and sync each entry.
pub(super) fn create(path: &Path) -> io::Result<()> {
    let new: Vec<PathBuf> =
        path.ancestors().take_while(|path| !path.exists()).map(Path::to_path_buf).collect();
    fs::create_dir_all(path)?;
    new.iter().filter_map(|made| made.parent()).try_for_each(sync)
}

/// Sync a finished file or the entries of a directory, on systems that can open directories.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Return the directories with the entries of `files`, of every directory between them and `top`, and of `top`. An
/// entry that is not synced may be lost, whichever process created it.
pub(super) fn entries_of<'a>(
    files: impl Iterator<Item = &'a Path>,
    top: &Path,
) -> BTreeSet<&'a Path> {
    let mut found = BTreeSet::new();
    for file in files {
        for directory in file.ancestors().skip(1) {
            // The directories above a known one are known.
            if !found.insert(directory) || !directory.starts_with(top) {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_reach_up_to_the_directory_of_the_top() {
        let files = ["/t/data/p=1/a", "/t/data/p=1/b", "/t/data/p=2/q=3/c"].map(Path::new);
        let found = entries_of(files.into_iter(), Path::new("/t/data"));
        let expected =
            ["/t", "/t/data", "/t/data/p=1", "/t/data/p=2", "/t/data/p=2/q=3"].map(Path::new);
        assert_eq!(found, BTreeSet::from(expected));
    }
}

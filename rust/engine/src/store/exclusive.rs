//! Naming a file only if no other file has the name.
//!
//! A hard link is atomic, never replaces, and shows after a lost reply whether it was made. File systems without hard
//! links (FAT, exFAT, many FUSE and SMB mounts) mostly have a rename that never replaces. Without either, an empty file
//! is created under the name, which only one writer can do, and then replaced: readers may see it empty, and a crash
//! leaves it empty. This suffices for names that nothing refers to yet, but not for version files.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use self::system::{has_no_links, has_two_names, rename_new};

/// Name a finished file in one step; `AlreadyExists` if another file has the name, `Unsupported` on file systems
/// without such a step. `staged` is removed after success and may remain after a failure.
pub(super) fn publish(staged: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(staged, path) {
        Err(error) if has_no_links(&error) => rename_new(staged, path),
        // A network file system that repeats a request after a lost reply meets its own link, and one that does not
        // repeat it reports an error.
        Err(_) if has_two_names(staged) => {
            drop(fs::remove_file(staged));
            Ok(())
        }
        linked => {
            drop(fs::remove_file(staged));
            linked
        }
    }
}

/// Publish as [`publish`] does; on file systems without such a step, create an empty file and replace it.
pub(super) fn publish_or_claim(staged: &Path, path: &Path) -> io::Result<()> {
    match publish(staged, path) {
        Err(error) if error.kind() == ErrorKind::Unsupported => claim(staged, path),
        outcome => outcome,
    }
}

fn claim(staged: &Path, path: &Path) -> io::Result<()> {
    drop(OpenOptions::new().write(true).create_new(true).open(path)?);
    fs::rename(staged, path).inspect_err(|_| drop(fs::remove_file(path)))
}

fn no_one_step() -> io::Error {
    io::Error::new(
        ErrorKind::Unsupported,
        "this file system has neither hard links nor a rename that refuses to replace, so of two writers both \
         could win; keep the table on another file system, or in a catalog with a database",
    )
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod system {
    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    /// Error codes of file systems without hard links, or with too many of them.
    const NO_LINKS: [Errno; 5] =
        [Errno::PERM, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::MLINK, Errno::NOSYS];
    /// Error codes of file systems and kernels whose rename cannot refuse to replace.
    const NO_EXCLUSIVE_RENAME: [Errno; 4] =
        [Errno::INVAL, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::NOSYS];

    pub(super) fn has_no_links(error: &io::Error) -> bool {
        Errno::from_io_error(error).is_some_and(|code| NO_LINKS.contains(&code))
    }

    pub(super) fn has_two_names(path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|facts| facts.nlink() > 1)
    }

    /// Rename a file unless another file has the new name.
    pub(super) fn rename_new(staged: &Path, path: &Path) -> io::Result<()> {
        match renameat_with(CWD, staged, CWD, path, RenameFlags::NOREPLACE) {
            Err(code) if NO_EXCLUSIVE_RENAME.contains(&code) => Err(super::no_one_step()),
            renamed => renamed.map_err(io::Error::from),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use std::io::{self, ErrorKind};
    use std::path::Path;

    pub(super) fn has_no_links(error: &io::Error) -> bool {
        matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported)
    }

    pub(super) fn has_two_names(_: &Path) -> bool {
        false
    }

    /// Return `Unsupported`: this system has no call for an exclusive rename.
    pub(super) fn rename_new(_: &Path, _: &Path) -> io::Result<()> {
        Err(super::no_one_step())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::path::PathBuf;

    use super::*;

    fn directory(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("icefloe-exclusive-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn rename_new_refuses_to_replace() {
        let directory = directory("rename");
        let (first, second, path) =
            (directory.join("1"), directory.join("2"), directory.join("v1"));
        fs::write(&first, "first").unwrap();
        fs::write(&second, "second").unwrap();
        rename_new(&first, &path).unwrap();
        assert_eq!(rename_new(&second, &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert!(!first.exists());
    }

    #[test]
    fn claim_refuses_to_replace() {
        let directory = directory("claim");
        let (first, second, path) =
            (directory.join("1"), directory.join("2"), directory.join("v1"));
        fs::write(&first, "first").unwrap();
        fs::write(&second, "second").unwrap();
        claim(&first, &path).unwrap();
        assert_eq!(claim(&second, &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    }

    #[test]
    fn publish_recognises_its_own_link() {
        let directory = directory("repeated");
        let (staged, path) = (directory.join("staged"), directory.join("v1"));
        fs::write(&staged, "ours").unwrap();
        fs::hard_link(&staged, &path).unwrap();
        publish(&staged, &path).unwrap();
        fs::write(&staged, "another").unwrap();
        assert_eq!(publish(&staged, &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
    }
}

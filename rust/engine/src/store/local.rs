//! Files of this machine. Every call blocks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use uuid::Uuid;

use super::Listed;

/// The whole of a file.
pub(super) fn read(path: &Path) -> io::Result<Bytes> {
    open(path).and_then(|mut file| {
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        let mut data = Vec::with_capacity(length);
        file.read_to_end(&mut data)?;
        Ok(data.into())
    })
}

/// Ranges of a file, in the order asked for; `UnexpectedEof` for one that reaches beyond the end.
pub(super) fn read_ranges(path: &Path, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    let read = |range: &Range<u64>| {
        if range.start > range.end || range.end > length {
            let reason = format!("bytes {range:?} of a file of {length}");
            return Err(io::Error::new(ErrorKind::UnexpectedEof, reason));
        }
        file.seek(SeekFrom::Start(range.start))?;
        let size = range.end - range.start;
        let mut data = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        let count = (&mut file).take(size).read_to_end(&mut data)?;
        if u64::try_from(count).is_ok_and(|count| count == size) {
            return Ok(data.into());
        }
        Err(ErrorKind::UnexpectedEof.into())
    };
    ranges.iter().map(read).collect()
}

/// Size in bytes. A directory is no file.
pub(super) fn size(path: &Path) -> io::Result<u64> {
    let found = fs::metadata(path)?;
    if found.is_dir() { Err(ErrorKind::NotFound.into()) } else { Ok(found.len()) }
}

/// Store bytes under a name, whole or not at all, and on disk when this returns. Directories are made
/// as needed. `AlreadyExists` if something is there and `overwrite` is false.
pub(super) fn write(path: &Path, data: &[u8], overwrite: bool) -> io::Result<()> {
    let parent = path.parent().ok_or(ErrorKind::InvalidInput)?;
    // Not the file's name with something added, which might become too long.
    let staging = parent.join(format!(".icefloe-{}", Uuid::new_v4()));
    let mut file = match create_new(&staging) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            create_directories(parent)?;
            create_new(&staging)?
        }
        created => created?,
    };
    let published = file.write_all(data).and_then(|()| file.sync_all()).and_then(|()| {
        if overwrite { fs::rename(&staging, path) } else { fs::hard_link(&staging, path) }
    });
    if published.is_err() || !overwrite {
        drop(fs::remove_file(&staging));
    }
    published?;
    sync_directory(parent)
}

/// Remove a file.
pub(super) fn delete(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Every file under a directory, at any depth; none if there is no such directory. Links are followed,
/// unless they lead nowhere or back to where they are.
pub(super) fn list(directory: &Path, scheme: &str) -> io::Result<Vec<Listed>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(&directory) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                continue;
            }
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            // A file that others removed in the meantime is not there.
            let Ok(facts) = fs::metadata(&path) else { continue };
            if !facts.is_dir() {
                found.push(listed(&path, &facts, scheme)?);
            } else if !entry.file_type()?.is_symlink() || !leads_back(&directory, &path)? {
                open.push(path);
            }
        }
    }
    Ok(found)
}

fn listed(path: &Path, facts: &fs::Metadata, scheme: &str) -> io::Result<Listed> {
    let Some(text) = path.to_str() else {
        let reason = format!("the name of {} is not UTF-8", path.display());
        return Err(io::Error::new(ErrorKind::InvalidData, reason));
    };
    let modified = facts.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Listed {
        location: format!("{scheme}{text}"),
        size: facts.len(),
        last_modified_ms: i64::try_from(modified.as_millis()).unwrap_or(i64::MAX),
    })
}

fn leads_back(directory: &Path, link: &Path) -> io::Result<bool> {
    Ok(directory.canonicalize()?.starts_with(link.canonicalize()?))
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(ErrorKind::NotFound.into()) } else { Ok(file) }
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Make a directory and those above it, each on disk.
fn create_directories(path: &Path) -> io::Result<()> {
    let new: Vec<PathBuf> =
        path.ancestors().take_while(|path| !path.exists()).map(Path::to_path_buf).collect();
    fs::create_dir_all(path)?;
    new.iter().filter_map(|made| made.parent()).try_for_each(sync_directory)
}

/// Have a directory's entries on disk, where the operating system opens directories.
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

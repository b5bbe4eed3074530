//! Local files. Every call blocks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;

use super::content::Content;
use super::location::{Children, Listed};
use super::unsynced::UnsyncedFiles;
use super::{directories, exclusive};
use crate::runtime::environment;

/// Small pieces of a file are written together, and a file is compared in parts, of this many bytes.
const BUFFER_BYTES: usize = 128 * 1024;
/// The attempts at deleting the content of a directory that others write to.
const DELETE_ATTEMPTS: usize = 10;

/// Return the whole of a file.
pub(super) fn read(path: &Path) -> io::Result<Bytes> {
    open(path).and_then(|mut file| {
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        let mut data = Vec::with_capacity(length);
        file.read_to_end(&mut data)?;
        Ok(data.into())
    })
}

/// Return ranges of a file, in the order of `ranges`; `UnexpectedEof` for a range beyond the end.
pub(super) fn read_ranges(path: &Path, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    let read = |range: &Range<u64>| {
        if range.start > range.end || range.end > length {
            let reason =
                format!("expected a range within the {length} bytes of the file, got {range:?}");
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

/// Return the whole of a file; `None` if it has exactly this content.
pub(super) fn read_unless(path: &Path, content: &Content) -> io::Result<Option<Bytes>> {
    if has_content(path, content)? { Ok(None) } else { read(path).map(Some) }
}

/// Return whether a file has exactly this content. It is read in parts, up to the first difference.
fn has_content(path: &Path, content: &Content) -> io::Result<bool> {
    let file = open(path)?;
    if file.metadata()?.len() != content.size() {
        return Ok(false);
    }
    let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
    for piece in content.pieces() {
        let mut rest = &**piece;
        while !rest.is_empty() {
            let found = file.fill_buf()?;
            let count = found.len().min(rest.len());
            if count == 0 || found[..count] != rest[..count] {
                return Ok(false);
            }
            file.consume(count);
            rest = &rest[count..];
        }
    }
    Ok(file.fill_buf()?.is_empty())
}

/// Return the size in bytes; a directory is an error.
pub(super) fn size(path: &Path) -> io::Result<u64> {
    let found = fs::metadata(path).map_err(nothing_below_a_file)?;
    if found.is_dir() { Err(ErrorKind::NotFound.into()) } else { Ok(found.len()) }
}

/// Whether a file of the same name may exist before a file is stored.
#[derive(Debug, Clone)]
pub(super) enum WriteMode {
    /// An existing file is replaced.
    Replace,
    /// No file may exist.
    Create,
    /// As `Create`; the file is added to the set instead of synced.
    CreateUnsynced(UnsyncedFiles),
    /// No file may exist, and the file is complete as soon as it is visible; `Unsupported` on file systems without such
    /// a step.
    CreateAtomically,
}

/// Store bytes under a name, completely or not at all, and sync them. Missing directories are created. `AlreadyExists`
/// for a file that may not be replaced.
pub(super) fn write(path: &Path, data: &Content, mode: &WriteMode) -> io::Result<()> {
    let parent = path.parent().ok_or(ErrorKind::InvalidInput)?;
    // A suffix to the file's own name could make it too long.
    let staging = parent.join(format!(".icefloe-{}", environment::new_uuid()));
    let mut file = match create_new(&staging) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            directories::create(parent)?;
            create_new(&staging)?
        }
        created => created?,
    };
    let written = write_pieces(&mut file, data);
    let stored = written.and_then(|()| match mode {
        WriteMode::CreateUnsynced(_) => Ok(()),
        _ => file.sync_all(),
    });
    let published = stored.and_then(|()| match mode {
        WriteMode::Replace => fs::rename(&staging, path),
        WriteMode::Create | WriteMode::CreateUnsynced(_) => {
            exclusive::publish_or_claim(&staging, path)
        }
        WriteMode::CreateAtomically => exclusive::publish(&staging, path),
    });
    if published.is_err() {
        drop(fs::remove_file(&staging));
    }
    published?;
    if let WriteMode::CreateUnsynced(unsynced) = mode {
        unsynced.add(path);
        return Ok(());
    }
    let synced = directories::sync(parent);
    // The caller reads an error as "nothing was stored". A file that replaced another one cannot be undone, and a
    // version file may have been read already.
    if synced.is_err() && matches!(mode, WriteMode::Create) {
        drop(fs::remove_file(path));
    }
    synced
}

fn write_pieces(file: &mut File, data: &Content) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, file);
    data.pieces().iter().try_for_each(|piece| writer.write_all(piece))?;
    writer.flush()
}

/// Open a file for reads at offsets.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Create a file below `top` that must not exist, and the directories above it. Directories above `top` are synced if
/// they are new: later writes take an existing directory for safe. The file, `top` and what is between them are not
/// synced.
pub(crate) fn create_file(path: &Path, top: &Path) -> io::Result<File> {
    match create_new(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            top.parent().map_or(Ok(()), directories::create)?;
            fs::create_dir_all(path.parent().unwrap_or(top))?;
            create_new(path)
        }
        created => created,
    }
}

/// Return the size, time of modification and kind of a file.
pub(crate) fn facts(path: &Path) -> io::Result<fs::Metadata> {
    fs::metadata(path)
}

/// Remove a file.
pub(crate) fn delete(path: &Path) -> io::Result<()> {
    fs::remove_file(path).map_err(nothing_below_a_file)
}

/// Remove a directory with everything below it, and return the files that remain with the reason. Links are removed,
/// their targets stay. A file that another process removes during the call is not an error.
pub(super) fn delete_directory(directory: &Path) -> Vec<(PathBuf, io::Error)> {
    let mut failures = Vec::new();
    delete_below(directory, &mut failures);
    failures
}

fn delete_below(directory: &Path, failures: &mut Vec<(PathBuf, io::Error)>) {
    let before = failures.len();
    // Another process may be deleting the same directory.
    for _ in 0..DELETE_ATTEMPTS {
        delete_children(directory, failures);
        match fs::remove_dir(directory) {
            Err(error) if failures.len() == before => match error.kind() {
                ErrorKind::NotFound => return,
                ErrorKind::DirectoryNotEmpty => {}
                _ => return failures.push((directory.to_path_buf(), error)),
            },
            // The error of a directory that is not empty is that of its content.
            _ => return,
        }
    }
    failures.push((directory.to_path_buf(), ErrorKind::DirectoryNotEmpty.into()));
}

fn delete_children(directory: &Path, failures: &mut Vec<(PathBuf, io::Error)>) {
    let mut keep = |path: &Path, outcome: io::Result<()>| match outcome {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            failures.push((path.to_path_buf(), error));
        }
        _ => {}
    };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => return keep(directory, Err(error)),
    };
    let mut directories = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_type().is_ok_and(|kind| kind.is_dir()) => {
                directories.push(entry.path());
            }
            Ok(entry) => keep(&entry.path(), fs::remove_file(entry.path())),
            Err(error) => keep(directory, Err(error)),
        }
    }
    for below in directories {
        delete_below(&below, failures);
    }
}

/// Return every file under a directory, at any depth; none if there is no such directory. Links are followed,
/// unless they are dangling or circular.
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
            // Another process removed the file.
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

/// Return the names directly in a directory; none if there is no such directory. Links to directories count as
/// directories.
pub(super) fn children(directory: &Path) -> io::Result<Children> {
    let mut found = Children::default();
    let entries = match fs::read_dir(directory) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(found);
        }
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            let reason = format!("the name of {} is not UTF-8", entry.path().display());
            return Err(io::Error::new(ErrorKind::InvalidData, reason));
        };
        // Another process removed the file.
        let Ok(facts) = fs::metadata(entry.path()) else { continue };
        if facts.is_dir() { found.directories.push(name) } else { found.files.push(name) }
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
    let file = File::open(path).map_err(nothing_below_a_file)?;
    if file.metadata()?.is_dir() { Err(ErrorKind::NotFound.into()) } else { Ok(file) }
}

/// Return `NotFound` for a path below a file, where nothing can be stored, and other errors unchanged.
fn nothing_below_a_file(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::NotADirectory { ErrorKind::NotFound.into() } else { error }
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path).inspect_err(|error| {
        // A network file system may create the file and lose its reply. The name of the file is unique.
        if !matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) {
            drop(fs::remove_file(path));
        }
    })
}

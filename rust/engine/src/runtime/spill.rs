//! A temporary file of numbers in shares.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{Error as IoError, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::environment;
use crate::error::{Error, Result};

/// Numbers in a temporary file, by share. Only the owner can read the file, and it is deleted with the value.
#[derive(Debug)]
pub(crate) struct Spill {
    path: PathBuf,
    file: File,
    /// The byte offset and the count of numbers of each write, by share.
    writes: Vec<Vec<(u64, usize)>>,
    end: u64,
}

impl Spill {
    /// Create an empty file in the directory of temporary files.
    pub(crate) fn new(shares: usize) -> Result<Self> {
        let (path, file) = temporary_file("spill")?;
        Ok(Self { path, file, writes: vec![vec![]; shares], end: 0 })
    }

    pub(crate) fn write(&mut self, share: usize, numbers: &[u64]) -> Result<()> {
        let Some(writes) = self.writes.get_mut(share).filter(|_| !numbers.is_empty()) else {
            return Ok(());
        };
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
        let written = self.file.seek(SeekFrom::Start(self.end));
        written
            .and_then(|_| self.file.write_all(&bytes))
            .map_err(|error| failed(&self.path, &error))?;
        writes.push((self.end, numbers.len()));
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Move the numbers of all shares to a spill, which the first call creates.
    pub(crate) fn move_all(spill: &mut Option<Self>, shares: &mut [Vec<u64>]) -> Result<()> {
        let spill = match spill {
            Some(spill) => spill,
            none => none.insert(Self::new(shares.len())?),
        };
        for (share, numbers) in shares.iter_mut().enumerate() {
            spill.write(share, numbers)?;
            numbers.clear();
        }
        Ok(())
    }

    /// Return the count of writes of a share.
    pub(crate) fn writes(&self, share: usize) -> usize {
        self.writes.get(share).map_or(0, Vec::len)
    }

    /// Return all numbers of a share in the order of writing.
    pub(crate) fn read(&mut self, share: usize) -> Result<Vec<u64>> {
        let mut numbers = vec![];
        for write in 0..self.writes(share) {
            numbers.extend(self.read_write(share, write)?);
        }
        Ok(numbers)
    }

    /// Return the numbers of one write of a share.
    pub(crate) fn read_write(&mut self, share: usize, write: usize) -> Result<Vec<u64>> {
        let found = self.writes.get(share).and_then(|writes| writes.get(write));
        let Some((start, count)) = found else { return Ok(vec![]) };
        let mut bytes = vec![0; count * size_of::<u64>()];
        let read = self.file.seek(SeekFrom::Start(*start));
        read.and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(|error| failed(&self.path, &error))?;
        let (words, _) = bytes.as_chunks();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        #[cfg(not(unix))]
        drop(remove_file(&self.path));
    }
}

/// Return a new file in the directory of temporary files, which only the owner can read. On Unix it has no name any
/// more: the open file outlives it, so nothing stays behind however the process ends.
pub(crate) fn temporary_file(extension: &str) -> Result<(PathBuf, File)> {
    let path =
        std::env::temp_dir().join(format!("icefloe-{}.{extension}", environment::new_uuid()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path).map_err(|error| failed(&path, &error))?;
    #[cfg(unix)]
    drop(remove_file(&path));
    Ok((path, file))
}

/// Remove a temporary file that still has a name.
#[cfg(not(unix))]
pub(crate) fn remove_temporary(path: &std::path::Path) {
    drop(remove_file(path));
}

fn failed(path: &std::path::Path, error: &IoError) -> Error {
    Error::of_system(format!("{}, a temporary file", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_in_the_order_of_writing() {
        let mut spill = Spill::new(2).unwrap();
        spill.write(1, &[1, u64::MAX]).unwrap();
        spill.write(0, &[7]).unwrap();
        spill.write(1, &[3]).unwrap();
        assert_eq!(spill.read(1).unwrap(), [1, u64::MAX, 3]);
        assert_eq!(spill.read(0).unwrap(), [7]);
        spill.write(0, &[8]).unwrap();
        assert_eq!(spill.read(0).unwrap(), [7, 8]);
        #[cfg(unix)]
        assert!(!spill.path.exists());
    }
}

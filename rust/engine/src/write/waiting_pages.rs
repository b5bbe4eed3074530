//! Encoded pages of the open row group of a Parquet file: in memory up to a limit, then in a temporary file.
//!
//! A column chunk is contiguous in the file, so the pages of all columns wait until the row group ends.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::arrow::arrow_writer::{PageKey, PageStore, PageStoreArgs, PageStoreFactory};
use parquet::errors::{ParquetError, Result};

use crate::error::Error;
#[cfg(not(unix))]
use crate::runtime::spill::remove_temporary;
use crate::runtime::spill::temporary_file;

/// Bytes of pages of one open file in memory. Beyond them, columns move their pages to the temporary file.
const MEMORY_BYTES: usize = 8 << 20;
/// The least bytes that a column moves at once.
const LEAST_MOVED_BYTES: usize = 64 << 10;
/// Bytes that are written and read back at once; one page may have more.
const EXTENT_BYTES: usize = 1 << 20;
/// Pages and headers below this size are copied: the encoder leaves the header of each page in a buffer of 1 KiB.
const COPIED_BYTES: usize = 1 << 10;

/// The waiting pages of all columns of one open file.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitingPages(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    memory_bytes: usize,
    /// Column chunks whose pages wait.
    columns: usize,
    file: Option<(PathBuf, File)>,
    /// The end of the moved pages in the temporary file.
    end: u64,
    /// Whether the temporary file cannot be written; pages stay in memory then.
    is_refused: bool,
}

impl WaitingPages {
    /// Return the bytes of pages in the temporary file.
    pub(super) fn moved_bytes(&self) -> usize {
        usize::try_from(self.lock().end).unwrap_or(usize::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageStoreFactory for WaitingPages {
    fn create(&self, _: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>> {
        Ok(Box::new(self.column()))
    }
}

impl WaitingPages {
    fn column(&self) -> ColumnPages {
        self.lock().columns += 1;
        let (pages, extents) = (Vec::new(), Vec::new());
        ColumnPages { file: self.clone(), pages, moved: 0, memory_bytes: 0, extents, read: None }
    }
}

impl Waiting {
    /// Append bytes to the temporary file; return their range. `None` if the file cannot be created or written.
    fn append(&mut self, bytes: &[u8]) -> Option<Range<u64>> {
        if self.file.is_none() {
            self.file = temporary_file("pages").ok();
        }
        let (_, file) = self.file.as_mut()?;
        file.seek(SeekFrom::Start(self.end)).and_then(|_| file.write_all(bytes)).ok()?;
        let start = self.end;
        self.end += bytes.len() as u64;
        Some(start..self.end)
    }

    fn read(&mut self, range: &Range<u64>) -> Result<Bytes> {
        let (path, file) = self.file.as_mut().ok_or_else(absent)?;
        let mut bytes = vec![0; usize::try_from(range.end - range.start)?];
        let read =
            file.seek(SeekFrom::Start(range.start)).and_then(|_| file.read_exact(&mut bytes));
        let failed = |error| {
            let error = Error::of_system(format!("{}, a temporary file", path.display()), &error);
            ParquetError::External(Box::new(error))
        };
        read.map_err(failed)?;
        Ok(bytes.into())
    }

    /// Forget the pages of a column chunk.
    fn end_column(&mut self, memory_bytes: usize) {
        self.memory_bytes -= memory_bytes;
        self.columns -= 1;
        if self.columns == 0 {
            self.end = 0;
            // Space that cannot be freed is written again by the next row group.
            drop(self.file.as_ref().map(|(_, file)| file.set_len(0)));
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        #[cfg(not(unix))]
        if let Some((path, _)) = &self.file {
            remove_temporary(path);
        }
    }
}

/// A page, or the header of a page.
enum Page {
    InMemory(Bytes),
    /// The index of an extent and the range of bytes within it.
    Moved(usize, Range<usize>),
    Taken,
}

/// The waiting pages of one column chunk.
struct ColumnPages {
    file: WaitingPages,
    pages: Vec<Page>,
    /// Number of leading pages that were moved.
    moved: usize,
    memory_bytes: usize,
    /// Ranges of the temporary file.
    extents: Vec<Range<u64>>,
    /// The extent that was read last.
    read: Option<(usize, Bytes)>,
}

impl ColumnPages {
    /// Move all pages to the temporary file, or as many as it has space for.
    fn move_out(&mut self, waiting: &mut Waiting) {
        let (mut extent, mut ranges) = (Vec::new(), Vec::new());
        for index in self.moved..self.pages.len() {
            if let Some(Page::InMemory(page)) = self.pages.get(index) {
                let start = extent.len();
                extent.extend_from_slice(page);
                ranges.push(start..extent.len());
            }
            if extent.len() < EXTENT_BYTES && index + 1 < self.pages.len() {
                continue;
            }
            let Some(range) = waiting.append(&extent) else {
                waiting.is_refused = true;
                return;
            };
            for (page, range) in self.pages.iter_mut().skip(self.moved).zip(ranges.drain(..)) {
                *page = Page::Moved(self.extents.len(), range);
            }
            self.moved = index + 1;
            self.extents.push(range);
            self.memory_bytes -= extent.len();
            waiting.memory_bytes -= extent.len();
            extent.clear();
        }
    }
}

impl PageStore for ColumnPages {
    fn put(&mut self, value: Bytes) -> Result<PageKey> {
        let key = PageKey::new(self.pages.len() as u64);
        let is_small = value.len() < COPIED_BYTES;
        let page = if is_small { Bytes::copy_from_slice(&value) } else { value };
        let file = self.file.clone();
        let mut waiting = file.lock();
        self.memory_bytes += page.len();
        waiting.memory_bytes += page.len();
        self.pages.push(Page::InMemory(page));
        let is_full = waiting.memory_bytes > MEMORY_BYTES && !waiting.is_refused;
        if is_full && self.memory_bytes >= LEAST_MOVED_BYTES {
            self.move_out(&mut waiting);
        }
        Ok(key)
    }

    fn take(&mut self, key: PageKey) -> Result<Bytes> {
        let page = usize::try_from(key.get()).ok().and_then(|key| self.pages.get_mut(key));
        match page.map(|page| std::mem::replace(page, Page::Taken)) {
            Some(Page::InMemory(page)) => {
                self.memory_bytes -= page.len();
                self.file.lock().memory_bytes -= page.len();
                Ok(page)
            }
            Some(Page::Moved(extent, range)) => {
                let bytes = match self.read.take() {
                    Some((last, bytes)) if last == extent => bytes,
                    _ => {
                        let place = self.extents.get(extent).ok_or_else(absent)?;
                        self.file.lock().read(place)?
                    }
                };
                let page = bytes.slice(range);
                self.read = Some((extent, bytes));
                Ok(page)
            }
            Some(Page::Taken) | None => Err(absent()),
        }
    }

    fn memory_size(&self) -> usize {
        self.memory_bytes
    }
}

impl Drop for ColumnPages {
    fn drop(&mut self) {
        self.file.lock().end_column(self.memory_bytes);
    }
}

fn absent() -> ParquetError {
    ParquetError::General("expected a page that waits for its row group".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(column: usize, number: usize, length: usize) -> Bytes {
        (0..length).map(|at| (column * 31 + number * 7 + at % 251) as u8).collect()
    }

    #[test]
    fn pages_are_returned_as_they_were_added_and_most_leave_memory() {
        let file = WaitingPages::default();
        for _ in 0..2 {
            let lengths = [30, 200_000, 40, 3_000_000, 50, 9_000, 0, 70_000];
            let mut columns = [file.column(), file.column(), file.column()];
            let mut keys = vec![vec![]; columns.len()];
            for number in 0..64 {
                for (index, column) in columns.iter_mut().enumerate() {
                    let length = lengths[(number + index) % lengths.len()];
                    keys[index].push((column.put(page(index, number, length)).unwrap(), length));
                    assert!(file.lock().memory_bytes <= MEMORY_BYTES + 3_000_000);
                }
            }
            assert!(file.moved_bytes() > 60 * MEMORY_BYTES / 10);
            for (index, (column, keys)) in columns.iter_mut().zip(keys).enumerate() {
                // A dictionary is added last and taken first.
                let last = keys.len() - 1;
                for number in [last].into_iter().chain(0..last) {
                    let (key, length) = keys[number];
                    assert_eq!(column.take(key).unwrap(), page(index, number, length));
                    assert!(column.take(key).is_err());
                }
            }
            drop(columns);
            assert_eq!((file.moved_bytes(), file.lock().memory_bytes), (0, 0));
        }
    }

    #[test]
    fn few_pages_stay_in_memory() {
        let file = WaitingPages::default();
        let mut column = file.column();
        let key = column.put(page(0, 1, MEMORY_BYTES)).unwrap();
        assert_eq!((column.memory_size(), file.moved_bytes()), (MEMORY_BYTES, 0));
        assert_eq!(column.take(key).unwrap(), page(0, 1, MEMORY_BYTES));
        assert!(file.lock().file.is_none());
    }
}

//! The bytes of a file's page indexes, read without the indexes of other columns between them.

use std::collections::BTreeSet;
use std::ops::Range;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::{ChunkReader, Length};

use crate::bytes::data_file::{DataFile, SequentialReader};

/// Bytes between two page indexes that are read with them, which costs less than another read.
const GAP_BYTES: u64 = 4 << 10;

/// A file of which the decoder of page indexes reads only the bytes of the requested indexes. The bytes between them
/// are zeros if the file is local. A remote file is read in one request, which costs less than several.
#[derive(Debug)]
pub(crate) struct IndexBytes<'a> {
    file: &'a DataFile,
    /// Ascending, disjoint ranges of the requested indexes, at least [`GAP_BYTES`] apart; `None` for a remote file.
    ranges: Option<Vec<Range<u64>>>,
}

impl<'a> IndexBytes<'a> {
    /// Return the offset indexes of `located` and the column indexes of `predicate_leaves` in some row groups.
    pub(crate) fn new(
        metadata: &ParquetMetaData,
        (row_groups, located, predicate_leaves): (&[usize], &BTreeSet<usize>, &BTreeSet<usize>),
        file: &'a DataFile,
    ) -> Self {
        let DataFile::Local(_) = file else { return Self { file, ranges: None } };
        let groups = row_groups.iter().filter_map(|group| metadata.row_groups().get(*group));
        let ranges = groups.flat_map(|group| {
            let chunk = |leaf: &usize| group.columns().get(*leaf);
            let bounds = predicate_leaves.iter().filter_map(chunk).filter_map(column_index);
            bounds
                .chain(located.iter().filter_map(chunk).filter_map(offset_index))
                .collect::<Vec<_>>()
        });
        Self { file, ranges: Some(united(ranges.collect())) }
    }
}

impl Length for IndexBytes<'_> {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for IndexBytes<'_> {
    type T = SequentialReader;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.saturating_add(length as u64);
        let Some([first, .., last]) = self.ranges.as_deref() else {
            return self.file.get_bytes(start, length);
        };
        if first.start < start || last.end > end || end > self.len() {
            return self.file.get_bytes(start, length);
        }
        let mut bytes = vec![0; length];
        for range in self.ranges.iter().flatten() {
            let at = size(range.start - start)?;
            let read = self.file.get_bytes(range.start, size(range.end - range.start)?)?;
            let target = bytes.get_mut(at..).and_then(|rest| rest.get_mut(..read.len()));
            target.ok_or_else(|| beyond(range))?.copy_from_slice(&read);
        }
        Ok(bytes.into())
    }
}

/// Sort ranges and unite those less than [`GAP_BYTES`] apart.
fn united(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut united: Vec<Range<u64>> = vec![];
    for range in ranges {
        match united.last_mut() {
            Some(last) if range.start < last.end.saturating_add(GAP_BYTES) => {
                last.end = last.end.max(range.end);
            }
            _ => united.push(range),
        }
    }
    united
}

fn column_index(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    range(chunk.column_index_offset(), chunk.column_index_length())
}

fn offset_index(chunk: &ColumnChunkMetaData) -> Option<Range<u64>> {
    range(chunk.offset_index_offset(), chunk.offset_index_length())
}

/// Return a range of bytes from a footer; `None` for negative numbers.
fn range(offset: Option<i64>, length: Option<i32>) -> Option<Range<u64>> {
    let (start, length) = (u64::try_from(offset?).ok()?, u64::try_from(length?).ok()?);
    Some(start..start.saturating_add(length))
}

fn size(bytes: u64) -> Result<usize> {
    Ok(usize::try_from(bytes)?)
}

fn beyond(range: &Range<u64>) -> ParquetError {
    ParquetError::EOF(format!("bytes {} to {}", range.start, range.end))
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::ChunkReader;

    use super::{GAP_BYTES, IndexBytes, united};
    use crate::bytes::data_file::DataFile;
    use crate::bytes::local::LocalFile;

    #[test]
    fn ranges_that_overlap_or_are_close_are_united() {
        let far = 50 + GAP_BYTES;
        assert!(united(vec![]).is_empty());
        assert_eq!(united(vec![far..far + 9, 20..50, 0..10]), [0..50, far..far + 9]);
        assert_eq!(united(vec![0..100, 10..20, 100..110, far + 99..far + 199]).len(), 2);
    }

    #[test]
    fn bytes_between_the_ranges_are_not_read() {
        let path = std::env::temp_dir().join(format!("icefloe-indexes-{}", std::process::id()));
        std::fs::write(&path, vec![7; 200_000]).unwrap();
        let file = DataFile::Local(LocalFile::open(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        let bytes = IndexBytes { file: &file, ranges: Some(vec![10..20, 90_000..90_010]) };
        let read = bytes.get_bytes(10, 90_000).unwrap();
        assert_eq!(read.len(), 90_000);
        let is_read = |at: &usize| *at < 10 || *at >= 89_990;
        assert!((0..90_000).all(|at| read[at] == if is_read(&at) { 7 } else { 0 }));
        // A range that does not hold all indexes is read as a whole.
        assert!(bytes.get_bytes(0, 100).unwrap().iter().all(|byte| *byte == 7));
        assert!(bytes.get_bytes(10, 200_000).is_err());
    }
}

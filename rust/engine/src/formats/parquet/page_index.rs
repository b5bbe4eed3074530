//! The page indexes of a file: offsets and bounds of its pages.

use std::collections::BTreeSet;
use std::sync::Arc;

use icefloe_format::predicate::{BoundPredicate, references};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMask, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};

use super::cut::part_rows;
use super::row_size::row_bytes;
use crate::bytes::data_file::DataFile;
use crate::resolve::file_columns::{FileColumn, leaf_of};

/// The page indexes to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexedPages<'a> {
    pub(crate) row_groups: &'a [usize],
    /// Leaves of a predicate; empty without one.
    pub(crate) asked: &'a BTreeSet<usize>,
}

impl IndexedPages<'_> {
    /// Read the footer with the indexes for decoding these leaves, in one request. The column index is read for predicates,
    /// the offset index for predicates and for row groups that are cut: without it the decoder reads the headers of all
    /// pages before a part.
    ///
    /// # Errors
    /// Those of reading the indexes.
    pub(crate) fn read(
        self,
        metadata: &Arc<ParquetMetaData>,
        leaves: &BTreeSet<usize>,
        file: &DataFile,
    ) -> parquet::errors::Result<Arc<ParquetMetaData>> {
        let groups = metadata.row_groups();
        let is_cut = |group: &RowGroupMetaData| {
            u64::try_from(group.num_rows()).is_ok_and(|it| it > part_rows(row_bytes(group, leaves)))
        };
        let is_located =
            |group: &usize| !self.asked.is_empty() || groups.get(*group).is_some_and(is_cut);
        let located: Vec<usize> = self.row_groups.iter().copied().filter(is_located).collect();
        if located.is_empty() {
            return Ok(Arc::clone(metadata));
        }
        read(metadata, (&located, leaves, self.asked), file)
    }
}

/// Read a footer with the offset index and the column index of some leaves and row groups. A column index that cannot be
/// parsed is ignored, since the rows do not depend on it.
///
/// # Errors
/// Those of reading the indexes.
pub(crate) fn read(
    metadata: &ParquetMetaData,
    (row_groups, located, asked): (&[usize], &BTreeSet<usize>, &BTreeSet<usize>),
    file: &DataFile,
) -> parquet::errors::Result<Arc<ParquetMetaData>> {
    let of = |leaves: &BTreeSet<usize>| {
        let row_groups = row_groups.iter().copied();
        ColumnChunkMask::row_groups_and_columns(row_groups, leaves.iter().copied())
    };
    let policy = if asked.is_empty() { PageIndexPolicy::Skip } else { PageIndexPolicy::Optional };
    let mut reader = ParquetMetaDataReader::new_with_metadata(metadata.clone())
        .with_column_index_policy(policy)
        .with_column_index_mask(of(asked))
        .with_offset_index_policy(PageIndexPolicy::Optional)
        .with_offset_index_mask(of(located));
    match reader.read_page_indexes(file).and_then(|()| reader.finish()) {
        Err(error) if !asked.is_empty() && !matches!(error, ParquetError::External(_)) => {
            read(metadata, (row_groups, located, &BTreeSet::new()), file)
        }
        Ok(found) if !are_placed(&found, row_groups, located) => Ok(Arc::new(metadata.clone())),
        found => found.map(Arc::new),
    }
}

/// Whether the pages of each column chunk are contiguous up to its end, in bytes and in rows. A decoder would return wrong
/// rows for other offsets.
fn are_placed(metadata: &ParquetMetaData, row_groups: &[usize], leaves: &BTreeSet<usize>) -> bool {
    let Some(indexes) = metadata.page_index() else { return true };
    row_groups.iter().all(|row_group| {
        let Some(group) = metadata.row_groups().get(*row_group) else { return true };
        leaves.iter().all(|leaf| {
            let chunk = group.columns().get(*leaf);
            let index = indexes.offset_index(*row_group, *leaf);
            let (Some(chunk), Some(index)) = (chunk, index) else { return true };
            let (start, length) = chunk.byte_range();
            let pages = index.page_locations();
            // The bytes before the first data page are the dictionary.
            let first = pages.first().and_then(|page| u64::try_from(page.offset).ok());
            let mut next = first.filter(|first| *first >= start);
            let mut row = -1;
            for page in pages {
                let ascends = page.first_row_index > row && (row >= 0 || page.first_row_index == 0);
                let here = next.filter(|next| u64::try_from(page.offset) == Ok(*next) && ascends);
                let size = u64::try_from(page.compressed_page_size).ok();
                next = here.zip(size).and_then(|(here, size)| here.checked_add(size));
                row = page.first_row_index;
            }
            row < group.num_rows().max(1) && next == start.checked_add(length)
        })
    })
}

/// The leaves of a predicate in a file.
pub(crate) fn asked_leaves(columns: &[FileColumn], predicate: &BoundPredicate) -> BTreeSet<usize> {
    let found = references(predicate).into_iter().filter_map(|id| leaf_of(columns, id));
    found.map(|column| column.leaves.start).collect()
}

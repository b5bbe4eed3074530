//! The offset index and the column index of a file's pages.

use std::collections::BTreeSet;
use std::sync::Arc;

use icefloe_format::predicate::{BoundPredicate, references};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMask, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};

use super::cut::part_rows;
use super::index_bytes::IndexBytes;
use super::row_size::row_bytes;
use crate::bytes::data_file::DataFile;
use crate::resolve::file_columns::{FileColumn, leaf_of};

/// The row groups and leaves whose page indexes are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexedPages<'a> {
    pub(crate) row_groups: &'a [usize],
    /// The leaves of the predicate; empty without a predicate.
    pub(crate) predicate_leaves: &'a BTreeSet<usize>,
}

impl IndexedPages<'_> {
    /// Return the footer with the page indexes of `leaves`, read in one request from a remote file. The column index is read if there is a
    /// predicate. The offset index is read if there is a predicate or a row group is cut into parts: without an offset
    /// index the decoder reads the headers of all pages before a part.
    ///
    /// # Errors
    /// The errors of reading the indexes.
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
        let is_located = |group: &usize| {
            !self.predicate_leaves.is_empty() || groups.get(*group).is_some_and(is_cut)
        };
        let located: Vec<usize> = self.row_groups.iter().copied().filter(is_located).collect();
        if located.is_empty() {
            return Ok(Arc::clone(metadata));
        }
        read(metadata, (&located, leaves, self.predicate_leaves), file)
    }
}

/// Return a footer with the offset index of `located` and the column index of `predicate_leaves` in some row groups. A column
/// index that cannot be parsed is ignored, because the decoded rows do not depend on it.
///
/// # Errors
/// The errors of reading the indexes.
pub(crate) fn read(
    metadata: &ParquetMetaData,
    (row_groups, located, predicate_leaves): (&[usize], &BTreeSet<usize>, &BTreeSet<usize>),
    file: &DataFile,
) -> parquet::errors::Result<Arc<ParquetMetaData>> {
    let of = |leaves: &BTreeSet<usize>| {
        let row_groups = row_groups.iter().copied();
        ColumnChunkMask::row_groups_and_columns(row_groups, leaves.iter().copied())
    };
    let policy =
        if predicate_leaves.is_empty() { PageIndexPolicy::Skip } else { PageIndexPolicy::Optional };
    let mut reader = ParquetMetaDataReader::new_with_metadata(metadata.clone())
        .with_column_index_policy(policy)
        .with_column_index_mask(of(predicate_leaves))
        .with_offset_index_policy(PageIndexPolicy::Optional)
        .with_offset_index_mask(of(located));
    let bytes = IndexBytes::new(metadata, (row_groups, located, predicate_leaves), file);
    match reader.read_page_indexes(&bytes).and_then(|()| reader.finish()) {
        Err(error)
            if !predicate_leaves.is_empty() && !matches!(error, ParquetError::External(_)) =>
        {
            read(metadata, (row_groups, located, &BTreeSet::new()), file)
        }
        Ok(found) if !are_placed(&found, row_groups, located) => Ok(Arc::new(metadata.clone())),
        found => found.map(Arc::new),
    }
}

/// Return whether the pages of each column chunk are contiguous in bytes and ascending in rows up to the chunk's end.
/// With other offsets the decoder would return wrong rows.
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
            // The bytes before the first data page hold the dictionary page.
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

/// Return the leaves of the columns that a predicate references.
pub(crate) fn predicate_leaves(
    columns: &[FileColumn],
    predicate: &BoundPredicate,
) -> BTreeSet<usize> {
    let found = references(predicate).into_iter().filter_map(|id| leaf_of(columns, id));
    found.map(|column| column.leaves.start).collect()
}

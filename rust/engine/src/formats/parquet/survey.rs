//! Estimates of what a scan reads of a Parquet file, from its footer and page indexes.

use std::collections::BTreeSet;

use parquet::file::metadata::ParquetMetaData;

use super::ahead::{page_counts, ranges};
use super::bloom::prune_by_bloom_filters;
use super::file::{Footer, guarded, parquet_error};
use super::open::{kept_row_groups, parquet_facts};
use super::page_index::{predicate_leaves, read as read_pages};
use super::pages::{RowRanges, rows_that_might_match};
use super::row_groups::in_range;
use crate::error::Result;
use crate::formats::survey::{Survey, reasons};
use crate::resolve::columns::BatchPlan;
use crate::resolve::file_columns::{FileColumn, file_columns};
use crate::resolve::request::FileRequest;

/// Return the row groups, pages, rows and bytes that a scan of a file selects, without decoding any page.
///
/// # Errors
/// The errors of [`Footer::read`] and of resolving columns.
pub(crate) fn parquet_survey(request: &FileRequest<'_>) -> Result<Survey> {
    let footer = Footer::read(request)?;
    let columns = file_columns(footer.schema(), request.context.name_mapping.as_ref());
    let leaves = decoded_leaves(request, &footer, &columns)?;
    let all = in_range(&footer.metadata, request.start, request.length);
    let by_statistics = kept_row_groups(request, &footer, &columns)?;
    let left = by_statistics.len();
    let kept = prune_by_bloom_filters(request, &footer, &columns, by_statistics)?;
    let predicate_leaves = predicate_leaves(&columns, &request.residual);
    let metadata = guarded(request.location, || {
        read_pages(&footer.metadata, (&kept, &leaves, &predicate_leaves), &footer.source)
            .map_err(|error| parquet_error(request.location, error))
    })?;
    let rows = rows_that_might_match(&metadata, &columns, &kept, &request.residual)?;
    let pages = rows.iter().map(|it| page_counts(&metadata, it.row_group, &it.rows, &leaves));
    let pages: Option<Vec<(u64, u64)>> = pages.collect();
    let bytes = rows.iter().flat_map(|it| ranges(&metadata, it.row_group, &it.rows, &leaves));
    let selected = rows.iter().map(RowRanges::count).sum();
    Ok(Survey {
        row_groups: Some(all.len() as u64),
        row_groups_kept: Some(rows.len() as u64),
        pages: pages.as_ref().map(|pages| pages.iter().map(|(all, _)| all).sum()),
        pages_kept: pages.as_ref().map(|pages| pages.iter().map(|(_, kept)| kept).sum()),
        rows: Some(rows_of(&metadata, &all)),
        rows_selected: Some(selected),
        bytes_to_read: Some(bytes.map(|range| range.end - range.start).sum()),
        reason: reasons([
            ("statistics", left < all.len()),
            ("bloom filter", kept.len() < left),
            ("page index", selected < rows_of(&metadata, &kept)),
        ]),
    })
}

/// Return the leaves of the projected columns and of the columns of the row filters.
fn decoded_leaves(
    request: &FileRequest<'_>,
    footer: &Footer,
    columns: &[FileColumn],
) -> Result<BTreeSet<usize>> {
    let facts = parquet_facts(request, footer, columns);
    let output = BatchPlan::new(request.projection, &facts, request.string_views)?;
    let tests = request.tests(&facts)?;
    let mut leaves: BTreeSet<usize> = output.leaves;
    leaves.extend(tests.iter().flat_map(|test| &test.columns().leaves));
    Ok(leaves)
}

fn rows_of(metadata: &ParquetMetaData, row_groups: &[usize]) -> u64 {
    let groups = row_groups.iter().filter_map(|group| metadata.row_groups().get(*group));
    groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum()
}

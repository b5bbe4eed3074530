//! Opening of a Parquet file: columns are resolved, row groups and pages are pruned and cut into units.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use icefloe_format::predicate::Predicate;
use parquet::file::metadata::ParquetMetaData;

use super::bloom::prune_by_bloom_filters;
use super::cut::{cut, page_starts, part_rows};
use super::file::{Footer, OpenFile, WHAT};
use super::flat::{FEW_COLUMNS, FlatGroup, Form, RowGroup};
use super::page_index::{IndexedPages, predicate_leaves};
use super::pages::{RowRanges, rows_that_might_match};
use super::row_groups::{in_range, that_might_match};
use super::row_size::row_bytes;
use super::unit::Unit;
use crate::error::Result;
use crate::resolve::columns::{BatchPlan, FileFacts};
use crate::resolve::file_columns::{FileColumn, file_columns};
use crate::resolve::key_filters::KeyFilters;
use crate::resolve::request::FileRequest;
use crate::resolve::row_filter::RowTest;

/// Open a file and return the units of the row groups and pages that may hold a matching row.
///
/// # Errors
/// The errors of [`Footer::read`] and of resolving columns.
pub(crate) fn parquet_units(request: &FileRequest<'_>) -> Result<Vec<Unit>> {
    let footer = Footer::read(request)?;
    let columns = file_columns(footer.schema(), request.context.name_mapping.as_ref());
    units_of(request, &footer, &columns)
}

/// As [`parquet_units`], for a file whose footer was read.
///
/// # Errors
/// The errors of resolving columns and of reading page indexes and bloom filters.
pub(crate) fn units_of(
    request: &FileRequest<'_>,
    footer: &Footer,
    columns: &[FileColumn],
) -> Result<Vec<Unit>> {
    let facts = parquet_facts(request, footer, columns);
    let output = BatchPlan::new(request.projection, &facts, request.string_views)?;
    let row_groups = kept_row_groups(request, footer, columns)?;
    let row_groups = prune_by_bloom_filters(request, footer, columns, row_groups)?;
    let tests = request.tests(&facts)?;
    let keys = KeyFilters::new(
        &request.deletes.keys,
        (request.projection, &output, request.string_views),
        &facts,
        &|bounds| Ok(that_might_match(&footer.metadata, columns, row_groups.clone(), bounds)?),
    )?;
    let plans = std::iter::once(&output).chain(tests.iter().map(RowTest::columns));
    let plans = plans.chain(keys.iter().flat_map(KeyFilters::plans));
    let predicate_leaves = predicate_leaves(columns, &request.residual);
    let pages = IndexedPages { row_groups: &row_groups, predicate_leaves: &predicate_leaves };
    let reader = footer.reader(columns, plans, pages)?;
    let metadata = reader.metadata();
    let kept = rows_that_might_match(metadata, columns, &row_groups, &request.residual)?;
    let file = OpenFile {
        location: request.location.to_owned(),
        source: footer.source.clone(),
        reader,
        output,
        string_views: request.string_views,
        dictionaries: request.dictionaries,
        tests,
        keys,
        deleted: request.deletes.positions.clone(),
    };
    Ok(units(&Arc::new(file), &kept))
}

/// Return the columns of a file from its footer, with the values that all rows of the file share.
pub(crate) fn parquet_facts<'a>(
    request: &'a FileRequest<'_>,
    footer: &'a Footer,
    columns: &'a [FileColumn],
) -> FileFacts<'a> {
    request.facts(WHAT, columns, Some(footer.metadata.file_metadata().schema_descr()))
}

/// Return the row groups of the requested byte range whose statistics may satisfy the residual.
///
/// # Errors
/// The errors of evaluating the residual.
pub(crate) fn kept_row_groups(
    request: &FileRequest<'_>,
    footer: &Footer,
    columns: &[FileColumn],
) -> Result<Vec<usize>> {
    let groups = in_range(&footer.metadata, request.start, request.length);
    if matches!(request.residual, Predicate::AlwaysTrue) {
        return Ok(groups);
    }
    Ok(that_might_match(&footer.metadata, columns, groups, &request.residual)?)
}

/// Return the ordinals in the file of the rows of each row group.
fn group_rows(metadata: &ParquetMetaData) -> Vec<Range<u64>> {
    let mut next = 0;
    let groups = metadata.row_groups().iter().map(|group| {
        let start: u64 = next;
        next = start.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
        start..next
    });
    groups.collect()
}

/// Cut the selected rows of row groups into units, in file order.
fn units(file: &Arc<OpenFile>, kept: &[RowRanges]) -> Vec<Unit> {
    let metadata = file.reader.metadata();
    let rows = group_rows(metadata);
    let mut units = Vec::new();
    for kept in kept {
        let Some(all) = rows.get(kept.row_group) else { continue };
        let Some(group) = metadata.row_groups().get(kept.row_group) else { continue };
        let leaves = &file.output.leaves;
        let pages = page_starts(metadata, kept.row_group, leaves);
        let part_rows = part_rows(row_bytes(group, leaves));
        // Without an offset index, every part reads the column chunks of the whole row group.
        let whole = pages.is_empty().then(Arc::default);
        let parts = cut(all.end - all.start, part_rows, &pages).into_iter();
        let parts = parts.map(|part| kept.within(&part));
        let parts: Vec<_> = parts.filter_map(|kept| Some((kept.rows()?, kept))).collect();
        let flat = flat_group(file, kept.row_group, parts.iter().map(|(rows, _)| rows.clone()));
        for (rows, kept) in parts {
            let (file, ahead) = (Arc::clone(file), whole.clone().unwrap_or_default());
            units.push(Unit { file, kept, rows, first_row: all.start, ahead, flat: flat.clone() });
        }
    }
    units
}

/// Maximum bytes of shared pages held for other threads, in a row group of at most [`FEW_COLUMNS`] columns.
const KEPT_BYTES: usize = 256 << 20;
/// Maximum bytes of shared pages held for other threads, in a row group of more than [`FEW_COLUMNS`] columns.
const WIDE_KEPT_BYTES: usize = 4 << 20;

/// Return the columns of a row group for decoding page by page. `None` if a column needs the decoder of the Parquet
/// crate.
fn flat_group(
    file: &OpenFile,
    row_group: usize,
    parts: impl Iterator<Item = Range<u64>>,
) -> Option<Arc<FlatGroup>> {
    let metadata = file.reader.metadata();
    // With at most `FEW_COLUMNS` columns, each thread holds an open page of every column.
    let most = if file.output.leaves.len() > FEW_COLUMNS { WIDE_KEPT_BYTES } else { KEPT_BYTES };
    let group = RowGroup {
        metadata: Arc::clone(metadata),
        ordinal: row_group,
        rows: u64::try_from(metadata.row_groups().get(row_group)?.num_rows()).ok()?,
        parts: parts.collect(),
        may_skip_pages: !file.tests.is_empty() || file.deleted.is_some() || file.keys.is_some(),
        kept_bytes: Arc::new(AtomicUsize::new(most)),
    };
    let tested = file.tests.iter().flat_map(|test| test.columns().leaves.iter().copied());
    let tested: BTreeSet<usize> =
        tested.chain(file.keys.iter().flat_map(KeyFilters::leaves)).collect();
    let leaves = tested.union(&file.output.leaves).copied().collect();
    let unconverted = if file.dictionaries { file.output.unconverted() } else { BTreeSet::new() };
    // Row filters and equality deletes compare views.
    let form = |leaf| Form {
        is_viewed: file.string_views || tested.contains(&leaf),
        may_be_dictionary: unconverted.contains(&leaf) && !tested.contains(&leaf),
    };
    FlatGroup::new(&group, file.reader.schema(), &leaves, form).map(Arc::new)
}

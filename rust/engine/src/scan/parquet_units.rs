//! A Parquet file opened for a request: its columns resolved, its row groups and pages pruned and cut into units.

use std::sync::Arc;

use icefloe_format::predicate::Predicate;

use super::bloom::that_may_hold;
use super::columns::{BatchPlan, FileFacts};
use super::file::{Footer, OpenFile, WHAT};
use super::file_columns::{FileColumn, file_columns};
use super::key_tests::KeyTests;
use super::page_index::{IndexedPages, asked_leaves};
use super::pages::rows_that_might_match;
use super::request::FileRequest;
use super::row_filter::RowTest;
use super::row_groups::{in_range, that_might_match};
use super::unit::{Unit, units};
use crate::error::Result;

/// Open a file and cut the row groups and pages that may hold a wanted row.
///
/// # Errors
/// Those of [`Footer::read`], of resolving columns and of reading deletes.
pub(crate) fn parquet_units(request: &FileRequest<'_>) -> Result<Vec<Unit>> {
    let footer = Footer::read(request)?;
    let columns = file_columns(footer.schema(), request.context.name_mapping.as_ref());
    let facts = parquet_facts(request, &footer, &columns);
    let output = BatchPlan::new(request.projection, &facts, request.string_views)?;
    let row_groups = kept_row_groups(request, &footer, &columns)?;
    let row_groups = that_may_hold(request, &footer, &columns, row_groups)?;
    let tests = request.tests(&facts)?;
    let keys = KeyTests::new(
        request.key_sets()?,
        (request.projection, &output, request.string_views),
        &facts,
        &|bounds| Ok(that_might_match(&footer.metadata, &columns, row_groups.clone(), bounds)?),
    )?;
    let plans = std::iter::once(&output).chain(tests.iter().map(RowTest::columns));
    let plans = plans.chain(keys.iter().flat_map(KeyTests::plans));
    let asked = asked_leaves(&columns, &request.residual);
    let pages = IndexedPages { row_groups: &row_groups, asked: &asked };
    let reader = footer.reader(&columns, plans, pages)?;
    let metadata = reader.metadata();
    let kept = rows_that_might_match(metadata, &columns, &row_groups, &request.residual)?;
    let file = OpenFile {
        location: request.location.to_owned(),
        source: footer.source.clone(),
        reader,
        output,
        tests,
        keys,
        deleted: request.deleted()?,
    };
    Ok(units(&Arc::new(file), &kept))
}

/// What the footer tells of a file's columns.
pub(crate) fn parquet_facts<'a>(
    request: &'a FileRequest<'_>,
    footer: &'a Footer,
    columns: &'a [FileColumn],
) -> FileFacts<'a> {
    FileFacts {
        what: WHAT,
        columns,
        descriptor: Some(footer.metadata.file_metadata().schema_descr()),
        location: request.location,
        spec_id: request.spec_id,
        identities: &request.identities,
        partition: &request.partition,
        deleted: request.marked.as_ref(),
    }
}

/// The row groups of the part to read that may hold a wanted row by their statistics.
///
/// # Errors
/// Those of evaluating the residual.
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

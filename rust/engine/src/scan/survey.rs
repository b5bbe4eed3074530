//! What a scan would read, found out from footers alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::stream::Scan;
use super::task::ScanTask;
use super::work::ScanWork;
use crate::bytes::data_file::Opening;
use crate::error::{Error, Result};
use crate::formats::data_format::DataFormat;
use crate::formats::orc::file::OpenOrc;
use crate::formats::orc::stripes::WantedStripe;
use crate::formats::parquet::ahead::{page_counts, ranges};
use crate::formats::parquet::bloom::that_may_hold;
use crate::formats::parquet::file::{Footer, guarded, parquet_error};
use crate::formats::parquet::open::{kept_row_groups, parquet_facts};
use crate::formats::parquet::page_index::{asked_leaves, read as read_pages};
use crate::formats::parquet::pages::{KeptRows, rows_that_might_match};
use crate::formats::parquet::row_groups::in_range;
use crate::pipeline::{Pipeline, Work};
use crate::resolve::columns::BatchPlan;
use crate::resolve::file_columns::{FileColumn, file_columns};
use crate::resolve::request::FileRequest;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::file::metadata::ParquetMetaData;

/// What reading one task comes to. Of Avro files nothing is known but their rows, of ORC files no pages, and all columns count.
#[derive(Debug, Default)]
struct Survey {
    row_groups: Option<u64>,
    row_groups_kept: Option<u64>,
    pages: Option<u64>,
    pages_kept: Option<u64>,
    rows: Option<u64>,
    rows_selected: Option<u64>,
    bytes_to_read: Option<u64>,
    reason: Option<String>,
}

/// Asks every task's footer; nothing is decoded.
struct Surveys(Arc<ScanWork>);

impl Work for Surveys {
    type Unit = Survey;
    type Item = Survey;

    fn tasks(&self) -> usize {
        self.0.tasks.len()
    }

    fn expect(&self, task: usize) -> Option<Opening> {
        self.0.expect(task)
    }

    fn begin(&self, _: &Survey, _: usize) -> Option<usize> {
        Some(0)
    }

    fn prepare(&self, task: usize, opening: Option<Opening>) -> Result<Vec<Survey>> {
        let Some(task) = self.0.tasks.get(task) else { return Ok(vec![]) };
        Ok(vec![survey(&self.0, task, opening).map_err(|error| error.at(&task.location))?])
    }

    fn decode(&self, unit: Survey, emit: &mut dyn FnMut(Survey) -> bool) -> Result<()> {
        emit(unit);
        Ok(())
    }

    fn bytes(_: &Survey) -> usize {
        size_of::<Survey>()
    }
}

impl Scan {
    /// What the scan will read of each task, one row for each: `file_path`, `row_groups` of the task,
    /// `row_groups_kept`, `pages` (of the columns read, in the kept row groups), `pages_kept`, `rows`,
    /// `rows_selected` (before deletes and the filter's last word), `bytes_to_read`, and `reason`: by what
    /// the rest was ruled out, joined by commas, null where nothing was.
    ///
    /// # Errors
    /// Those of reading footers.
    pub fn survey(&self) -> Result<RecordBatch> {
        let pipeline = Pipeline::new(Surveys(Arc::clone(self.work())), self.flight())?;
        let surveys = pipeline.collect::<Result<Vec<_>>>()?;
        let paths = self.work().tasks.iter().map(|task| task.location.as_str());
        let counts = |of: fn(&Survey) -> Option<u64>| -> ArrayRef {
            let counts =
                surveys.iter().map(|it| of(it).and_then(|count| i64::try_from(count).ok()));
            Arc::new(counts.collect::<Int64Array>())
        };
        let reasons = surveys.iter().map(|it| it.reason.as_deref());
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("file_path", Arc::new(StringArray::from_iter_values(paths))),
            ("row_groups", counts(|it| it.row_groups)),
            ("row_groups_kept", counts(|it| it.row_groups_kept)),
            ("pages", counts(|it| it.pages)),
            ("pages_kept", counts(|it| it.pages_kept)),
            ("rows", counts(|it| it.rows)),
            ("rows_selected", counts(|it| it.rows_selected)),
            ("bytes_to_read", counts(|it| it.bytes_to_read)),
            ("reason", Arc::new(reasons.collect::<StringArray>())),
        ];
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, name != "file_path")),
        )
        .map_err(|error| Error::internal("describe a scan", error))
    }
}

fn survey(work: &ScanWork, task: &ScanTask, opening: Option<Opening>) -> Result<Survey> {
    let request = work.request(task, opening)?;
    match DataFormat::of(&task.file_format, &task.location)? {
        DataFormat::Parquet => parquet_survey(&request),
        DataFormat::Orc => orc_survey(&request),
        DataFormat::Avro => Ok(Survey::default()),
    }
}

/// Stripes are told as row groups, with the bytes of all their columns.
fn orc_survey(request: &FileRequest<'_>) -> Result<Survey> {
    let open = OpenOrc::open(request)?;
    let kept = open.kept(request)?;
    let Some(bytes) = open.bytes(&kept) else { return Ok(Survey::default()) };
    let rows = |stripes: &[WantedStripe]| stripes.iter().map(WantedStripe::count).sum();
    Ok(Survey {
        row_groups: Some(open.stripes.len() as u64),
        row_groups_kept: Some(kept.len() as u64),
        rows: rows(&open.stripes),
        rows_selected: rows(&kept),
        bytes_to_read: Some(bytes),
        reason: reasons([("statistics", kept.len() < open.stripes.len())]),
        ..Survey::default()
    })
}

fn parquet_survey(request: &FileRequest<'_>) -> Result<Survey> {
    let footer = Footer::read(request)?;
    let columns = file_columns(footer.schema(), request.context.name_mapping.as_ref());
    let leaves = decoded_leaves(request, &footer, &columns)?;
    let all = in_range(&footer.metadata, request.start, request.length);
    let by_statistics = kept_row_groups(request, &footer, &columns)?;
    let left = by_statistics.len();
    let kept = that_may_hold(request, &footer, &columns, by_statistics)?;
    let asked = asked_leaves(&columns, &request.residual);
    let metadata = guarded(request.location, || {
        read_pages(&footer.metadata, (&kept, &leaves, &asked), &footer.source)
            .map_err(|error| parquet_error(request.location, error))
    })?;
    let rows = rows_that_might_match(&metadata, &columns, &kept, &request.residual)?;
    let pages = rows.iter().map(|it| page_counts(&metadata, it.row_group, &it.rows, &leaves));
    let pages: Option<Vec<(u64, u64)>> = pages.collect();
    let bytes = rows.iter().flat_map(|it| ranges(&metadata, it.row_group, &it.rows, &leaves));
    let selected = rows.iter().map(KeptRows::count).sum();
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

/// The leaves of the wanted columns and of those that rows are tested by.
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

/// Those that ruled something out, joined by commas.
fn reasons<const N: usize>(all: [(&str, bool); N]) -> Option<String> {
    let found = all.into_iter().filter(|(_, did)| *did).map(|(reason, _)| reason);
    let found: Vec<&str> = found.collect();
    (!found.is_empty()).then(|| found.join(", "))
}

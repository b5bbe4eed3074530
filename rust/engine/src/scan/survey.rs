//! What a scan would read, found out from footers alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use super::ahead::ranges;
use super::columns::BatchPlan;
use super::data_format::DataFormat;
use super::file::Footer;
use super::file_columns::file_columns;
use super::parquet_units::{kept_row_groups, parquet_facts};
use super::pipeline::{Pipeline, Work};
use super::row_groups::in_range;
use super::stream::Scan;
use super::task::ScanTask;
use super::work::ScanWork;
use crate::error::{Error, Result};

/// What reading one task comes to. Of files other than Parquet nothing is known but their rows.
#[derive(Debug, Default)]
struct Survey {
    row_groups: Option<u64>,
    row_groups_kept: Option<u64>,
    pages: Option<u64>,
    pages_kept: Option<u64>,
    rows: Option<u64>,
    rows_selected: Option<u64>,
    bytes_to_read: Option<u64>,
    reason: Option<&'static str>,
}

/// Asks every task's footer; nothing is decoded.
struct Surveys(Arc<ScanWork>);

impl Work for Surveys {
    type Unit = Survey;
    type Item = Survey;

    fn tasks(&self) -> usize {
        self.0.tasks.len()
    }

    fn prepare(&self, task: usize) -> Result<Vec<Survey>> {
        let Some(task) = self.0.tasks.get(task) else { return Ok(vec![]) };
        Ok(vec![survey(&self.0, task).map_err(|error| error.at(&task.location))?])
    }

    fn decode(&self, unit: Survey, emit: &mut dyn FnMut(Survey) -> bool) -> Result<()> {
        emit(unit);
        Ok(())
    }
}

impl Scan {
    /// What the scan will read of each task, one row for each: `file_path`, `row_groups` of the task,
    /// `row_groups_kept`, `pages` (of the columns read, in the kept row groups), `pages_kept`, `rows`,
    /// `rows_selected` (before deletes and the filter's last word), `bytes_to_read`, and `reason`: by what
    /// the rest was ruled out, null where nothing was.
    ///
    /// # Errors
    /// Those of reading footers.
    pub fn survey(work: &ScanWork, task: &ScanTask) -> Result<Survey> {
    if DataFormat::of(&task.file_format, &task.location)? != DataFormat::Parquet {
        return Ok(Survey::default());
    }
    let request = work.request(task)?;
    let footer = Footer::read(request.io, request.location, request.record_count)?;
    let columns = file_columns(footer.schema(), request.context.name_mapping.as_ref());
    let facts = parquet_facts(&request, &footer, &columns);
    let output = BatchPlan::new(request.projection, &facts, request.string_views)?;
    let all = in_range(&footer.metadata, task.start, task.length);
    let kept = kept_row_groups(&request, &footer, &columns)?;
    let mut leaves: BTreeSet<usize> = output.leaves;
    leaves.extend(request.tests(&facts)?.iter().flat_map(|test| &test.columns().leaves));
    let rows = |groups: &[usize]| {
        let groups = groups.iter().filter_map(|group| footer.metadata.row_groups().get(*group));
        groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum::<u64>()
    };
    let bytes =
        kept.iter().flat_map(|group| ranges(&footer.metadata, *group, &(0..u64::MAX), &leaves));
    Ok(Survey {
        row_groups: Some(all.len() as u64),
        row_groups_kept: Some(kept.len() as u64),
        rows: Some(rows(&all)),
        rows_selected: Some(rows(&kept)),
        bytes_to_read: Some(bytes.map(|range| range.end - range.start).sum()),
        reason: (kept.len() < all.len()).then_some("statistics"),
        ..Survey::default()
    })
}

//! What a scan would read of each task, found out from footers alone.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use super::stream::Scan;
use super::task::ScanTask;
use super::work::ScanWork;
use crate::bytes::data_file::Opening;
use crate::error::{Error, Result};
use crate::formats::data_format::DataFormat;
use crate::formats::survey::Survey;
use crate::pipeline::{Pipeline, Work};

/// Surveys the file of every task.
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
    /// What the scan reads of each task, one row for each: `file_path` and the columns of [`Survey`].
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
    DataFormat::of(&task.file_format, &task.location)?.survey(&request)
}

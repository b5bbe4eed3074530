//! A survey of each task of a scan, from footers alone.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use super::stream::Scan;
use super::task::ScanTask;
use super::work::ScanWork;
use crate::bytes::data_file::TailFetch;
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

    fn fetch_tail(&self, task: usize) -> Option<TailFetch> {
        self.0.fetch_tail(task)
    }

    fn prefetch(&self, _: &Survey, _: usize) -> Option<usize> {
        Some(0)
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<Survey>> {
        let Some(task) = self.0.tasks.get(task) else { return Ok(vec![]) };
        Ok(vec![survey(&self.0, task, tail).map_err(|error| error.at(&task.location))?])
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
    /// Survey each task: a row of `file_path` and the fields of [`Survey`].
    ///
    /// # Errors
    /// Errors of reading footers.
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

fn survey(work: &ScanWork, task: &ScanTask, tail: Option<TailFetch>) -> Result<Survey> {
    let request = work.request(task, tail)?;
    DataFormat::of(&task.file_format, &task.location)?.survey(&request)
}

//! Scan tasks, from a batch of their plan.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{delete_runs, delete_runs_type};

use crate::deletes::delete_file::{PlanColumns, text};
use crate::error::Result;
use crate::plan::{Residuals, residuals_type};

/// A data file, or a part of it, to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanTask {
    /// Location of the data file.
    pub location: String,
    /// `PARQUET`, `AVRO` or `ORC`.
    pub file_format: String,
    /// Partition spec of the file.
    pub spec_id: i32,
    /// Partition tuple, a JSON array.
    pub partition: String,
    /// Rows of the whole file.
    pub record_count: i64,
    /// First byte of the part to read.
    pub start: u64,
    /// Bytes of the part to read; `u64::MAX` for the last part of a file, which runs to the file's end.
    pub length: u64,
    /// JSON of the residual predicate.
    pub residual: Option<Arc<str>>,
    /// The delete files that apply, as ascending and separate ranges of rows of the plan's deletes.
    pub deletes: Vec<Range<usize>>,
    /// If given, return only the rows that these delete files delete and `deletes` do not.
    pub marks: Option<Vec<Range<usize>>>,
}

impl ScanTask {
    /// Return the tasks of a plan's batch of files.
    ///
    /// # Errors
    /// `InvalidArgument` naming the column that is absent, of another type, or null where it may not be.
    pub fn from_batch(batch: &RecordBatch, delete_count: usize) -> Result<Vec<Self>> {
        let columns = PlanColumns { batch, what: "files" };
        let location = columns.required("file_path", &DataType::Utf8)?;
        let file_format = columns.required("file_format", &DataType::Utf8)?;
        let spec_id = columns.required("spec_id", &DataType::Int32)?;
        let partition = columns.required("partition", &DataType::Utf8)?;
        let record_count = columns.required("record_count", &DataType::Int64)?;
        let start = columns.optional("start", &DataType::Int64)?;
        let length = columns.optional("length", &DataType::Int64)?;
        let file_size = columns.optional("file_size_in_bytes", &DataType::Int64)?;
        let residual = columns.optional("residual", &residuals_type())?;
        let residual = residual.as_ref().map(Texts::of);
        let deletes = columns.optional("deletes", &delete_runs_type())?;
        let marks = columns.optional("marks", &delete_runs_type())?;
        (0..batch.num_rows())
            .map(|row| {
                let start = offset(start.as_ref(), row, 0)?;
                let length = offset(length.as_ref(), row, u64::MAX)?;
                Ok(Self {
                    location: text(&location, row),
                    file_format: text(&file_format, row),
                    spec_id: spec_id.as_primitive::<Int32Type>().value(row),
                    partition: text(&partition, row),
                    record_count: record_count.as_primitive::<Int64Type>().value(row),
                    start,
                    length: to_file_end(start, length, file_size.as_ref(), row),
                    residual: residual.as_ref().and_then(|texts| texts.get(row)),
                    deletes: delete_rows(deletes.as_ref(), row, delete_count)?,
                    marks: match marks.as_ref().filter(|marks| marks.is_valid(row)) {
                        None => None,
                        marks => Some(delete_rows(marks, row, delete_count)?),
                    },
                })
            })
            .collect()
    }

    /// Return the delete files of the task as ranges of rows, which may overlap.
    pub(crate) fn delete_files(&self) -> impl Iterator<Item = &Range<usize>> {
        self.deletes.iter().chain(self.marks.iter().flatten())
    }
}

/// A dictionary of texts, each shared by its rows.
struct Texts {
    keys: Residuals,
    values: Vec<Arc<str>>,
}

impl Texts {
    fn of(column: &ArrayRef) -> Self {
        let keys = column.as_dictionary::<Int32Type>().clone();
        let values = keys.values().as_string::<i32>().iter();
        let values = values.map(|text| Arc::from(text.unwrap_or_default())).collect();
        Self { keys, values }
    }

    fn get(&self, row: usize) -> Option<Arc<str>> {
        self.keys.key(row).and_then(|key| self.values.get(key)).map(Arc::clone)
    }
}

fn offset(array: Option<&ArrayRef>, row: usize, absent: u64) -> Result<u64> {
    let Some(array) = array.filter(|array| array.is_valid(row)) else { return Ok(absent) };
    let value = array.as_primitive::<Int64Type>().value(row);
    Ok(u64::try_from(value).map_err(|_| {
        FormatError::invalid(
            "files",
            format!("expected a start and a length of 0 or more, got {value}"),
        )
    })?)
}

/// Return the length of a part. Manifests may record a wrong file size, so the part that reaches the recorded size
/// extends to the end of the file.
fn to_file_end(start: u64, length: u64, file_size: Option<&ArrayRef>, row: usize) -> u64 {
    let Some(sizes) = file_size.filter(|sizes| sizes.is_valid(row)) else { return length };
    let recorded = u64::try_from(sizes.as_primitive::<Int64Type>().value(row)).unwrap_or(0);
    if start.saturating_add(length) >= recorded { u64::MAX } else { length }
}

fn delete_rows(
    array: Option<&ArrayRef>,
    row: usize,
    delete_count: usize,
) -> Result<Vec<Range<usize>>> {
    let Some(array) = array.filter(|array| array.is_valid(row)) else { return Ok(vec![]) };
    let known = |(first, count): (i32, i32)| {
        let (first, count) = (usize::try_from(first).ok()?, usize::try_from(count).ok()?);
        let end = first.checked_add(count).filter(|end| *end <= delete_count)?;
        Some(first..end)
    };
    let runs = delete_runs(array.as_list::<i32>(), row).into_iter().map(|run| {
        known(run).ok_or_else(|| {
            let (first, count) = run;
            let reason = format!(
                "expected rows of the {delete_count} deletes, got {count} from row {first} on"
            );
            FormatError::invalid("files", reason)
        })
    });
    let mut runs: Vec<Range<usize>> = runs.collect::<Result<_, _>>()?;
    // Plans have ascending runs; tasks that callers put together need not.
    runs.sort_unstable_by_key(|run| (run.start, run.end));
    runs.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    Ok(runs)
}

//! Scan tasks and delete files, from the batches of a plan.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{delete_runs, delete_runs_type};

use crate::error::Result;
use crate::plan::{Residuals, residuals_type};

/// One data file, or a part of it, to read.
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
    /// Predicate JSON that rows must still satisfy.
    pub residual: Option<Arc<str>>,
    /// Which delete files apply, as runs of rows of the plan's deletes.
    pub deletes: Vec<Range<usize>>,
    /// If given, only those of the rows that `deletes` leave are wanted that these delete files delete.
    pub marks: Option<Vec<Range<usize>>>,
}

/// One delete file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteFile {
    /// 1 positions, 2 equality.
    pub content: i32,
    /// Location of the file.
    pub location: String,
    /// `PARQUET`, `AVRO`, `ORC` or `PUFFIN`.
    pub file_format: String,
    /// Rows of the file.
    pub record_count: i64,
    /// Field ids that equality deletes compare.
    pub equality_ids: Vec<i32>,
    /// Partition spec and tuple of the file, where the plan says.
    pub scope: (i32, String),
}

impl ScanTask {
    /// The tasks of a plan's files batch.
    ///
    /// # Errors
    /// `InvalidArgument` naming the column that is absent, of another type, or null where it may not be.
    pub fn from_batch(batch: &RecordBatch, delete_count: usize) -> Result<Vec<Self>> {
        let columns = Columns { batch, what: "files" };
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

    /// The delete files that it needs, some perhaps twice, as runs of rows.
    pub(crate) fn delete_files(&self) -> impl Iterator<Item = &Range<usize>> {
        self.deletes.iter().chain(self.marks.iter().flatten())
    }
}

impl DeleteFile {
    /// The delete files of a plan's deletes batch.
    ///
    /// # Errors
    /// As for [`ScanTask::from_batch`].
    pub fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>> {
        if batch.num_rows() == 0 {
            return Ok(vec![]);
        }
        let columns = Columns { batch, what: "deletes" };
        let content = columns.required("content", &DataType::Int32)?;
        let location = columns.required("file_path", &DataType::Utf8)?;
        let file_format = columns.required("file_format", &DataType::Utf8)?;
        let record_count = columns.required("record_count", &DataType::Int64)?;
        let equality_ids = columns.optional("equality_ids", &int_list())?;
        let spec_id = columns.optional("spec_id", &DataType::Int32)?;
        let partition = columns.optional("partition", &DataType::Utf8)?;
        let scope = |row: usize| {
            let spec_id = spec_id.as_ref().filter(|ids| ids.is_valid(row));
            let partition = partition.as_ref().filter(|tuples| tuples.is_valid(row));
            let spec_id = spec_id.map_or(0, |ids| ids.as_primitive::<Int32Type>().value(row));
            (spec_id, partition.map_or_else(String::new, |tuples| text(tuples, row)))
        };
        let rows = (0..batch.num_rows()).map(|row| Self {
            content: content.as_primitive::<Int32Type>().value(row),
            location: text(&location, row),
            file_format: text(&file_format, row),
            record_count: record_count.as_primitive::<Int64Type>().value(row),
            equality_ids: ints(equality_ids.as_ref(), row),
            scope: scope(row),
        });
        Ok(rows.collect())
    }
}

struct Columns<'a> {
    batch: &'a RecordBatch,
    what: &'static str,
}

impl Columns<'_> {
    fn required(&self, name: &str, data_type: &DataType) -> Result<ArrayRef> {
        let array = self
            .optional(name, data_type)?
            .ok_or_else(|| self.invalid(name, "is absent".into()))?;
        if array.null_count() > 0 {
            return Err(self.invalid(name, "holds a null".into()));
        }
        Ok(array)
    }

    /// A column as `data_type`; views and large offsets are as good.
    fn optional(&self, name: &str, data_type: &DataType) -> Result<Option<ArrayRef>> {
        let Some(array) = self.batch.column_by_name(name) else { return Ok(None) };
        if array.data_type() == data_type {
            return Ok(Some(Arc::clone(array)));
        }
        cast(array, data_type).map(Some).map_err(|error| self.invalid(name, error.to_string()))
    }

    fn invalid(&self, name: &str, reason: String) -> crate::Error {
        FormatError::invalid(self.what, format!("column {name} {reason}")).into()
    }
}

fn int_list() -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Int32, true)))
}

fn text(array: &ArrayRef, row: usize) -> String {
    array.as_string::<i32>().value(row).to_owned()
}

/// Texts of which rows share theirs.
struct Texts {
    places: Residuals,
    values: Vec<Arc<str>>,
}

impl Texts {
    fn of(column: &ArrayRef) -> Self {
        let places = column.as_dictionary::<Int32Type>().clone();
        let values = places.values().as_string::<i32>().iter();
        let values = values.map(|text| Arc::from(text.unwrap_or_default())).collect();
        Self { places, values }
    }

    fn get(&self, row: usize) -> Option<Arc<str>> {
        self.places.key(row).and_then(|place| self.values.get(place)).map(Arc::clone)
    }
}

fn offset(array: Option<&ArrayRef>, row: usize, absent: u64) -> Result<u64> {
    let Some(array) = array.filter(|array| array.is_valid(row)) else { return Ok(absent) };
    let value = array.as_primitive::<Int64Type>().value(row);
    Ok(u64::try_from(value).map_err(|_| {
        FormatError::invalid("files", format!("start or length {value} is negative"))
    })?)
}

/// The length of a part. Manifests may state a wrong file size, so the part that reaches the stated size runs
/// to the end of the file.
fn to_file_end(start: u64, length: u64, file_size: Option<&ArrayRef>, row: usize) -> u64 {
    let Some(sizes) = file_size.filter(|sizes| sizes.is_valid(row)) else { return length };
    let stated = u64::try_from(sizes.as_primitive::<Int64Type>().value(row)).unwrap_or(0);
    if start.saturating_add(length) >= stated { u64::MAX } else { length }
}

fn ints(array: Option<&ArrayRef>, row: usize) -> Vec<i32> {
    match array.filter(|array| array.is_valid(row)) {
        Some(array) => {
            array.as_list::<i32>().value(row).as_primitive::<Int32Type>().values().to_vec()
        }
        None => vec![],
    }
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
            let reason =
                format!("{count} deletes from row {first} on are not among the {delete_count}");
            FormatError::invalid("files", reason).into()
        })
    });
    runs.collect()
}

//! The delete files of a scan, from a batch of its plan.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field};
use icefloe_format::Error as FormatError;

use crate::error::Result;

const POSITIONS: i32 = 1;
const EQUALITY: i32 = 2;

/// A delete file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteFile {
    /// 1 for positions, 2 for equality keys.
    pub content: i32,
    /// Location of the file.
    pub location: String,
    /// `PARQUET`, `AVRO`, `ORC` or `PUFFIN`.
    pub file_format: String,
    /// Rows of the file.
    pub record_count: i64,
    /// Field ids that equality deletes compare.
    pub equality_ids: Vec<i32>,
    /// Partition spec id and partition tuple of the file; 0 and empty where the plan has neither column.
    pub scope: (i32, String),
}

impl DeleteFile {
    /// The delete files of a plan's deletes batch.
    ///
    /// # Errors
    /// `InvalidArgument` naming the column that is absent, of another type, or null where it may not be.
    pub fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>> {
        if batch.num_rows() == 0 {
            return Ok(vec![]);
        }
        let columns = PlanColumns { batch, what: "deletes" };
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

    pub(crate) fn holds_positions(&self) -> bool {
        self.content == POSITIONS
    }

    pub(crate) fn holds_keys(&self) -> bool {
        self.content == EQUALITY
    }
}

/// The columns of one of a plan's batches.
pub(crate) struct PlanColumns<'a> {
    pub(crate) batch: &'a RecordBatch,
    /// The batch in errors: `files` or `deletes`.
    pub(crate) what: &'static str,
}

impl PlanColumns<'_> {
    /// A column without nulls as `data_type`.
    ///
    /// # Errors
    /// `InvalidArgument` naming the column that is absent, of another type, or holds a null.
    pub(crate) fn required(&self, name: &str, data_type: &DataType) -> Result<ArrayRef> {
        let array = self
            .optional(name, data_type)?
            .ok_or_else(|| self.invalid(name, "expected, but absent".into()))?;
        if array.null_count() > 0 {
            return Err(self.invalid(name, "expected values without nulls".into()));
        }
        Ok(array)
    }

    /// A column cast to `data_type`, if the batch has it.
    ///
    /// # Errors
    /// `InvalidArgument` naming the column whose type cannot be cast.
    pub(crate) fn optional(&self, name: &str, data_type: &DataType) -> Result<Option<ArrayRef>> {
        let Some(array) = self.batch.column_by_name(name) else { return Ok(None) };
        if array.data_type() == data_type {
            return Ok(Some(Arc::clone(array)));
        }
        cast(array, data_type).map(Some).map_err(|error| self.invalid(name, error.to_string()))
    }

    fn invalid(&self, name: &str, reason: String) -> crate::Error {
        FormatError::invalid(self.what, format!("column {name}: {reason}")).into()
    }
}

fn int_list() -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Int32, true)))
}

/// The text of one row of a string column.
pub(crate) fn text(array: &ArrayRef, row: usize) -> String {
    array.as_string::<i32>().value(row).to_owned()
}

fn ints(array: Option<&ArrayRef>, row: usize) -> Vec<i32> {
    match array.filter(|array| array.is_valid(row)) {
        Some(array) => {
            array.as_list::<i32>().value(row).as_primitive::<Int32Type>().values().to_vec()
        }
        None => vec![],
    }
}

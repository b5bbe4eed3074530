//! Columns of batches that describe files and rows.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use icefloe_format::Error as FormatError;

use crate::error::Result;

/// Return a column without nulls, cast to a type.
///
/// # Errors
/// `Mismatch` for a batch without such a column.
pub(super) fn plain_column(batch: &RecordBatch, name: &str, wanted: &DataType) -> Result<ArrayRef> {
    let mismatch = |found: String| FormatError::Mismatch {
        column: name.to_owned(),
        found,
        expected: format!("{wanted} without nulls"),
    };
    let Some(found) = batch.column_by_name(name) else {
        return Err(mismatch("no such column".into()).into());
    };
    if found.logical_null_count() > 0 {
        return Err(mismatch(format!("{} with nulls", found.data_type())).into());
    }
    cast(found, wanted).map_err(|error| mismatch(error.to_string()).into())
}

//! Columns of entries, concatenated or copied.
//!
//! Most plans need no statistics, and some columns are null in most tables: null columns are not copied.

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::take::take;
use icefloe_format::Error as FormatError;

use crate::error::Error;

/// Return the rows of all `batches`, which are of `schema`, in order.
pub(super) fn concatenated(
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<RecordBatch, ArrowError> {
    if let [only] = batches {
        return Ok(only.clone());
    }
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let columns = schema.fields().iter().enumerate().map(|(index, field)| {
        let parts: Vec<&dyn Array> =
            batches.iter().map(|batch| batch.column(index).as_ref()).collect();
        if parts.iter().all(|part| is_null(*part)) {
            return Ok(new_null_array(field.data_type(), rows));
        }
        concat(&parts)
    });
    RecordBatch::try_new(SchemaRef::clone(schema), columns.collect::<Result<_, _>>()?)
}

/// Return the rows in buffers of exactly their size.
pub(super) fn compacted(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let rows = u32::try_from(batch.num_rows()).unwrap_or(u32::MAX);
    let rows = UInt32Array::from_iter_values(0..rows);
    let columns = batch.columns().iter().map(|column| -> Result<ArrayRef, ArrowError> {
        match is_null(column) {
            true => Ok(new_null_array(column.data_type(), column.len())),
            false => take(column, &rows, None),
        }
    });
    RecordBatch::try_new(batch.schema(), columns.collect::<Result<_, _>>()?)
}

fn is_null(array: &dyn Array) -> bool {
    array.null_count() == array.len()
}

/// Return an Arrow error of concatenating or copying entries.
pub(super) fn invalid(error: arrow_schema::ArrowError) -> Error {
    FormatError::invalid("entries", error.to_string()).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::sync::Arc;

    use arrow_array::{Int32Array, ListArray};
    use arrow_schema::DataType;
    use icefloe_format::manifest::entry_schema;

    use super::*;

    fn lists(values: &[Option<i32>]) -> ArrayRef {
        let lists = values.iter().map(|value| value.map(|value| [Some(value)]));
        Arc::new(ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(lists))
    }

    fn batch(numbers: &[Option<i32>], items: &[Option<i32>]) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int32Array::from(numbers.to_vec()));
        RecordBatch::try_from_iter_with_nullable([
            ("numbers", numbers, true),
            ("items", lists(items), true),
        ])
        .unwrap()
    }

    #[test]
    fn rows_follow_each_other_whether_null_or_not() {
        let parts = [batch(&[None, None], &[None, None]), batch(&[Some(1), None], &[None, None])];
        let all = concatenated(&parts[0].schema(), &parts).unwrap();
        let expected = batch(&[None, None, Some(1), None], &[None, None, None, None]);
        assert_eq!((&all, compacted(&all).unwrap()), (&expected, expected.clone()));
    }

    #[test]
    fn columns_of_nulls_release_their_source() {
        let items = lists(&[Some(1), Some(2), None]).slice(2, 1);
        let batch = RecordBatch::try_from_iter_with_nullable([("items", items, true)]).unwrap();
        let copied = compacted(&batch).unwrap();
        assert_eq!(copied, batch);
        assert!(copied.get_array_memory_size() < batch.get_array_memory_size());
    }

    #[test]
    fn absence_of_batches_is_one_batch_without_rows() {
        let empty = concatenated(&entry_schema(), &[]).unwrap();
        assert_eq!((empty.num_rows(), empty.schema()), (0, entry_schema()));
        assert_eq!(empty.column(0).data_type(), &DataType::Int32);
    }
}

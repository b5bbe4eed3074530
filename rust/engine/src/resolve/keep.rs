//! Filtering batches by masks that drop few and scattered rows.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{
    Array, ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    downcast_primitive_array,
};
use arrow_buffer::{BooleanBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use arrow_select::filter::{FilterBuilder, FilterPredicate};

/// Rows of one word of a mask.
const WORD_ROWS: usize = 64;

/// Return the rows of a batch whose bit is set. Words of all ones are copied at once, others without branches.
///
/// # Errors
/// For a mask of another length than the batch.
pub(crate) fn keep_rows(
    batch: &RecordBatch,
    mask: &BooleanBuffer,
) -> Result<RecordBatch, ArrowError> {
    let others = FilterBuilder::new(&BooleanArray::new(mask.clone(), None)).optimize().build();
    let columns = batch.columns().iter().map(|column| keep(column, mask, &others));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(others.count()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
}

/// Return the values of an array whose bit is set. `others` selects the same rows.
///
/// # Errors
/// For a mask of another length than the array.
pub(crate) fn keep(
    array: &ArrayRef,
    mask: &BooleanBuffer,
    others: &FilterPredicate,
) -> Result<ArrayRef, ArrowError> {
    if array.null_count() > 0 || array.len() != mask.len() {
        return others.filter(array);
    }
    let array = array.as_ref();
    downcast_primitive_array!(
        array => Ok(Arc::new(values(array, mask, others.count()))),
        _ => others.filter(array)
    )
}

fn values<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    mask: &BooleanBuffer,
    count: usize,
) -> PrimitiveArray<T> {
    let mut values: Vec<T::Native> = Vec::with_capacity(count);
    let words = mask.bit_chunks();
    for (word, rows) in words.iter_padded().zip(array.values().chunks(WORD_ROWS)) {
        if word == u64::MAX && rows.len() == WORD_ROWS {
            values.extend_from_slice(rows);
            continue;
        }
        // The next value overwrites a dropped one, so no branch depends on the mask.
        let mut together = [T::Native::default(); WORD_ROWS];
        let mut next = 0;
        for (row, value) in rows.iter().enumerate() {
            together[next % WORD_ROWS] = *value;
            next += (word >> row) as usize & 1;
        }
        values.extend_from_slice(&together[..next]);
    }
    PrimitiveArray::new(ScalarBuffer::from(values), None).with_data_type(array.data_type().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Decimal128Array, Int64Array, StringViewArray, TimestampMicrosecondArray};
    use arrow_select::filter::filter_record_batch;

    #[test]
    fn keep_rows_agrees_with_the_filter_of_arrow() {
        let numbers = || 0..1_000_i64;
        let decimals = Decimal128Array::from_iter_values(numbers().map(i128::from));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("plain", Arc::new(Int64Array::from_iter_values(numbers()))),
            (
                "nulls",
                Arc::new(numbers().map(|n| (n % 3 > 0).then_some(n)).collect::<Int64Array>()),
            ),
            (
                "zone",
                Arc::new(
                    TimestampMicrosecondArray::from_iter_values(numbers()).with_timezone("UTC"),
                ),
            ),
            ("decimal", Arc::new(decimals.with_precision_and_scale(9, 2).unwrap())),
            ("text", Arc::new(StringViewArray::from_iter_values(numbers().map(|n| n.to_string())))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let masks: [fn(usize) -> bool; 5] =
            [|_| true, |_| false, |n| n % 17 != 3, |n| n > 700, |n| n % 64 == 63];
        for (mask, start) in masks.iter().zip([0, 1, 64, 77, 999]) {
            let batch = batch.slice(start, 1_000 - start);
            let all = BooleanBuffer::collect_bool(1_000, mask).slice(start, 1_000 - start);
            let expected = filter_record_batch(&batch, &BooleanArray::new(all.clone(), None));
            assert_eq!(keep_rows(&batch, &all).unwrap(), expected.unwrap());
        }
    }
}

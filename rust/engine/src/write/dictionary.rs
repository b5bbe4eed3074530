//! The choice of columns to dictionary-encode.
//!
//! The writer drops a dictionary that outgrows its page after hashing every value up to there, in every row group of
//! every file. A sample of the first rows predicts it.

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use hashbrown::HashSet;

/// Sampled rows, spread evenly over a batch since neighbours are often equal.
const SAMPLE_ROWS: usize = 4096;
/// The least rows to sample.
const LEAST_ROWS: usize = 1024;
/// Bytes of the length before each string in Parquet.
const LENGTH_BYTES: usize = 4;

/// Return the positions of the top-level columns whose dictionary would outgrow `limit_bytes`.
pub(super) fn outgrowing(batch: &RecordBatch, limit_bytes: u64) -> Vec<usize> {
    if batch.num_rows() < LEAST_ROWS {
        return Vec::new();
    }
    let stride = batch.num_rows().div_ceil(SAMPLE_ROWS);
    let rows = (0..batch.num_rows()).step_by(stride);
    let rows: UInt32Array = rows.map(|row| u32::try_from(row).ok()).collect();
    let columns = batch.columns().iter().enumerate();
    columns
        .filter(|(_, column)| is_flat(column.data_type()))
        .filter(|(_, column)| {
            // A column that cannot be sampled is dictionary-encoded.
            dictionary_bytes(column, &rows).is_ok_and(|bytes| bytes > limit_bytes)
        })
        .map(|(position, _)| position)
        .collect()
}

fn is_flat(data_type: &DataType) -> bool {
    !data_type.is_nested() && !matches!(data_type, DataType::Dictionary(..) | DataType::Boolean)
}

/// Return the estimated size of a dictionary of all values, from the values at sampled rows.
fn dictionary_bytes(column: &ArrayRef, rows: &UInt32Array) -> Result<u64, ArrowError> {
    let sample = take(column, rows, None)?;
    let values = sample.len() - sample.null_count();
    let converter = RowConverter::new(vec![SortField::new(sample.data_type().clone())])?;
    let encoded = converter.convert_columns(std::slice::from_ref(&sample))?;
    let nulls = usize::from(sample.null_count() > 0);
    let distinct = encoded.iter().map(|row| row.data().to_vec()).collect::<HashSet<_>>().len();
    let bytes = match sample.data_type().primitive_width() {
        Some(width) => width.min(8),
        None => sample.get_array_memory_size() / values.max(1) + LENGTH_BYTES,
    };
    let distinct = estimate_distinct(values, distinct - nulls.min(distinct));
    Ok(distinct.saturating_mul(u64::try_from(bytes).unwrap_or(u64::MAX)))
}

/// Return the number of values, if drawing `drawn` of them gave `distinct` different ones:
/// `distinct = all * (1 - exp(-drawn / all))`, solved by bisection.
fn estimate_distinct(drawn: usize, distinct: usize) -> u64 {
    const MOST: f64 = 1e12;
    let (drawn, distinct) = (count(drawn), count(distinct));
    let (mut low, mut high) = (distinct.max(1.0), MOST);
    if drawn - distinct < 1.0 {
        return u64::MAX;
    }
    while high / low > 1.01 {
        let middle = (low * high).sqrt();
        if middle * -(-drawn / middle).exp_m1() < distinct {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Bisection stays between one and `MOST`.
    format!("{high:.0}").parse().unwrap_or(u64::MAX)
}

fn count(value: usize) -> f64 {
    u32::try_from(value).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_is_near_the_number_that_was_drawn_from() {
        for all in [100u64, 10_000, 300_000] {
            let mut seen = HashSet::new();
            let mut state = 7u64;
            for _ in 0..4096 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                seen.insert((state >> 33) % all);
            }
            let estimate = estimate_distinct(4096, seen.len());
            assert!(estimate >= all / 2 && estimate <= all * 2, "{all}: {estimate}");
        }
        assert_eq!(estimate_distinct(4096, 4096), u64::MAX);
    }
}

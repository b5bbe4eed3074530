//! The rank of a value among the quantiles of a sample.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType};

use super::row_prefix::{PREFIX_BYTES, row_prefix};
use crate::{Error, Result};

/// The most buckets of prefixes.
const MOST_BUCKETS: usize = 1 << 16;

/// The quantiles of one column.
#[derive(Debug)]
pub struct Ranks {
    converter: RowConverter,
    data_type: DataType,
    /// The first bytes of each quantile, in ascending order.
    prefixes: Prefixes,
    /// Whether equal prefixes are equal values.
    is_short: bool,
    /// The quantiles in Arrow's row format, distinct and in ascending order.
    quantiles: Vec<Box<[u8]>>,
}

impl Ranks {
    /// Choose at most `2^bits - 2` quantiles from a sample of the column's values. Nulls are ignored.
    ///
    /// # Errors
    /// `Unsupported` for a type without an order.
    pub fn new(sample: &ArrayRef, bits: u32) -> Result<Self> {
        let data_type = sample.data_type().clone();
        if data_type.is_nested() {
            return Err(Error::unsupported(format!("a curve over a column of type {data_type}")));
        }
        let converter =
            RowConverter::new(vec![SortField::new(data_type.clone())]).map_err(refused)?;
        let rows = converter.convert_columns(std::slice::from_ref(sample)).map_err(refused)?;
        let nulls = sample.logical_nulls();
        let is_valid = |row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(*row));
        let mut sorted: Vec<&[u8]> =
            (0..sample.len()).filter(is_valid).map(|row| rows.row(row).data()).collect();
        sorted.sort_unstable();
        let quantiles = quantiles(&sorted, bits);
        let prefixes = Prefixes::new(quantiles.iter().map(|row| row_prefix(row)).collect());
        // A row is a byte for null, then the value.
        let is_short = data_type.primitive_width().is_some_and(|width| width < PREFIX_BYTES);
        Ok(Self { converter, data_type, prefixes, is_short, quantiles })
    }

    /// Return the number of bits that hold every rank, at least 1.
    pub fn bits(&self) -> u32 {
        let highest = self.quantiles.len() + 1;
        usize::BITS - highest.leading_zeros()
    }

    /// Return the rank of each value: 0 for null, else 1 and the number of quantiles up to the value.
    ///
    /// # Errors
    /// `Mismatch` for a column of another type than the sample's.
    pub fn of(&self, column: &ArrayRef) -> Result<Vec<u32>> {
        if *column.data_type() != self.data_type {
            return Err(Error::Mismatch {
                column: "curve".into(),
                found: column.data_type().to_string(),
                expected: self.data_type.to_string(),
            });
        }
        let rows = self.converter.convert_columns(std::slice::from_ref(column)).map_err(refused)?;
        let nulls = column.logical_nulls();
        let rank = |row: usize| match &nulls {
            Some(nulls) if nulls.is_null(row) => 0,
            _ => 1 + self.quantiles_up_to(&rows, row),
        };
        Ok((0..column.len()).map(rank).collect())
    }

    fn quantiles_up_to(&self, rows: &Rows, row: usize) -> u32 {
        let value = rows.row(row);
        let value = value.data();
        let same = self.prefixes.equal_to(row_prefix(value));
        let found = if self.is_short {
            same.end
        } else {
            // Longer values may share their prefix.
            let quantiles = self.quantiles.get(same.clone()).unwrap_or_default();
            same.start + quantiles.partition_point(|quantile| **quantile <= *value)
        };
        u32::try_from(found).unwrap_or(u32::MAX - 1)
    }
}

/// Ascending numbers, found by a table of the first number in each of many ranges of equal width: a binary search over
/// all numbers misses the processor's cache at most of its steps.
#[derive(Debug)]
struct Prefixes {
    numbers: Vec<u128>,
    least: u128,
    /// The width of a range is `2^shift`.
    shift: u32,
    /// The position of the first number of each range, and of the end.
    starts: Vec<usize>,
}

impl Prefixes {
    fn new(numbers: Vec<u128>) -> Self {
        let least = numbers.first().copied().unwrap_or(0);
        let span = numbers.last().map_or(0, |last| last - least);
        let buckets = (2 * numbers.len()).next_power_of_two().min(MOST_BUCKETS);
        let shift = (u128::BITS - span.leading_zeros()).saturating_sub(buckets.trailing_zeros());
        let mut starts = vec![0; buckets + 1];
        for number in &numbers {
            if let Some(count) = starts.get_mut(bucket(number - least, shift, buckets) + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        Self { numbers, least, shift, starts }
    }

    /// Return the positions of the numbers equal to `wanted`; an empty range is at the first greater number.
    fn equal_to(&self, wanted: u128) -> Range<usize> {
        let Some(offset) = wanted.checked_sub(self.least) else { return 0..0 };
        let bucket = bucket(offset, self.shift, self.starts.len() - 1);
        let (from, to) = (self.starts[bucket], self.starts[bucket + 1]);
        let near = &self.numbers[from..to];
        let below = near.partition_point(|number| *number < wanted);
        let same = near[below..].partition_point(|number| *number == wanted);
        from + below..from + below + same
    }
}

/// Return the range of a number; the last one for numbers above all ranges.
fn bucket(offset: u128, shift: u32, buckets: usize) -> usize {
    usize::try_from(offset.checked_shr(shift).unwrap_or(0)).unwrap_or(usize::MAX).min(buckets - 1)
}

/// Return the distinct values among the values at even distances.
fn quantiles(sorted: &[&[u8]], bits: u32) -> Vec<Box<[u8]>> {
    let most = (1_usize << bits.clamp(1, 24)).saturating_sub(2).max(1);
    let count = sorted.len().min(most);
    let mut chosen: Vec<Box<[u8]>> = Vec::with_capacity(count);
    for index in 0..count {
        let value = sorted[index * sorted.len() / count];
        if chosen.last().is_none_or(|last| **last != *value) {
            chosen.push(value.into());
        }
    }
    chosen
}

fn refused(error: ArrowError) -> Error {
    Error::invalid("curve", error.to_string())
}

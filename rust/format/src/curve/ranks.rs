//! The rank of a value among the quantiles of a sample.

use arrow_array::{Array, ArrayRef};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType};

use crate::{Error, Result};

/// Bytes of a row that are compared as one number.
const PREFIX_BYTES: usize = 16;

/// The quantiles of one column.
#[derive(Debug)]
pub struct Ranks {
    converter: RowConverter,
    data_type: DataType,
    /// The first bytes of each quantile, in ascending order.
    prefixes: Vec<u128>,
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
        let prefixes = quantiles.iter().map(|quantile| prefix(quantile)).collect();
        Ok(Self { converter, data_type, prefixes, quantiles })
    }

    /// The number of bits that hold every rank, at least 1.
    pub fn bits(&self) -> u32 {
        let highest = self.quantiles.len() + 1;
        usize::BITS - highest.leading_zeros()
    }

    /// The rank of each value: 0 for null, else 1 and the number of quantiles up to the value.
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
        let wanted = prefix(value);
        let first = self.prefixes.partition_point(|prefix| *prefix < wanted);
        let end = self.prefixes.partition_point(|prefix| *prefix <= wanted);
        // Longer values may share their prefix.
        let same = self.quantiles.get(first..end).unwrap_or_default();
        let found = first + same.partition_point(|quantile| **quantile <= *value);
        u32::try_from(found).unwrap_or(u32::MAX - 1)
    }
}

/// Distinct values at even distances.
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

/// The first bytes as a number that orders as they do, padded with zeros.
fn prefix(row: &[u8]) -> u128 {
    let mut bytes = [0; PREFIX_BYTES];
    let length = row.len().min(PREFIX_BYTES);
    bytes[..length].copy_from_slice(&row[..length]);
    u128::from_be_bytes(bytes)
}

fn refused(error: ArrowError) -> Error {
    Error::invalid("curve", error.to_string())
}

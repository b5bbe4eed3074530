//! Keys of rows as hashes: rows with equal keys have equal hashes on both sides of a join.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_buffer::NullBuffer;
use arrow_cast::cast;
use arrow_schema::DataType;
use icefloe_format::Error as FormatError;
use icefloe_format::changelog::RowHasher;

use crate::error::Result;
use crate::runtime::environment;

/// Hashes the keys of rows; one value serves both sides of a join.
#[derive(Debug)]
pub(super) struct KeyHasher {
    hasher: RowHasher,
    /// For each key column, whether null equals null.
    null_safe: Vec<bool>,
}

/// The hashes of some rows.
pub(super) struct HashedKeys {
    pub(super) hashes: Vec<u128>,
    /// The rows that can match: no key column that compares with `=` is null. `None` stands for all rows.
    matchable: Option<NullBuffer>,
}

impl HashedKeys {
    pub(super) fn can_match(&self, row: usize) -> bool {
        self.matchable.as_ref().is_none_or(|rows| rows.is_valid(row))
    }
}

impl KeyHasher {
    pub(super) fn new(null_safe: Vec<bool>) -> Self {
        Self { hasher: RowHasher::new(environment::random_key()), null_safe }
    }

    /// Return the number of key columns.
    pub(super) fn width(&self) -> usize {
        self.null_safe.len()
    }

    /// # Errors
    /// `InvalidArgument` for another number of columns, or a type that cannot be compared.
    pub(super) fn hash(&self, columns: &[ArrayRef], rows: usize) -> Result<HashedKeys> {
        if columns.len() != self.width() {
            let reason = format!("expected {} columns, got {}", self.width(), columns.len());
            return Err(FormatError::invalid("keys", reason).into());
        }
        let columns = columns.iter().map(comparable).collect::<Result<Vec<_>>>()?;
        let matchable = columns
            .iter()
            .zip(&self.null_safe)
            .filter(|(_, null_safe)| !**null_safe)
            .fold(None, |nulls, (column, _)| {
                NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref())
            });
        Ok(HashedKeys { hashes: self.hasher.hash(&columns, rows)?, matchable })
    }
}

/// Return a column whose equal values have equal bytes: views and large values as plain ones, one NaN, and 0.0 for
/// -0.0.
fn comparable(column: &ArrayRef) -> Result<ArrayRef> {
    let plain = match column.data_type() {
        DataType::Utf8View | DataType::LargeUtf8 => DataType::Utf8,
        DataType::BinaryView | DataType::LargeBinary => DataType::Binary,
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        DataType::Float32 => return Ok(one_zero_one_nan::<Float32Type>(column)),
        DataType::Float64 => return Ok(one_zero_one_nan::<Float64Type>(column)),
        _ => return Ok(Arc::clone(column)),
    };
    let cannot = |error: arrow_schema::ArrowError| FormatError::invalid("keys", error.to_string());
    Ok(cast(column, &plain).map_err(cannot)?)
}

fn one_zero_one_nan<T: ArrowPrimitiveType>(column: &ArrayRef) -> ArrayRef
where
    T::Native: Canonical,
{
    Arc::new(column.as_primitive::<T>().unary::<_, T>(Canonical::canonical))
}

trait Canonical: Copy {
    fn canonical(self) -> Self;
}

macro_rules! canonical {
    ($kind:ty, $nan:expr, $zero:expr) => {
        impl Canonical for $kind {
            fn canonical(self) -> Self {
                if self.is_nan() { $nan } else { self + $zero }
            }
        }
    };
}

canonical!(f32, Self::NAN, 0.0);
canonical!(f64, Self::NAN, 0.0);

pub(super) fn words_of(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

pub(super) fn hash_of(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

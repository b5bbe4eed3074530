//! Keys of rows as hashes: rows with equal keys have equal hashes on both sides of a join.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, downcast_primitive_array};
use arrow_buffer::{NullBuffer, ToByteSlice};
use arrow_cast::cast;
use arrow_schema::DataType;
use foldhash::fast::RandomState;
use icefloe_format::Error as FormatError;
use icefloe_format::changelog::RowHasher;

use crate::error::Result;
use crate::runtime::environment;

/// Hashes the keys of rows; one value serves both sides of a join.
#[derive(Debug)]
pub(super) struct KeyHasher {
    hasher: RowHasher,
    words: RandomState,
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
        let hasher = RowHasher::new(environment::random_key());
        Self { hasher, words: RandomState::default(), null_safe }
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
        let hashes = match columns.as_slice() {
            [column] if is_word(column.data_type()) => self.hashes_of_words(column),
            columns => self.hasher.hash(columns, rows)?,
        };
        Ok(HashedKeys { hashes, matchable })
    }

    /// Return the hashes of a column whose values have at most 8 bytes: the high word is the value, so different values
    /// have different hashes. The low word of a null is the complement of the low word of zero.
    fn hashes_of_words(&self, column: &ArrayRef) -> Vec<u128> {
        let zero = self.words.hash_one(0_u64);
        let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let hash = |word: u64| hash_of(self.words.hash_one(word), word);
        downcast_primitive_array! {
            column => {
                let words = column.values().iter().map(|value| word_of(value.to_byte_slice()));
                match nulls {
                    None => words.map(hash).collect(),
                    Some(nulls) => words
                        .zip(nulls.iter())
                        .map(|(word, valid)| if valid { hash(word) } else { hash_of(!zero, 0) })
                        .collect(),
                }
            }
            // `is_word` admits primitive types alone.
            _ => Vec::new(),
        }
    }
}

fn is_word(kind: &DataType) -> bool {
    kind.primitive_width().is_some_and(|width| width <= size_of::<u64>())
}

/// Return up to 8 bytes as a number.
#[inline]
fn word_of(bytes: &[u8]) -> u64 {
    if let Ok(bytes) = bytes.try_into() {
        return u64::from_le_bytes(bytes);
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use arrow_array::{Int32Array, Int64Array};

    use super::*;

    fn hashes(hasher: &KeyHasher, column: ArrayRef) -> Vec<u128> {
        let rows = column.len();
        hasher.hash(&[column], rows).unwrap().hashes
    }

    #[test]
    fn different_words_and_null_have_different_hashes() {
        let hasher = KeyHasher::new(vec![true]);
        let values = [Some(0), None, Some(-1), Some(i64::MAX), Some(1 << 40), None, Some(0)];
        let found = hashes(&hasher, Arc::new(Int64Array::from(values.to_vec())));
        assert_eq!((found[0], found[1]), (found[6], found[5]));
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), 5);
        let narrow = hashes(&hasher, Arc::new(Int32Array::from(vec![Some(0), None, Some(7)])));
        assert_eq!(narrow[..2], found[..2]);
    }

    #[test]
    fn low_words_of_neighbours_differ() {
        let hasher = KeyHasher::new(vec![false]);
        let found = hashes(&hasher, Arc::new(Int64Array::from_iter_values(0..4096)));
        let low: HashSet<u64> = found.iter().map(|hash| words_of(*hash)[0]).collect();
        assert_eq!(low.len(), 4096);
    }
}

//! Hashes of rows, column by column.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, downcast_primitive_array};
use arrow_buffer::{NullBuffer, ToByteSlice};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};
use uuid::Uuid;

use crate::error::{Error, Result};

type Lanes = [u64; 2];

/// Hashes rows to 128 bits. Those of one hasher are equal where rows are, and those of two have nothing in common.
#[derive(Debug, Clone)]
pub struct RowHasher {
    seeds: Lanes,
    factors: Lanes,
    null: Lanes,
}

impl Default for RowHasher {
    fn default() -> Self {
        Self::new()
    }
}

impl RowHasher {
    /// A hasher at random.
    pub fn new() -> Self {
        let random = || <[u64; 2]>::from(Uuid::new_v4().as_u64_pair());
        // A random UUID has some bits that are not; those of its other half are mixed in.
        let mixed = || {
            let ([first, second], [third, fourth]) = (random(), random());
            [first ^ fourth.rotate_left(32), second.rotate_left(32) ^ third]
        };
        Self { seeds: mixed(), factors: mixed().map(|factor| factor | 1), null: mixed() }
    }

    /// The hash of each row of some columns of `row_count` values.
    ///
    /// # Errors
    /// `InvalidArgument` where a column is of another length or cannot be compared.
    pub fn hash(&self, columns: &[ArrayRef], row_count: usize) -> Result<Vec<u128>> {
        let mut hashes = vec![self.seeds; row_count];
        for column in columns {
            if column.len() != row_count {
                return Err(invalid(format!("{} values beside {row_count} rows", column.len())));
            }
            self.add(&mut hashes, column)?;
        }
        let joined = hashes.into_iter();
        Ok(joined.map(|[low, high]| u128::from(high) << 64 | u128::from(low)).collect())
    }

    fn add(&self, hashes: &mut [Lanes], column: &ArrayRef) -> Result<()> {
        let nulls = column.logical_nulls();
        let nulls = nulls.as_ref();
        let rows = 0..column.len();
        downcast_primitive_array! {
            column => {
                let values = column.values().iter().map(|value| value.to_byte_slice());
                self.add_values::<true>(hashes, nulls, values);
            }
            DataType::Boolean => {
                let bits = column.as_boolean().values().iter().map(u8::from);
                let bytes = bits.collect::<Vec<_>>();
                self.add_values::<true>(hashes, nulls, bytes.chunks_exact(1));
            }
            DataType::FixedSizeBinary(_) => {
                let array = column.as_fixed_size_binary();
                self.add_values::<true>(hashes, nulls, rows.map(|row| array.value(row)));
            }
            DataType::Utf8 => {
                let array = column.as_string::<i32>();
                self.add_values::<false>(hashes, nulls, rows.map(|row| array.value(row).as_bytes()));
            }
            DataType::Binary => {
                let array = column.as_binary::<i32>();
                self.add_values::<false>(hashes, nulls, rows.map(|row| array.value(row)));
            }
            _ => self.add_encoded(hashes, column)?,
        }
        Ok(())
    }

    /// Nested columns, and those of other encodings, by what the row format makes of them.
    fn add_encoded(&self, hashes: &mut [Lanes], column: &ArrayRef) -> Result<()> {
        let cannot = |error: ArrowError| invalid(error.to_string());
        let field = SortField::new(column.data_type().clone());
        let converter = RowConverter::new(vec![field]).map_err(cannot)?;
        let rows = converter.convert_columns(&[ArrayRef::clone(column)]).map_err(cannot)?;
        for (hash, row) in hashes.iter_mut().zip(&rows) {
            *hash = self.mixed::<false>(*hash, row.as_ref());
        }
        Ok(())
    }

    #[inline]
    fn add_values<'a, const FIXED: bool>(
        &self,
        hashes: &mut [Lanes],
        nulls: Option<&NullBuffer>,
        values: impl Iterator<Item = &'a [u8]>,
    ) {
        let Some(nulls) = nulls else {
            for (hash, value) in hashes.iter_mut().zip(values) {
                *hash = self.mixed::<FIXED>(*hash, value);
            }
            return;
        };
        for ((hash, value), valid) in hashes.iter_mut().zip(values).zip(nulls) {
            *hash =
                if valid { self.mixed::<FIXED>(*hash, value) } else { self.word(*hash, self.null) };
        }
    }

    /// Mix a value into a hash; with its length unless all values of the column have the same.
    #[inline]
    fn mixed<const FIXED: bool>(&self, mut hash: Lanes, bytes: &[u8]) -> Lanes {
        let mut rest = bytes;
        while let Some((word, after)) = rest.split_first_chunk::<8>() {
            hash = self.word(hash, [u64::from_le_bytes(*word); 2]);
            rest = after;
        }
        if !rest.is_empty() {
            let last = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            hash = self.word(hash, [last; 2]);
        }
        if FIXED { hash } else { self.word(hash, [bytes.len() as u64; 2]) }
    }

    #[inline]
    fn word(&self, hash: Lanes, word: Lanes) -> Lanes {
        let folded = |left: u64, right: u64| {
            let product = u128::from(left) * u128::from(right);
            product as u64 ^ (product >> 64) as u64
        };
        let [low, high] = hash;
        let [first, second] = self.factors;
        // The lane itself comes back in, so that a product of zero does not forget what came before.
        [
            folded(low ^ word[0], first).wrapping_add(low.rotate_left(23)),
            folded(high ^ word[1], second).wrapping_add(high.rotate_left(41)),
        ]
    }
}

fn invalid(reason: String) -> Error {
    Error::invalid("rows", reason)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use arrow_array::builder::{Int32Builder, ListBuilder};
    use arrow_array::{
        BinaryArray, BooleanArray, Float64Array, Int64Array, StringArray, StringViewArray,
    };

    use super::*;

    #[test]
    fn equal_rows_have_equal_hashes_and_others_do_not() {
        let mut lists = ListBuilder::new(Int32Builder::new());
        lists.append_value([Some(1), None]);
        lists.append_value([Some(1)]);
        lists.append_null();
        lists.append_value([Some(1), None]);
        let columns: [ArrayRef; 6] = [
            Arc::new(Int64Array::from(vec![Some(0), Some(1), None, Some(0)])),
            Arc::new(Float64Array::from(vec![0.0, -0.0, 1.0, 0.0])),
            Arc::new(StringArray::from(vec![Some(""), Some("a"), None, Some("")])),
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)])),
            Arc::new(StringViewArray::from(vec![
                "more than twelve bytes",
                "b",
                "c",
                "more than twelve bytes",
            ])),
            Arc::new(lists.finish()),
        ];
        let hasher = RowHasher::new();
        for column in &columns {
            let hashes = hasher.hash(std::slice::from_ref(column), 4).unwrap();
            assert_eq!(hashes[0], hashes[3], "{}", column.data_type());
            assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), 3, "{}", column.data_type());
        }
        assert_ne!(hasher.hash(&columns, 4).unwrap(), RowHasher::new().hash(&columns, 4).unwrap());
    }

    #[test]
    fn values_do_not_run_together() {
        let bytes = |values: [&[u8]; 3]| Arc::new(BinaryArray::from(values.to_vec())) as ArrayRef;
        let (first, second) = (bytes([b"ab", b"a", b"a\0"]), bytes([b"c", b"bc", b"c"]));
        let hashes = RowHasher::new().hash(&[first, second], 3).unwrap();
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn slices_and_no_columns() {
        let hasher = RowHasher::new();
        let whole: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
        let hashes = hasher.hash(&[ArrayRef::clone(&whole)], 3).unwrap();
        assert_eq!(hasher.hash(&[whole.slice(1, 2)], 2).unwrap(), hashes[1..]);
        assert_eq!(hasher.hash(&[], 2).unwrap().len(), 2);
        assert!(hasher.hash(&[whole], 2).is_err());
    }
}

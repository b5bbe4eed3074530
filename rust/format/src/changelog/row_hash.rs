//! Hashes of rows, column by column.
//!
//! Each row is a sequence of words: one word of validity bits per 64 columns, then the values, with a length before
//! values of variable length. Different rows have different sequences.

use std::hash::Hasher;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, downcast_primitive_array};
use arrow_buffer::{NullBuffer, ToByteSlice};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::error::{Error, Result};

/// Rows per pass, so that their states stay in the cache from column to column.
const CHUNK_ROWS: usize = 1024;
/// Columns per word of validity bits.
const GROUP_COLUMNS: usize = 64;

/// Hashes rows to 128 bits with a key. Hashes with different keys are unrelated.
#[derive(Debug, Clone)]
pub struct RowHasher {
    keyed: SipHasher13,
}

impl RowHasher {
    /// Create a hasher with a key, which must be random where an adversary chooses the rows.
    pub fn new(key: [u64; 2]) -> Self {
        Self { keyed: SipHasher13::new_with_keys(key[0], key[1]) }
    }

    /// Return the hash of each row of columns of `row_count` values.
    ///
    /// # Errors
    /// `InvalidArgument` where a column has another length or a type that cannot be compared.
    pub fn hash(&self, columns: &[ArrayRef], row_count: usize) -> Result<Vec<u128>> {
        for column in columns {
            if column.len() != row_count {
                return Err(invalid(format!(
                    "a column has another length; expected {row_count} values, got {}",
                    column.len()
                )));
            }
        }
        let columns = columns.iter().map(Column::new).collect::<Result<Vec<_>>>()?;
        let mut hashes = Vec::with_capacity(row_count);
        let mut states = Vec::with_capacity(row_count.min(CHUNK_ROWS));
        for start in (0..row_count).step_by(CHUNK_ROWS) {
            let rows = start..row_count.min(start + CHUNK_ROWS);
            states.clear();
            states.resize(rows.len(), self.keyed);
            for group in columns.chunks(GROUP_COLUMNS) {
                add_valid(group, rows.clone(), &mut states);
                for column in group {
                    column.add(rows.clone(), &mut states);
                }
            }
            hashes.extend(states.iter().map(|state| state.finish128().as_u128()));
        }
        Ok(hashes)
    }
}

/// Add the validity bits of each row.
fn add_valid(columns: &[Column], rows: Range<usize>, states: &mut [SipHasher13]) {
    let nullable = columns.iter().zip(0_u32..).filter_map(|(column, bit)| {
        let nulls = column.nulls.as_ref().filter(|nulls| nulls.null_count() > 0);
        nulls.map(|nulls| (nulls, bit))
    });
    let nullable = nullable.collect::<Vec<_>>();
    for (state, row) in states.iter_mut().zip(rows) {
        let null =
            |word, (nulls, bit): &(&NullBuffer, u32)| word | u64::from(nulls.is_null(row)) << bit;
        state.write_u64(!nullable.iter().fold(0, null));
    }
}

struct Column {
    array: ArrayRef,
    nulls: Option<NullBuffer>,
    /// Arrow's row format of a column that is nested or encoded.
    encoded: Option<Rows>,
}

impl Column {
    fn new(array: &ArrayRef) -> Result<Self> {
        let array = ArrayRef::clone(array);
        let plain = array.data_type().is_primitive()
            || matches!(
                array.data_type(),
                DataType::Boolean
                    | DataType::FixedSizeBinary(_)
                    | DataType::Utf8
                    | DataType::Binary
                    | DataType::Null
            );
        let encoded = if plain { None } else { Some(encoded(&array)?) };
        Ok(Self { nulls: array.logical_nulls(), array, encoded })
    }

    /// Add the non-null values of some rows.
    fn add(&self, rows: Range<usize>, states: &mut [SipHasher13]) {
        let nulls = self.nulls.as_ref().filter(|nulls| nulls.null_count() > 0);
        if let Some(encoded) = &self.encoded {
            return add_texts(states, nulls, rows, |row| encoded.row(row).data());
        }
        let array = &self.array;
        downcast_primitive_array! {
            array => {
                let values = array.values();
                add_values(states, nulls, rows, |state, row| {
                    add_words(state, values[row].to_byte_slice());
                });
            }
            DataType::Boolean => {
                let bits = array.as_boolean().values();
                add_values(states, nulls, rows, |state, row| {
                    state.write_u64(u64::from(bits.value(row)));
                });
            }
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary();
                add_values(states, nulls, rows, |state, row| add_words(state, array.value(row)));
            }
            DataType::Utf8 => {
                let array = array.as_string::<i32>();
                add_texts(states, nulls, rows, |row| array.value(row).as_bytes());
            }
            DataType::Binary => {
                let array = array.as_binary::<i32>();
                add_texts(states, nulls, rows, |row| array.value(row));
            }
            _ => {}
        }
    }
}

fn encoded(column: &ArrayRef) -> Result<Rows> {
    let cannot = |error: ArrowError| invalid(error.to_string());
    let field = SortField::new(column.data_type().clone());
    let converter = RowConverter::new(vec![field]).map_err(cannot)?;
    converter.convert_columns(std::slice::from_ref(column)).map_err(cannot)
}

fn add_texts<'a>(
    states: &mut [SipHasher13],
    nulls: Option<&NullBuffer>,
    rows: Range<usize>,
    text: impl Fn(usize) -> &'a [u8],
) {
    add_values(states, nulls, rows, |state, row| {
        let text = text(row);
        state.write_u64(text.len() as u64);
        add_words(state, text);
    });
}

#[inline]
fn add_values(
    states: &mut [SipHasher13],
    nulls: Option<&NullBuffer>,
    rows: Range<usize>,
    add: impl Fn(&mut SipHasher13, usize),
) {
    for (state, row) in states.iter_mut().zip(rows) {
        if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            add(state, row);
        }
    }
}

/// Add bytes, with the last word padded with zeros.
#[inline]
fn add_words(state: &mut SipHasher13, bytes: &[u8]) {
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state.write_u64(u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        state.write_u64(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
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
        let hasher = RowHasher::new([1, 2]);
        for column in &columns {
            let hashes = hasher.hash(std::slice::from_ref(column), 4).unwrap();
            assert_eq!(hashes[0], hashes[3], "{}", column.data_type());
            assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), 3, "{}", column.data_type());
        }
        let other = RowHasher::new([1, 3]);
        assert_ne!(hasher.hash(&columns, 4).unwrap(), other.hash(&columns, 4).unwrap());
    }

    #[test]
    fn values_do_not_run_together() {
        let bytes = |values: [&[u8]; 3]| Arc::new(BinaryArray::from(values.to_vec())) as ArrayRef;
        let (first, second) = (bytes([b"ab", b"a", b"a\0"]), bytes([b"c", b"bc", b"c"]));
        let hashes = RowHasher::new([1, 2]).hash(&[first, second], 3).unwrap();
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), 3);
    }

    #[test]
    fn hashes_are_those_of_siphash_over_the_words_of_a_row() {
        let keyed = SipHasher13::new_with_keys(1, 2);
        let columns: [ArrayRef; 3] = [
            Arc::new(Int64Array::from(vec![Some(7), None])),
            Arc::new(BinaryArray::from_opt_vec(vec![Some(b"nine byte"), Some(b"")])),
            Arc::new(BooleanArray::from(vec![Some(true), None])),
        ];
        let expected = |words: &[u64]| {
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
            keyed.hash(&bytes).as_u128()
        };
        let text = u64::from_le_bytes(*b"nine byt");
        let hashes = RowHasher { keyed }.hash(&columns, 2).unwrap();
        assert_eq!(hashes[0], expected(&[u64::MAX, 7, 9, text, u64::from(b'e'), 1]));
        assert_eq!(hashes[1], expected(&[!0b101, 0]));
    }

    #[test]
    fn more_columns_than_a_word_has_bits_keep_their_nulls_apart() {
        let column = |value: Option<i64>| Arc::new(Int64Array::from(vec![value])) as ArrayRef;
        let hasher = RowHasher::new([1, 2]);
        let hashes = (0..130).map(|null| {
            let columns = (0..130).map(|place| column((place != null).then_some(1)));
            hasher.hash(&columns.collect::<Vec<_>>(), 1).unwrap()[0]
        });
        assert_eq!(hashes.collect::<HashSet<_>>().len(), 130);
    }

    #[test]
    fn slices_and_no_columns() {
        let hasher = RowHasher::new([1, 2]);
        let whole: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
        let hashes = hasher.hash(&[ArrayRef::clone(&whole)], 3).unwrap();
        assert_eq!(hasher.hash(&[whole.slice(1, 2)], 2).unwrap(), hashes[1..]);
        assert_eq!(hasher.hash(&[], 2).unwrap().len(), 2);
        assert!(hasher.hash(&[whole], 2).is_err());
    }
}

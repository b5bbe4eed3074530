//! The values of one key column of a batch, hashed and compared independently of their type.
//!
//! A cell is a word of up to 128 bits or a byte string. Floats are words of their bits, with one NaN; -0.0 and 0.0
//! differ.

use std::hash::{BuildHasher, Hasher};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use foldhash::fast::RandomState;

use crate::error::{Error, Result};
use crate::spec::{ArrowName, PrimitiveType, canonical_array};

/// The greatest length of a byte string that an Arrow view stores inline.
const INLINE_BYTES: usize = 12;

/// A non-null value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    Word(u128),
    Bytes(&'a [u8]),
}

/// The values of a column as integers. Floats are the integers of their bits.
#[derive(Clone, Copy)]
pub(super) enum Integers<'a> {
    Ints(&'a [i32]),
    Longs(&'a [i64]),
}

impl<'a> Integers<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = i64> + 'a {
        let (ints, longs): (&[i32], &[i64]) = match self {
            Self::Ints(ints) => (ints, &[]),
            Self::Longs(longs) => (&[], longs),
        };
        ints.iter().map(|value| i64::from(*value)).chain(longs.iter().copied())
    }
}

/// The cells of one column.
#[derive(Debug)]
pub(super) struct Cells {
    values: Values,
    nulls: Option<NullBuffer>,
}

#[derive(Debug)]
enum Values {
    Bits(BooleanBuffer),
    Ints(ScalarBuffer<i32>),
    Longs(ScalarBuffer<i64>),
    Wide(ScalarBuffer<i128>),
    Views(ScalarBuffer<u128>, Vec<Buffer>),
    Offsets(OffsetBuffer<i32>, Buffer),
    /// Cells of one length, concatenated.
    Fixed(usize, Buffer),
    /// The index of each row's value among the distinct values, their hashes and their cells.
    Distinct(Vec<usize>, Vec<u64>, Box<Cells>),
    Nothing,
}

impl Cells {
    /// Create the cells of an array of a field's type.
    ///
    /// # Errors
    /// `Mismatch` where the array's type does not fit.
    pub(super) fn new(
        array: &ArrayRef,
        field_type: &PrimitiveType,
        hash: &KeyHash,
    ) -> Result<Self> {
        let values = match array.data_type() {
            DataType::Utf8View if *field_type == PrimitiveType::String => {
                let array = array.as_string_view();
                Values::Views(array.views().clone(), array.data_buffers().to_vec())
            }
            DataType::BinaryView if *field_type == PrimitiveType::Binary => {
                let array = array.as_binary_view();
                Values::Views(array.views().clone(), array.data_buffers().to_vec())
            }
            DataType::Dictionary(..) if is_text(field_type) => {
                let dictionary = array.as_any_dictionary();
                if dictionary.values().len() > array.len() || dictionary.values().is_empty() {
                    return Self::canonical(array, field_type);
                }
                let distinct = Self::new(dictionary.values(), field_type, hash)?;
                let (keys, hashes) = (dictionary.normalized_keys(), distinct.value_hashes(hash));
                Values::Distinct(keys, hashes, Box::new(distinct))
            }
            _ => return Self::canonical(array, field_type),
        };
        Ok(Self { values, nulls: nulls_of(array) })
    }

    fn canonical(array: &ArrayRef, field_type: &PrimitiveType) -> Result<Self> {
        let wrong = || Error::Mismatch {
            column: "of equality deletes".to_owned(),
            found: ArrowName(array.data_type()).to_string(),
            expected: field_type.to_string(),
        };
        let array = canonical_array(array, field_type).map_err(|_| wrong())?;
        let values = canonical_values(&array, field_type).ok_or_else(wrong)?;
        Ok(Self { values, nulls: nulls_of(&array) })
    }

    /// Return the cell of a row; `None` for null.
    pub(super) fn get(&self, row: usize) -> Option<Cell<'_>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        Some(match &self.values {
            Values::Bits(bits) => Cell::Word(u128::from(bits.value(row))),
            Values::Ints(values) => Cell::Word(u128::from(values[row].cast_unsigned())),
            Values::Longs(values) => Cell::Word(u128::from(values[row].cast_unsigned())),
            Values::Wide(values) => Cell::Word(values[row].cast_unsigned()),
            Values::Distinct(keys, _, distinct) => return distinct.get(keys[row]),
            Values::Nothing => return None,
            _ => Cell::Bytes(self.bytes(row)),
        })
    }

    /// Return the values of all rows, if they are 32-bit or 64-bit words. The value of a null is undefined.
    pub(super) fn integers(&self) -> Option<Integers<'_>> {
        match &self.values {
            Values::Ints(values) => Some(Integers::Ints(values)),
            Values::Longs(values) => Some(Integers::Longs(values)),
            _ => None,
        }
    }

    /// Return which rows are null, if any is.
    pub(super) fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// Mix the cells of the rows from `start` on into one hash each.
    pub(super) fn hash(&self, start: usize, hashes: &mut [u64], hash: &KeyHash) {
        let count = hashes.len();
        match &self.values {
            Values::Bits(bits) => {
                self.mix((start, hash), hashes, (start..).map(|row| u64::from(bits.value(row))));
            }
            Values::Ints(values) => {
                let words = values[start..start + count].iter();
                self.mix(
                    (start, hash),
                    hashes,
                    words.map(|value| u64::from(value.cast_unsigned())),
                );
            }
            Values::Longs(values) => {
                let words = values[start..start + count].iter();
                self.mix((start, hash), hashes, words.map(|value| value.cast_unsigned()));
            }
            Values::Wide(values) => {
                let words = values[start..start + count].iter();
                let words = words.map(|value| hash.wide(value.cast_unsigned()));
                self.mix((start, hash), hashes, words);
            }
            Values::Views(views, _) => {
                let words = views[start..start + count].iter().zip(start..);
                let words = words.map(|(view, row)| match *view as u32 as usize {
                    0..=INLINE_BYTES => hash.wide(*view),
                    _ => hash.bytes(self.bytes(row)),
                });
                self.mix((start, hash), hashes, words);
            }
            Values::Offsets(..) | Values::Fixed(..) => {
                self.mix((start, hash), hashes, (start..).map(|row| hash.bytes(self.bytes(row))));
            }
            Values::Distinct(keys, of_values, _) => {
                let words = keys[start..start + count].iter().map(|key| of_values[*key]);
                self.mix((start, hash), hashes, words);
            }
            Values::Nothing => self.mix((start, hash), hashes, std::iter::repeat(hash.null())),
        }
    }

    fn mix(
        &self,
        (start, hash): (usize, &KeyHash),
        hashes: &mut [u64],
        words: impl Iterator<Item = u64>,
    ) {
        let Some(nulls) = &self.nulls else {
            for (row, word) in hashes.iter_mut().zip(words) {
                *row = hash.mix(*row, word);
            }
            return;
        };
        for ((of_row, word), row) in hashes.iter_mut().zip(words).zip(start..) {
            *of_row = hash.mix(*of_row, if nulls.is_valid(row) { word } else { hash.null() });
        }
    }

    /// Return the hash of each distinct byte string, or of null.
    fn value_hashes(&self, hash: &KeyHash) -> Vec<u64> {
        let rows = match &self.values {
            Values::Views(views, _) => views.len(),
            Values::Offsets(offsets, _) => offsets.len() - 1,
            _ => 0,
        };
        let hashes = (0..rows).map(|row| match self.get(row) {
            Some(Cell::Bytes(bytes)) => hash.bytes(bytes),
            _ => hash.null(),
        });
        hashes.collect()
    }

    fn bytes(&self, row: usize) -> &[u8] {
        match &self.values {
            Values::Views(views, buffers) => view_bytes(views, row, buffers),
            Values::Offsets(offsets, values) => {
                let ends = [offsets[row], offsets[row + 1]].map(|end| end.cast_unsigned() as usize);
                &values[ends[0]..ends[1]]
            }
            Values::Fixed(width, values) => &values[row * width..(row + 1) * width],
            _ => &[],
        }
    }
}

fn view_bytes<'a>(views: &'a ScalarBuffer<u128>, row: usize, buffers: &'a [Buffer]) -> &'a [u8] {
    let view = views[row];
    let length = view as u32 as usize;
    let bytes = if length <= INLINE_BYTES {
        let start = row * size_of::<u128>() + size_of::<u32>();
        views.inner().get(start..start + length)
    } else {
        let (buffer, start) = ((view >> 64) as u32 as usize, (view >> 96) as u32 as usize);
        buffers.get(buffer).and_then(|bytes| bytes.get(start..start + length))
    };
    bytes.unwrap_or_default()
}

fn is_text(field_type: &PrimitiveType) -> bool {
    matches!(field_type, PrimitiveType::String | PrimitiveType::Binary)
}

fn nulls_of(array: &ArrayRef) -> Option<NullBuffer> {
    array.logical_nulls().filter(|nulls| nulls.null_count() > 0)
}

fn canonical_values(array: &ArrayRef, field_type: &PrimitiveType) -> Option<Values> {
    use PrimitiveType as P;
    Some(match field_type {
        P::Boolean => Values::Bits(array.as_boolean_opt()?.values().clone()),
        P::Int => Values::Ints(array.as_primitive_opt::<Int32Type>()?.values().clone()),
        P::Date => Values::Ints(array.as_primitive_opt::<Date32Type>()?.values().clone()),
        P::Long => Values::Longs(array.as_primitive_opt::<Int64Type>()?.values().clone()),
        P::Time => {
            Values::Longs(array.as_primitive_opt::<Time64MicrosecondType>()?.values().clone())
        }
        P::Timestamp | P::Timestamptz => {
            Values::Longs(array.as_primitive_opt::<TimestampMicrosecondType>()?.values().clone())
        }
        P::TimestampNs | P::TimestamptzNs => {
            Values::Longs(array.as_primitive_opt::<TimestampNanosecondType>()?.values().clone())
        }
        P::Float => {
            let values = array.as_primitive_opt::<Float32Type>()?.values().iter();
            let bits = values.map(|v| if v.is_nan() { f32::NAN } else { *v }.to_bits());
            Values::Ints(bits.map(u32::cast_signed).collect())
        }
        P::Double => {
            let values = array.as_primitive_opt::<Float64Type>()?.values().iter();
            let bits = values.map(|v| if v.is_nan() { f64::NAN } else { *v }.to_bits());
            Values::Longs(bits.map(u64::cast_signed).collect())
        }
        P::Decimal { .. } => {
            Values::Wide(array.as_primitive_opt::<Decimal128Type>()?.values().clone())
        }
        P::String => {
            let array = array.as_string_opt::<i32>()?;
            Values::Offsets(array.offsets().clone(), array.values().clone())
        }
        P::Binary => {
            let array = array.as_binary_opt::<i32>()?;
            Values::Offsets(array.offsets().clone(), array.values().clone())
        }
        P::Uuid | P::Fixed(_) => {
            let array = array.as_fixed_size_binary_opt()?;
            let width = usize::try_from(array.value_length()).ok()?;
            Values::Fixed(width, array.values().clone())
        }
        P::Unknown => Values::Nothing,
    })
}

/// The word of a null.
const NULL_WORD: u64 = 0x6e75_6c6c_6e75_6c6c;

/// The hash function of one set of keys: foldhash, seeded at random.
///
/// A writer of data must not be able to choose keys that collide. Every factor of foldhash's multiplications has a part
/// that is secret to the process, so no value makes a product zero whatever the seed is. Hashes are used only within
/// their set of keys.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyHash {
    state: RandomState,
}

impl KeyHash {
    /// Return the hash of a row without columns.
    pub(super) fn start(&self) -> u64 {
        self.state.hash_one(0_u64)
    }

    /// Return the hash of a row whose only column has this word.
    pub(super) fn of_word(&self, word: u64) -> u64 {
        self.mix(self.start(), word)
    }

    /// Mix the word of a column into the hash of a row.
    fn mix(&self, hash: u64, word: u64) -> u64 {
        self.wide(u128::from(hash) | u128::from(word) << 64)
    }

    /// Return the word of a null.
    pub(super) fn null(&self) -> u64 {
        NULL_WORD
    }

    /// Return the word of a 128-bit number, or of an inline Arrow view.
    pub(super) fn wide(&self, number: u128) -> u64 {
        let mut hasher = self.state.build_hasher();
        hasher.write_u128(number);
        hasher.finish()
    }

    /// Return the word of a byte string; that of its Arrow view if the bytes are inline.
    pub(super) fn bytes(&self, bytes: &[u8]) -> u64 {
        if let Some(view) = inline_view(bytes) {
            return self.wide(view);
        }
        let mut hasher = self.state.build_hasher();
        hasher.write(bytes);
        hasher.finish()
    }
}

/// Return the Arrow view of a short byte string: its length in 4 bytes, then the bytes.
fn inline_view(bytes: &[u8]) -> Option<u128> {
    (bytes.len() <= INLINE_BYTES).then(|| bytes.len() as u128 | short_block(bytes) << 32)
}

/// Return up to 15 bytes as a number. Two overlapping loads cost less than a copy of variable length.
fn short_block(bytes: &[u8]) -> u128 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return u128::from(first) | u128::from(last) << ((bytes.len() - 8) * 8);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u128::from(first) | u128::from(last) << ((bytes.len() - 4) * 8);
    }
    bytes.iter().rev().fold(0, |block, byte| block << 8 | u128::from(*byte))
}

//! The truncate transform of values and arrays: numbers round down to a multiple of the width, strings and binaries
//! keep their first characters or bytes.

use std::num::NonZeroU32;
use std::sync::Arc;

use arrow_array::builder::GenericByteViewBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Decimal128Type, Int32Type, Int64Type,
    LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer};
use arrow_schema::DataType;

use super::blocks::{map, same_type};
use super::remainder::{Remainder31, Remainder63};
use crate::error::{Error, Result};
use crate::spec::canonical::arrow_failure;
use crate::spec::{Datum, PrimitiveType, canonical_array};

/// The truncate rule for a width.
///
/// The multiple below the least ints or longs may be out of range; it then wraps around, as in the reference
/// implementation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    units: NonZeroU32,
    /// The width as a `usize`.
    length: usize,
    remainder31: Remainder31,
    remainder63: Remainder63,
}

impl Width {
    pub(super) fn new(units: NonZeroU32) -> Self {
        Self {
            units,
            length: usize::try_from(units.get()).unwrap_or(usize::MAX),
            remainder31: Remainder31::new(units),
            remainder63: Remainder63::new(units),
        }
    }

    /// Return the width as a `usize`.
    pub(super) fn length(self) -> usize {
        self.length
    }

    #[inline(always)]
    fn of_int(self, value: i32) -> i32 {
        value.wrapping_sub_unsigned(self.remainder31.floored(value))
    }

    #[inline(always)]
    pub(super) fn of_long(self, value: i64) -> i64 {
        value.wrapping_sub_unsigned(self.remainder63.floored(value))
    }

    /// Truncate an unscaled value; the width is in its units.
    #[inline]
    fn of_decimal(self, unscaled: i128) -> i128 {
        let remainder = match i64::try_from(unscaled) {
            Ok(narrow) => i128::from(self.remainder63.floored(narrow)),
            Err(_) => unscaled.rem_euclid(i128::from(self.units.get())),
        };
        unscaled.wrapping_sub(remainder)
    }

    /// Return the first characters, counted as Unicode code points.
    #[inline]
    fn of_str(self, text: &str) -> &str {
        if text.len() <= self.length {
            return text;
        }
        match text.split_at_checked(self.length) {
            // In ASCII, bytes are characters.
            Some((head, _)) if head.is_ascii() => head,
            _ => match text.char_indices().nth(self.length) {
                Some((end, _)) => text.get(..end).unwrap_or(text),
                None => text,
            },
        }
    }

    #[inline]
    pub(super) fn of_bytes(self, bytes: &[u8]) -> &[u8] {
        bytes.get(..self.length).unwrap_or(bytes)
    }

    /// Truncate a value; `None` where the transform does not apply to its type.
    pub(super) fn of(self, value: &Datum) -> Option<Datum> {
        Some(match value {
            Datum::Int(value) => Datum::Int(self.of_int(*value)),
            Datum::Long(value) => Datum::Long(self.of_long(*value)),
            Datum::Decimal { unscaled, precision, scale } => Datum::Decimal {
                unscaled: self.of_decimal(*unscaled),
                precision: *precision,
                scale: *scale,
            },
            Datum::String(text) => Datum::String(self.of_str(text).to_owned()),
            Datum::Binary(bytes) => Datum::Binary(self.of_bytes(bytes).to_vec()),
            _ => return None,
        })
    }
}

/// The greatest length of a character in UTF-8.
const MAX_CHARACTER_BYTES: usize = 4;

/// Truncate an array without dictionary or run ends; `None` where the transform does not apply to its type.
pub(super) fn apply_array(
    width: Width,
    array: &dyn Array,
    source: &PrimitiveType,
) -> Result<Option<ArrayRef>> {
    if let Some(truncated) = byte_strings(width, array) {
        return truncated.map(Some);
    }
    let array = canonical_array(array, source)?;
    match source {
        PrimitiveType::String | PrimitiveType::Binary => byte_strings(width, &array).transpose(),
        _ => Ok(numbers(width, &array)),
    }
}

/// Truncate strings and binaries, which keep their layout.
fn byte_strings(width: Width, array: &dyn Array) -> Option<Result<ArrayRef>> {
    Some(match array.data_type() {
        DataType::Utf8 => strings(width, array.as_bytes_opt::<Utf8Type>()?),
        DataType::LargeUtf8 => strings(width, array.as_bytes_opt::<LargeUtf8Type>()?),
        DataType::Binary => binaries(width, array.as_bytes_opt::<BinaryType>()?),
        DataType::LargeBinary => binaries(width, array.as_bytes_opt::<LargeBinaryType>()?),
        DataType::Utf8View => {
            let texts = array.as_byte_view_opt::<StringViewType>()?;
            shorten_views(texts, |text| width.of_str(text))
        }
        DataType::BinaryView => {
            let values = array.as_byte_view_opt::<BinaryViewType>()?;
            shorten_views(values, |bytes| width.of_bytes(bytes))
        }
        _ => return None,
    })
}

fn strings<T: ByteArrayType<Native = str>>(
    width: Width,
    array: &GenericByteArray<T>,
) -> Result<ArrayRef> {
    if all_bytes(array).is_ascii() || !is_any_longer(array, width.length()) {
        return binaries(width, array);
    }
    let most = width.length().saturating_mul(MAX_CHARACTER_BYTES);
    shorten(array, most, |row, _| width.of_str(array.value(row)).len())
}

fn binaries<T: ByteArrayType>(width: Width, array: &GenericByteArray<T>) -> Result<ArrayRef> {
    if !is_any_longer(array, width.length()) {
        return Ok(Arc::new(array.clone()));
    }
    shorten(array, width.length(), |_, length| length.min(width.length()))
}

fn numbers(width: Width, array: &ArrayRef) -> Option<ArrayRef> {
    if let Some(ints) = array.as_primitive_opt::<Int32Type>() {
        return Some(same_type(ints, map(ints.values(), move |value| width.of_int(value))));
    }
    if let Some(longs) = array.as_primitive_opt::<Int64Type>() {
        return Some(same_type(longs, map(longs.values(), move |value| width.of_long(value))));
    }
    let decimals = array.as_primitive_opt::<Decimal128Type>()?;
    Some(same_type(decimals, map(decimals.values(), move |value| width.of_decimal(value))))
}

/// Return the start and end of each slot, including null slots.
fn ranges<T: ByteArrayType>(array: &GenericByteArray<T>) -> impl Iterator<Item = (usize, usize)> {
    let starts = array.value_offsets();
    let ends = array.value_offsets().get(1..).unwrap_or_default();
    starts.iter().zip(ends).map(|(start, end)| (start.as_usize(), end.as_usize()))
}

/// Return the bytes of all slots, including null slots.
fn all_bytes<T: ByteArrayType>(array: &GenericByteArray<T>) -> &[u8] {
    let offsets = array.value_offsets();
    let range = offsets.first().zip(offsets.last());
    let bytes =
        range.and_then(|(first, last)| array.value_data().get(first.as_usize()..last.as_usize()));
    bytes.unwrap_or_default()
}

/// Return whether any slot, including null slots, is longer than `length` bytes.
fn is_any_longer<T: ByteArrayType>(array: &GenericByteArray<T>, length: usize) -> bool {
    ranges(array).fold(false, |so_far, (start, end)| so_far | (end.wrapping_sub(start) > length))
}

/// Bytes copied at once for a shorter value: faster than a copy of the exact length.
const STRIDE: usize = 16;

/// Cut each value to the length that `head_bytes` returns for its row and length, at most `most`. Returns the same array
/// if no value is longer.
fn shorten<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    most: usize,
    head_bytes: impl Fn(usize, usize) -> usize,
) -> Result<ArrayRef> {
    let (data, nulls) = (array.value_data(), array.nulls());
    let mut bytes = vec![0; capacity(array, most)];
    let mut offsets = vec![T::Offset::usize_as(0); array.len() + 1];
    let (mut filled, mut cut) = (0, false);
    let slots = offsets.get_mut(1..).unwrap_or_default().iter_mut();
    for (row, (offset, (start, end))) in slots.zip(ranges(array)).enumerate() {
        if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            let length = head_bytes(row, end.saturating_sub(start)).min(end.saturating_sub(start));
            cut |= length < end.saturating_sub(start);
            let (from, to) = (data.get(start..), bytes.get_mut(filled..));
            copy(from.unwrap_or_default(), to.unwrap_or_default(), length);
            filled += length;
        }
        *offset = T::Offset::usize_as(filled);
    }
    // The last offset is the greatest.
    if T::Offset::from_usize(filled).is_none() {
        return Err(Error::invalid(
            "array",
            "is too large; expected at most 2 GiB of truncated values",
        ));
    }
    if !cut {
        return Ok(Arc::new(array.clone()));
    }
    bytes.truncate(filled);
    let offsets = OffsetBuffer::new(offsets.into());
    GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(bytes), array.nulls().cloned())
        .map(|shortened| Arc::new(shortened) as ArrayRef)
        .map_err(|error| arrow_failure(&error))
}

/// Return the most bytes of shortened values, plus one stride.
fn capacity<T: ByteArrayType>(array: &GenericByteArray<T>, most: usize) -> usize {
    let bytes = array.len().saturating_mul(most);
    all_bytes(array).len().min(bytes).saturating_add(STRIDE)
}

#[inline(always)]
fn copy(from: &[u8], to: &mut [u8], length: usize) {
    if let (Some(from), Some(to)) = (from.first_chunk::<STRIDE>(), to.first_chunk_mut::<STRIDE>())
        && length <= STRIDE
    {
        *to = *from;
    } else if let (Some(from), Some(to)) = (from.get(..length), to.get_mut(..length)) {
        to.copy_from_slice(from);
    }
}

/// Cut each value to its `head`. Returns the same array if no value is longer.
fn shorten_views<T: ByteViewType>(
    array: &GenericByteViewArray<T>,
    head: impl Fn(&T::Native) -> &T::Native,
) -> Result<ArrayRef> {
    let mut builder = GenericByteViewBuilder::<T>::with_capacity(array.len());
    let mut cut = false;
    for value in array {
        match value {
            Some(whole) => {
                let kept = head(whole);
                cut |= length_of::<T>(kept) < length_of::<T>(whole);
                builder.try_append_value(kept).map_err(|error| arrow_failure(&error))?;
            }
            None => builder.append_null(),
        }
    }
    Ok(if cut { Arc::new(builder.finish()) } else { Arc::new(array.clone()) })
}

fn length_of<T: ByteViewType>(value: &T::Native) -> usize {
    let bytes: &[u8] = value.as_ref();
    bytes.len()
}

//! The bucket transform, `(hash & 0x7fffffff) % N`, of values and arrays.

use std::num::NonZeroU32;

use arrow_array::cast::AsArray;
use arrow_array::iterator::ArrayIter;
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, ByteArrayType, Date32Type, Decimal128Type, Int32Type,
    Int64Type, LargeBinaryType, LargeUtf8Type, Time64MicrosecondType, TimestampMicrosecondType,
    TimestampNanosecondType, Utf8Type,
};
use arrow_array::{Array, ArrayAccessor, ArrayRef, FixedSizeBinaryArray, GenericByteArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use fearless_simd::{Level, dispatch};

use super::blocks::{ints, map, map_narrowed, map_twice};
use super::hash::{
    SHORT, hash, hash_bytes, hash_decimal, hash_long, hash_narrow_decimal, hash_short,
    micros_of_nanos, short_blocks,
};
use super::remainder::Remainder31;
use crate::error::Result;
use crate::spec::{Datum, PrimitiveType, canonical_array};

/// The bucket rule for a number of buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets {
    remainder: Remainder31,
}

impl Buckets {
    pub(super) fn new(count: NonZeroU32) -> Self {
        Self { remainder: Remainder31::new(count) }
    }

    /// Return the bucket of a hash. The sign bit is masked, so that every hash has a bucket.
    #[inline(always)]
    fn of_hash(self, hash: i32) -> i32 {
        self.remainder.of(hash.cast_unsigned() & 0x7fff_ffff).cast_signed()
    }

    /// Return the bucket of a value; `None` where the transform does not apply to its type.
    pub(super) fn of(self, value: &Datum) -> Option<i32> {
        match value {
            Datum::Boolean(_) | Datum::Float(_) | Datum::Double(_) => None,
            _ => Some(self.of_hash(hash(value))),
        }
    }
}

/// Return the buckets of an array without dictionary or run ends; `None` where the transform does not apply to its type.
pub(super) fn apply_array(
    buckets: Buckets,
    array: &dyn Array,
    source: &PrimitiveType,
) -> Result<Option<ArrayRef>> {
    if let Some(results) = of_byte_strings(buckets, array) {
        return Ok(Some(ints(results, array.nulls())));
    }
    let array = canonical_array(array, source)?;
    Ok(of_numbers(buckets, &array).map(|results| ints(results, array.nulls())))
}

fn of_numbers(buckets: Buckets, array: &ArrayRef) -> Option<Vec<i32>> {
    if let Some(narrow) = int_values(array) {
        return Some(map(narrow, move |value| buckets.of_hash(hash_long(i64::from(value)))));
    }
    let of_long = move |value| buckets.of_hash(hash_long(value));
    if let Some(wide) = long_values(array) {
        return Some(map(wide, of_long));
    }
    if let Some(nanos) = values::<TimestampNanosecondType>(array) {
        return Some(map_twice(nanos, micros_of_nanos, of_long));
    }
    let decimals = values::<Decimal128Type>(array)?;
    Some(map_narrowed(
        decimals,
        move |unscaled| buckets.of_hash(hash_narrow_decimal(unscaled)),
        move |unscaled| buckets.of_hash(hash_decimal(unscaled)),
    ))
}

/// Return the values of an int or date array.
fn int_values(array: &ArrayRef) -> Option<&[i32]> {
    values::<Int32Type>(array).or_else(|| values::<Date32Type>(array))
}

/// Return the values of a long, time or microsecond timestamp array.
fn long_values(array: &ArrayRef) -> Option<&[i64]> {
    values::<Int64Type>(array)
        .or_else(|| values::<Time64MicrosecondType>(array))
        .or_else(|| values::<TimestampMicrosecondType>(array))
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&[T::Native]> {
    array.as_primitive_opt::<T>().map(|typed| typed.values().as_ref())
}

/// Return a bucket per value, an arbitrary number for null; `None` where the array holds neither strings nor bytes.
fn of_byte_strings(buckets: Buckets, array: &dyn Array) -> Option<Vec<i32>> {
    let of_bytes = move |bytes: &[u8]| buckets.of_hash(hash_bytes(bytes));
    Some(match array.data_type() {
        DataType::Utf8 => of_slices(buckets, array.as_bytes_opt::<Utf8Type>()?),
        DataType::LargeUtf8 => of_slices(buckets, array.as_bytes_opt::<LargeUtf8Type>()?),
        DataType::Binary => of_slices(buckets, array.as_bytes_opt::<BinaryType>()?),
        DataType::LargeBinary => of_slices(buckets, array.as_bytes_opt::<LargeBinaryType>()?),
        DataType::Utf8View => each(array.as_string_view_opt()?, |text| of_bytes(text.as_bytes())),
        DataType::BinaryView => each(array.as_binary_view_opt()?, of_bytes),
        DataType::FixedSizeBinary(_) => of_fixed(array.as_fixed_size_binary_opt()?, of_bytes),
        _ => return None,
    })
}

fn each<A: ArrayAccessor>(array: A, rule: impl Fn(A::Item) -> i32) -> Vec<i32> {
    ArrayIter::new(array).map(|value| value.map_or(0, &rule)).collect()
}

/// Return the buckets of fixed-size values; the loop over UUIDs compiles to SIMD instructions.
fn of_fixed(array: &FixedSizeBinaryArray, rule: impl Fn(&[u8]) -> i32 + Copy) -> Vec<i32> {
    const UUID_BYTES: usize = 16;
    let (values, rest) = array.value_data().as_chunks::<UUID_BYTES>();
    let are_uuids = array.value_length().as_usize() == UUID_BYTES && rest.is_empty();
    if are_uuids && values.len() == array.len() {
        return map(values, move |value| rule(&value));
    }
    each(array, rule)
}

/// Values per pass of [`of_slices`], so that their blocks stay in the first-level cache.
const BLOCK: usize = 512;

/// Return the buckets of byte strings. Short values are first padded to 16 bytes, then hashed in a loop that compiles to
/// SIMD instructions; longer values are hashed one by one.
fn of_slices<T: ByteArrayType>(buckets: Buckets, array: &GenericByteArray<T>) -> Vec<i32> {
    let mut results = vec![0; array.len()];
    let mut padded = ([[0; 4]; BLOCK], [0; BLOCK]);
    let level = Level::new();
    for (block, results) in results.chunks_mut(BLOCK).enumerate() {
        let first = block * BLOCK;
        let offsets = array.value_offsets().get(first..=first + results.len()).unwrap_or_default();
        pad(array.value_data(), offsets, &mut padded);
        let (blocks, lengths) = &padded;
        dispatch!(level, _simd => hash_padded(buckets, blocks, lengths, results));
        hash_longer(buckets, array.value_data(), offsets, results);
    }
    results
}

/// Fill in the padded bytes and lengths of short values; the bytes of longer values are arbitrary.
fn pad<O: ArrowNativeType>(
    data: &[u8],
    offsets: &[O],
    (blocks, lengths): &mut ([[u32; 4]; BLOCK], [u32; BLOCK]),
) {
    let ends = offsets.get(1..).unwrap_or_default();
    let slots = blocks.iter_mut().zip(lengths);
    for ((blocks, slot_length), (start, end)) in slots.zip(offsets.iter().zip(ends)) {
        let length = end.as_usize().wrapping_sub(start.as_usize());
        *blocks = short_blocks(data.get(start.as_usize()..).unwrap_or_default(), length);
        *slot_length = length as u32;
    }
}

#[inline(always)]
fn hash_padded(buckets: Buckets, blocks: &[[u32; 4]], lengths: &[u32], results: &mut [i32]) {
    for (result, (blocks, length)) in results.iter_mut().zip(blocks.iter().zip(lengths)) {
        *result = buckets.of_hash(hash_short(*blocks, *length));
    }
}

fn hash_longer<O: ArrowNativeType>(
    buckets: Buckets,
    data: &[u8],
    offsets: &[O],
    results: &mut [i32],
) {
    let ends = offsets.get(1..).unwrap_or_default();
    for (result, (start, end)) in results.iter_mut().zip(offsets.iter().zip(ends)) {
        if end.as_usize().wrapping_sub(start.as_usize()) > SHORT {
            let value = data.get(start.as_usize()..end.as_usize()).unwrap_or_default();
            *result = buckets.of_hash(hash_bytes(value));
        }
    }
}

//! Buckets of arrays of strings and bytes, whatever their layout.

use arrow_array::cast::AsArray;
use arrow_array::iterator::ArrayIter;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{Array, ArrayAccessor, FixedSizeBinaryArray, GenericByteArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use fearless_simd::{Level, dispatch};

use super::blocks::map;
use super::bucket::Buckets;
use super::hash::{SHORT, hash_bytes, hash_short, short_blocks};

/// A bucket per value, any number for null; `None` where the array is not of strings or bytes.
pub(super) fn of_byte_strings(buckets: Buckets, array: &dyn Array) -> Option<Vec<i32>> {
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

/// UUIDs become vector code.
fn of_fixed(array: &FixedSizeBinaryArray, rule: impl Fn(&[u8]) -> i32 + Copy) -> Vec<i32> {
    const UUID_BYTES: usize = 16;
    let (values, rest) = array.value_data().as_chunks::<UUID_BYTES>();
    let are_uuids = array.value_length().as_usize() == UUID_BYTES && rest.is_empty();
    if are_uuids && values.len() == array.len() {
        return map(values, move |value| rule(&value));
    }
    each(array, rule)
}

/// Values per pass of [`of_slices`]: what is laid out of them stays in the first-level cache.
const BLOCK: usize = 512;

/// Short values are first laid out one by one and then hashed side by side, as vector code; longer ones are
/// hashed by themselves.
fn of_slices<T: ByteArrayType>(buckets: Buckets, array: &GenericByteArray<T>) -> Vec<i32> {
    let mut results = vec![0; array.len()];
    let mut laid_out = ([[0; 4]; BLOCK], [0; BLOCK]);
    let level = Level::new();
    for (block, results) in results.chunks_mut(BLOCK).enumerate() {
        let first = block * BLOCK;
        let offsets = array.value_offsets().get(first..=first + results.len()).unwrap_or_default();
        lay_out(array.value_data(), offsets, &mut laid_out);
        let (blocks, lengths) = &laid_out;
        dispatch!(level, _simd => hash_side_by_side(buckets, blocks, lengths, results));
        hash_longer(buckets, array.value_data(), offsets, results);
    }
    results
}

/// The bytes and lengths of short values, and what there is no harm in for longer ones.
fn lay_out<O: ArrowNativeType>(
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
fn hash_side_by_side(buckets: Buckets, blocks: &[[u32; 4]], lengths: &[u32], results: &mut [i32]) {
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

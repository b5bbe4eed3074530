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
use super::hash::{SHORT, ShortValue, hash_bytes, hash_short};

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

/// Values per pass of [`of_slices`]: what is made ready of them stays in the first-level cache.
const BLOCK: usize = 512;

/// Short values are first made ready one by one and then hashed side by side, as vector code; longer ones
/// are hashed by themselves.
fn of_slices<T: ByteArrayType>(buckets: Buckets, array: &GenericByteArray<T>) -> Vec<i32> {
    let mut results = vec![0; array.len()];
    let mut ready = [ShortValue::default(); BLOCK];
    let level = Level::new();
    for (block, results) in results.chunks_mut(BLOCK).enumerate() {
        let first = block * BLOCK;
        let offsets = array.value_offsets().get(first..=first + results.len()).unwrap_or_default();
        let ready = ready.get_mut(..results.len()).unwrap_or_default();
        let longer = make_ready(array.value_data(), offsets, ready);
        dispatch!(level, _simd => hash_ready(buckets, ready, results));
        if longer {
            hash_longer(buckets, array.value_data(), offsets, results);
        }
    }
    results
}

/// Whether some of the values are not short.
fn make_ready<O: ArrowNativeType>(data: &[u8], offsets: &[O], ready: &mut [ShortValue]) -> bool {
    let mut longer = false;
    let ends = offsets.iter().skip(1);
    for ((value, start), end) in ready.iter_mut().zip(offsets).zip(ends) {
        let length = end.as_usize().wrapping_sub(start.as_usize());
        longer |= length > SHORT;
        *value = ShortValue::new(data.get(start.as_usize()..).unwrap_or_default(), length);
    }
    longer
}

#[inline(always)]
fn hash_ready(buckets: Buckets, ready: &[ShortValue], results: &mut [i32]) {
    for (result, value) in results.iter_mut().zip(ready) {
        *result = buckets.of_hash(hash_short(*value));
    }
}

fn hash_longer<O: ArrowNativeType>(
    buckets: Buckets,
    data: &[u8],
    offsets: &[O],
    results: &mut [i32],
) {
    let ends = offsets.iter().skip(1);
    for ((result, start), end) in results.iter_mut().zip(offsets).zip(ends) {
        let value = data.get(start.as_usize()..end.as_usize()).unwrap_or_default();
        if value.len() > SHORT {
            *result = buckets.of_hash(hash_bytes(value));
        }
    }
}

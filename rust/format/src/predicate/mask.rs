//! Masks of one bit per slot: comparisons packed with SIMD instructions, NaN and validity.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_schema::DataType;
use fearless_simd::{Level, dispatch};

/// Return a mask of the values that satisfy a test.
pub(super) fn pack<T: Copy>(values: &[T], test: impl Fn(T) -> bool + Copy) -> BooleanBuffer {
    let mut words = Vec::with_capacity(values.len().div_ceil(64));
    let level = Level::new();
    dispatch!(level, _simd => fill(values, &mut words, test));
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}

/// Return a mask of the pairs of values that satisfy a test, with the length of the shorter slice.
pub(super) fn pack_pairs<T: Copy>(
    left: &[T],
    right: &[T],
    test: impl Fn(T, T) -> bool + Copy,
) -> BooleanBuffer {
    let count = left.len().min(right.len());
    let mut words = Vec::with_capacity(count.div_ceil(64));
    let level = Level::new();
    dispatch!(level, _simd => fill_pairs(left, right, &mut words, test));
    BooleanBuffer::new(Buffer::from_vec(words), 0, count)
}

#[inline(always)]
fn fill<T: Copy>(values: &[T], words: &mut Vec<u64>, test: impl Fn(T) -> bool) {
    let (blocks, rest) = values.as_chunks::<64>();
    for block in blocks {
        let mut flags = [0_u8; 64];
        for (flag, value) in flags.iter_mut().zip(block) {
            *flag = u8::from(test(*value));
        }
        words.push(bits(&flags));
    }
    if !rest.is_empty() {
        let mut flags = [0_u8; 64];
        for (flag, value) in flags.iter_mut().zip(rest) {
            *flag = u8::from(test(*value));
        }
        words.push(bits(&flags));
    }
}

#[inline(always)]
fn fill_pairs<T: Copy>(left: &[T], right: &[T], words: &mut Vec<u64>, test: impl Fn(T, T) -> bool) {
    for (left, right) in left.chunks(64).zip(right.chunks(64)) {
        let mut flags = [0_u8; 64];
        for ((flag, left), right) in flags.iter_mut().zip(left).zip(right) {
            *flag = u8::from(test(*left, *right));
        }
        words.push(bits(&flags));
    }
}

/// Pack flags of 0 or 1 into bits: a multiplication gathers eight flags in the highest byte.
#[inline(always)]
fn bits(flags: &[u8; 64]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = flags.as_chunks::<8>();
    eights
        .iter()
        .rev()
        .fold(0, |word, eight| word << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}

/// Return which slots of a float array are NaN; null slots are arbitrary.
pub(super) fn nan_slots(column: &ArrayRef) -> BooleanBuffer {
    match column.data_type() {
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>().values();
            BooleanBuffer::collect_bool(values.len(), |row| values[row].is_nan())
        }
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>().values();
            BooleanBuffer::collect_bool(values.len(), |row| values[row].is_nan())
        }
        _ => BooleanBuffer::new_unset(column.len()),
    }
}

/// Return which slots of an array are not null.
pub(super) fn valid(column: &dyn Array) -> BooleanBuffer {
    match column.logical_nulls() {
        Some(nulls) => nulls.into_inner(),
        None => BooleanBuffer::new_set(column.len()),
    }
}

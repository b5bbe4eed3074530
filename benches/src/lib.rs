//! Seeded inputs for the criterion benches.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, DictionaryArray, FixedSizeBinaryArray,
    PrimitiveArray, StringArray,
};
use arrow_buffer::Buffer;

/// Pseudo-random 64-bit numbers, the same for the same seed (SplitMix64).
pub fn numbers(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
    .take(count)
}

fn primitives<T: ArrowPrimitiveType>(count: usize, value: impl Fn(u64) -> T::Native) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values(numbers(1, count).map(value)))
}

/// `long` values of all magnitudes up to 2^40.
pub fn longs(count: usize) -> ArrayRef {
    primitives::<Int64Type>(count, |bits| bits.cast_signed() >> 24)
}

/// `int` values of the whole range.
pub fn ints(count: usize) -> ArrayRef {
    primitives::<Int32Type>(count, |bits| (bits as u32).cast_signed())
}

/// Decimals of up to 12 digits, `decimal(19, 2)`.
pub fn decimals(count: usize) -> ArrayRef {
    primitives::<Decimal128Type>(count, |bits| i128::from(bits % 1_000_000_000_000))
}

/// Dates of 1940 to 2050.
pub fn dates(count: usize) -> ArrayRef {
    primitives::<Date32Type>(count, |bits| (bits % 40_000) as i32 - 11_000)
}

/// Timestamps of 1940 to 2050 in microseconds.
pub fn timestamps(count: usize) -> ArrayRef {
    primitives::<TimestampMicrosecondType>(count, |bits| {
        (bits % 3_456_000_000_000_000).cast_signed() - 950_400_000_000_000
    })
}

/// Strings of 10 to 16 bytes.
pub fn strings(count: usize) -> ArrayRef {
    let texts = numbers(1, count).map(|bits| format!("customer-{}", bits % 10_000_000));
    Arc::new(StringArray::from_iter_values(texts))
}

/// Decimals of up to 30 digits, `decimal(38, 10)`.
pub fn wide_decimals(count: usize) -> ArrayRef {
    let values = PrimitiveArray::<Decimal128Type>::from_iter_values(
        numbers(1, count).map(|bits| i128::from(bits.cast_signed()) * 100_000_000_000),
    );
    Arc::new(values)
}

/// Times of day in microseconds.
pub fn times(count: usize) -> ArrayRef {
    primitives::<Time64MicrosecondType>(count, |bits| (bits % 86_400_000_000).cast_signed())
}

/// UTC timestamps of 1940 to 2050 in microseconds.
pub fn zoned_timestamps(count: usize) -> ArrayRef {
    let zoned = PrimitiveArray::<TimestampMicrosecondType>::from(timestamps(count).to_data());
    Arc::new(zoned.with_timezone("UTC"))
}

/// Timestamps of 1940 to 2050 in nanoseconds.
pub fn nano_timestamps(count: usize) -> ArrayRef {
    primitives::<TimestampNanosecondType>(count, |bits| {
        (bits % 3_456_000_000_000_000_000).cast_signed() - 950_400_000_000_000_000
    })
}

/// Strings of 16 bytes.
pub fn texts_of_16(count: usize) -> ArrayRef {
    let texts = numbers(1, count).map(|bits| format!("{bits:016x}"));
    Arc::new(StringArray::from_iter_values(texts))
}

/// Strings with characters of two, three and four bytes in UTF-8.
pub fn international_texts(count: usize) -> ArrayRef {
    let texts = numbers(1, count).map(|bits| format!("é☃😀-{}", bits % 10_000_000));
    Arc::new(StringArray::from_iter_values(texts))
}

/// A dictionary array of 1,000 distinct strings of 10 to 16 bytes.
pub fn repeated_texts(count: usize) -> ArrayRef {
    let keys = numbers(1, count).map(|bits| (bits % 1_000) as i32);
    let keys = PrimitiveArray::<Int32Type>::from_iter_values(keys);
    Arc::new(DictionaryArray::new(keys, strings(1_000)))
}

/// Binaries of 10 to 16 bytes.
pub fn binaries(count: usize) -> ArrayRef {
    let texts = numbers(1, count).map(|bits| format!("customer-{}", bits % 10_000_000));
    Arc::new(BinaryArray::from_iter_values(texts))
}

/// Pseudo-random fixed-size binaries; a length of 16 makes UUIDs.
pub fn fixed(length: i32, count: usize) -> ArrayRef {
    let size = count * usize::try_from(length).unwrap_or(0);
    let bytes = numbers(1, size.div_ceil(8)).flat_map(u64::to_le_bytes).take(size);
    let bytes = Buffer::from_vec(bytes.collect::<Vec<u8>>());
    Arc::new(FixedSizeBinaryArray::new(length, bytes, None))
}

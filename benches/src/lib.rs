//! Seeded inputs for the criterion benches.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal128Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, StringArray};

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

/// Longs of all magnitudes up to 2^40.
pub fn longs(count: usize) -> ArrayRef {
    primitives::<Int64Type>(count, |bits| bits.cast_signed() >> 24)
}

/// Ints of all 32 bits.
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

/// Texts of 10 to 16 bytes.
pub fn strings(count: usize) -> ArrayRef {
    let texts = numbers(1, count).map(|bits| format!("customer-{}", bits % 10_000_000));
    Arc::new(StringArray::from_iter_values(texts))
}

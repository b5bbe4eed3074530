//! Bounds of any type as numbers that are compared without regard to it.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::ScalarBuffer;

/// Lower and upper bounds, one of each per file. A smaller bound never has the larger number; where
/// two differ late, they have the same. What a null has says nothing.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) lower: ScalarBuffer<i64>,
    pub(super) upper: ScalarBuffer<i64>,
}

impl Numbers {
    /// `None` where bounds of this type are not ordered.
    pub(super) fn new(lower: &ArrayRef, upper: &ArrayRef) -> Option<Self> {
        Some(Self { lower: numbers(lower)?, upper: numbers(upper)? })
    }
}

fn numbers(bounds: &ArrayRef) -> Option<ScalarBuffer<i64>> {
    if let Some(longs) = longs(bounds) {
        return Some(longs.clone());
    }
    if let Some(ints) = bounds.as_primitive_opt::<Int32Type>() {
        return Some(ints.values().iter().map(|value| i64::from(*value)).collect());
    }
    if let Some(days) = bounds.as_primitive_opt::<Date32Type>() {
        return Some(days.values().iter().map(|value| i64::from(*value)).collect());
    }
    if let Some(decimals) = bounds.as_primitive_opt::<Decimal128Type>() {
        let cut = |value: &i128| (*value).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        return Some(decimals.values().iter().map(cut).collect());
    }
    if let Some(floats) = bounds.as_primitive_opt::<Float32Type>() {
        return Some(floats.values().iter().map(|value| by_sign(f64::from(*value))).collect());
    }
    if let Some(doubles) = bounds.as_primitive_opt::<Float64Type>() {
        return Some(doubles.values().iter().map(|value| by_sign(*value)).collect());
    }
    let bytes = bounds.as_binary_opt::<i32>()?;
    Some((0..bytes.len()).map(|row| first_bytes(bytes.value(row))).collect())
}

fn longs(bounds: &ArrayRef) -> Option<&ScalarBuffer<i64>> {
    if let Some(longs) = bounds.as_primitive_opt::<Int64Type>() {
        return Some(longs.values());
    }
    if let Some(times) = bounds.as_primitive_opt::<Time64MicrosecondType>() {
        return Some(times.values());
    }
    if let Some(times) = bounds.as_primitive_opt::<TimestampMicrosecondType>() {
        return Some(times.values());
    }
    let times = bounds.as_primitive_opt::<TimestampNanosecondType>()?;
    Some(times.values())
}

/// The bits of a double in the order of its values, the zeros the same.
fn by_sign(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The first eight bytes; a byte that is not there is smaller than none.
fn first_bytes(bytes: &[u8]) -> i64 {
    let mut first = [0; 8];
    for (to, from) in first.iter_mut().zip(bytes) {
        *to = *from;
    }
    (u64::from_be_bytes(first) ^ 1 << 63).cast_signed()
}

//! Appendix B: the 32-bit hash that buckets are made from, MurmurHash3 x86 with seed 0.
//!
//! Numbers have paths of their own without a loop, so that a loop over an array becomes vector code.

use crate::spec::{Datum, decimal};

const BLOCK_FACTOR_1: u32 = 0xcc9e_2d51;
const BLOCK_FACTOR_2: u32 = 0x1b87_3593;

const NANOS_PER_MICRO: i64 = 1_000;

/// Hash of any value.
///
/// ```
/// use icefloe_format::{spec::Datum, transform::hash::hash};
/// assert_eq!(hash(&Datum::Int(34)), 2017239379);
/// assert_eq!(hash(&Datum::String("iceberg".into())), 1210000089);
/// ```
pub fn hash(value: &Datum) -> i32 {
    match value {
        Datum::Boolean(value) => hash_long(i64::from(*value)),
        Datum::Int(value) | Datum::Date(value) => hash_long(i64::from(*value)),
        Datum::Long(value)
        | Datum::Time(value)
        | Datum::Timestamp(value)
        | Datum::Timestamptz(value) => hash_long(*value),
        Datum::TimestampNs(nanos) | Datum::TimestamptzNs(nanos) => hash_nanos(*nanos),
        Datum::Float(value) => hash_double(f64::from(*value)),
        Datum::Double(value) => hash_double(*value),
        Datum::Decimal { unscaled, .. } => hash_decimal(*unscaled),
        Datum::String(text) => hash_bytes(text.as_bytes()),
        Datum::Uuid(bytes) => hash_bytes(bytes),
        Datum::Fixed(bytes) | Datum::Binary(bytes) => hash_bytes(bytes),
    }
}

#[inline(always)]
fn scramble(block: u32) -> u32 {
    block.wrapping_mul(BLOCK_FACTOR_1).rotate_left(15).wrapping_mul(BLOCK_FACTOR_2)
}

#[inline(always)]
fn absorb(state: u32, block: u32) -> u32 {
    (state ^ scramble(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

#[inline(always)]
fn finish(state: u32, length: u32) -> i32 {
    let mut state = state ^ length;
    state = (state ^ (state >> 16)).wrapping_mul(0x85eb_ca6b);
    state = (state ^ (state >> 13)).wrapping_mul(0xc2b2_ae35);
    (state ^ (state >> 16)).cast_signed()
}

/// Hash of a long, and of an int, a date, a time or a timestamp in microseconds, which count as one: its
/// eight little-endian bytes.
#[inline(always)]
pub fn hash_long(value: i64) -> i32 {
    let bits = value.cast_unsigned();
    // Truncation is the point: the two halves of the eight bytes.
    finish(absorb(absorb(0, bits as u32), (bits >> 32) as u32), 8)
}

/// Hash of a timestamp in nanoseconds: of the microsecond that it is in, so that both types share buckets.
#[inline(always)]
pub fn hash_nanos(nanos: i64) -> i32 {
    hash_long(nanos.div_euclid(NANOS_PER_MICRO))
}

/// Hash of a double, and of a float, which counts as one: its bits as a long, with one zero and one NaN.
#[inline]
pub fn hash_double(value: f64) -> i32 {
    let canonical = if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    };
    hash_long(canonical.to_bits().cast_signed())
}

/// Hash of a decimal: the shortest two's-complement big-endian bytes of its unscaled value.
#[inline]
pub fn hash_decimal(unscaled: i128) -> i32 {
    let bytes = unscaled.to_be_bytes();
    hash_bytes(
        bytes.split_at_checked(decimal::minimal_start(unscaled)).map_or(&bytes[..], |(_, b)| b),
    )
}

/// Hash of the bytes of a string, a binary, a fixed or a UUID.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> i32 {
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut state = 0;
    for block in blocks {
        state = absorb(state, u32::from_le_bytes(*block));
    }
    let mut rest = 0;
    for byte in tail.iter().rev() {
        rest = rest << 8 | u32::from(*byte);
    }
    // The length counts modulo 2^32. Scrambling an empty rest gives 0, which changes nothing.
    finish(state ^ scramble(rest), bytes.len() as u32)
}

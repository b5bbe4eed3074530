//! The 32-bit hash of the bucket transform: MurmurHash3 x86 with seed 0. Spec: Appendix B.
//!
//! Not the murmur3 crate, which reads through `io::Read`: the functions for numbers and short values here have no
//! loops, so that a loop over an array compiles to SIMD instructions. Tests compare them with the crate.

use crate::spec::{Datum, decimal};

const BLOCK_FACTOR_1: u32 = 0xcc9e_2d51;
const BLOCK_FACTOR_2: u32 = 0x1b87_3593;

const NANOS_PER_MICRO: i64 = 1_000;

/// Return the hash of a value.
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

/// Return the hash of a long: of its eight little-endian bytes. int, date, time and microsecond timestamps are hashed
/// as long.
#[inline(always)]
pub fn hash_long(value: i64) -> i32 {
    let bits = value.cast_unsigned();
    // The casts split the eight bytes into two halves.
    finish(absorb(absorb(0, bits as u32), (bits >> 32) as u32), 8)
}

/// Return the hash of a nanosecond timestamp: of its microseconds, rounded down, so that both precisions share buckets.
#[inline(always)]
pub fn hash_nanos(nanos: i64) -> i32 {
    hash_long(micros_of_nanos(nanos))
}

#[inline(always)]
pub(super) fn micros_of_nanos(nanos: i64) -> i64 {
    nanos.div_euclid(NANOS_PER_MICRO)
}

/// Return the hash of a double: of its bits as a long, with one zero and one NaN. float is hashed as double.
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

/// Return the hash of a decimal: of the shortest two's-complement big-endian bytes of its unscaled value.
#[inline(always)]
pub fn hash_decimal(unscaled: i128) -> i32 {
    // The shift moves the shortest form to the front; the zeros behind it do not change the hash.
    let length = 16 - decimal::minimal_start(unscaled) as u32;
    let mut words = unscaled.cast_unsigned() << (8 * (16 - length));
    let mut state = 0;
    for end in [4, 8, 12, 16] {
        state = absorb_if(length >= end, state, ((words >> 96) as u32).swap_bytes());
        words <<= 32;
    }
    finish(state, length)
}

/// Return the [`hash_decimal`] of a value of 64 bits; a loop over it compiles to SIMD instructions.
#[inline(always)]
pub(super) fn hash_narrow_decimal(unscaled: i64) -> i32 {
    let magnitude = unscaled ^ (unscaled >> 63);
    // One of the leading zeros is the sign; zero itself has one byte.
    let redundant = ((magnitude.leading_zeros() - 1) / 8).min(7);
    let (length, words) = (8 - redundant, unscaled.cast_unsigned() << (8 * redundant));
    let state = absorb_if(length >= 4, 0, ((words >> 32) as u32).swap_bytes());
    finish(absorb_if(length >= 8, state, (words as u32).swap_bytes()), length)
}

/// Absorb a whole block, or a partial block as the tail of the bytes.
#[inline(always)]
fn absorb_if(whole: bool, state: u32, block: u32) -> u32 {
    let (whole_block, rest) = (absorb(state, block), state ^ scramble(block));
    if whole { whole_block } else { rest }
}

/// Return the hash of the bytes of a string, binary, fixed or uuid.
#[inline(always)]
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
    // The length is taken modulo 2^32. Scrambling an empty tail gives 0, which does not change the state.
    finish(state ^ scramble(rest), bytes.len() as u32)
}

/// The greatest length of a value for [`hash_short`].
pub(super) const SHORT: usize = 16;

/// Return the first `length` bytes, at most [`SHORT`], padded with zeros.
#[inline(always)]
pub(super) fn short_blocks(bytes: &[u8], length: usize) -> [u32; 4] {
    let all = match bytes.first_chunk::<SHORT>() {
        Some(all) => *all,
        None => last_bytes(bytes),
    };
    // Shifting a 128-bit integer by 128 overflows.
    let excess = 8 * SHORT.saturating_sub(length) as u32;
    let kept = u128::from_le_bytes(all) & u128::MAX.checked_shr(excess).unwrap_or_default();
    [0, 32, 64, 96].map(|shift| (kept >> shift) as u32)
}

/// Return the last bytes of an array's data, fewer than [`SHORT`], padded with zeros.
#[cold]
fn last_bytes(bytes: &[u8]) -> [u8; SHORT] {
    let mut last = [0; SHORT];
    for (to, from) in last.iter_mut().zip(bytes) {
        *to = *from;
    }
    last
}

/// Return the [`hash_bytes`] of at most [`SHORT`] bytes; a loop over it compiles to SIMD instructions.
#[inline(always)]
pub(super) fn hash_short(blocks: [u32; 4], length: u32) -> i32 {
    let mut state = 0;
    for (block, end) in blocks.into_iter().zip([4, 8, 12, 16]) {
        state = absorb_if(length >= end, state, block);
    }
    finish(state, length)
}

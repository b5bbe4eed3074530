//! Appendix B: the 32-bit hash that buckets are made from, MurmurHash3 x86 with seed 0.
//!
//! Numbers have paths of their own without a loop, so that a loop over an array becomes vector code.

use crate::spec::decimal;

const BLOCK_FACTOR_1: u32 = 0xcc9e_2d51;
const BLOCK_FACTOR_2: u32 = 0x1b87_3593;

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

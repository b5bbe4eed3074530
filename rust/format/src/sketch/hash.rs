//! The hash of a value in a theta sketch: MurmurHash3 x64 128 of its binary form, seed 9001, of which 63 bits are used.

const SEED: u64 = 9001;
const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Return the hash of a value's bytes, less than 2^63.
///
/// ```
/// # use icefloe_format::sketch::value_hash;
/// assert_ne!(value_hash(b"a"), value_hash(b"b"));
/// assert!(value_hash(&[0; 40]) < 1 << 63);
/// ```
pub fn value_hash(bytes: &[u8]) -> u64 {
    let (mut h1, mut h2) = (SEED, SEED);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let (low, high) = halves(*block);
        h1 ^= mixed_low(low);
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mixed_high(high);
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = padded(bytes, tail);
    // Zero mixes to zero, so an absent half changes nothing.
    finished(h1 ^ mixed_low(low), h2 ^ mixed_high(high), bytes.len() as u64)
}

/// The hash of a value of at most 15 bytes, given as two numbers in little-endian order.
pub(super) fn halves_hash(low: u64, high: u64, length: u64) -> u64 {
    finished(SEED ^ mixed_low(low), SEED ^ mixed_high(high), length)
}

/// The last bytes of a value, less than 16, padded with zeros. They are read in whole numbers: a loop over bytes takes longer
/// than the rest of the hash.
fn padded(bytes: &[u8], tail: &[u8]) -> (u64, u64) {
    let unused = 8 * (16 - tail.len() as u32);
    if let (Some(last), false) = (bytes.last_chunk::<16>(), tail.is_empty()) {
        let whole = u128::from_le_bytes(*last) >> unused;
        return (whole as u64, (whole >> 64) as u64);
    }
    if let (Some(first), Some(last)) = (tail.first_chunk::<8>(), tail.last_chunk::<8>()) {
        let high = u64::from_le_bytes(*last).checked_shr(unused).unwrap_or(0);
        return (u64::from_le_bytes(*first), high);
    }
    if let (Some(first), Some(last)) = (tail.first_chunk::<4>(), tail.last_chunk::<4>()) {
        let high = u64::from(u32::from_le_bytes(*last)) << (8 * (tail.len() - 4));
        return (u64::from(u32::from_le_bytes(*first)) | high, 0);
    }
    (tail.iter().rev().fold(0, |low, byte| (low << 8) | u64::from(*byte)), 0)
}

/// The hash of a value of at most 8 bytes, given as a number in little-endian order.
pub(super) fn short_hash(value: u64, length: u64) -> u64 {
    finished(SEED ^ mixed_low(value), SEED, length)
}

fn halves(block: [u8; 16]) -> (u64, u64) {
    let whole = u128::from_le_bytes(block);
    (whole as u64, (whole >> 64) as u64)
}

fn mixed_low(value: u64) -> u64 {
    value.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mixed_high(value: u64) -> u64 {
    value.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn finished(h1: u64, h2: u64, length: u64) -> u64 {
    let (h1, h2) = (h1 ^ length, h2 ^ length);
    let h1 = h1.wrapping_add(h2);
    let h2 = h2.wrapping_add(h1);
    avalanche(h1).wrapping_add(avalanche(h2)) >> 1
}

fn avalanche(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use std::io::Cursor;

    use super::*;

    fn expected(bytes: &[u8]) -> u64 {
        // The crate seeds 32 bits, and 9001 fits.
        (murmur3::murmur3_x64_128(&mut Cursor::new(bytes), 9001).unwrap() as u64) >> 1
    }

    #[test]
    fn hashes_equal_those_of_the_murmur3_crate() {
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(37)).collect();
        for length in 0..bytes.len() {
            assert_eq!(value_hash(&bytes[..length]), expected(&bytes[..length]), "{length} bytes");
        }
    }

    #[test]
    fn short_hash_equals_the_hash_of_the_bytes() {
        for value in [0, 1, -1, i64::MIN, 1 << 40] {
            assert_eq!(short_hash(value as u64, 8), value_hash(&value.to_le_bytes()));
            let narrow = value as i32;
            assert_eq!(short_hash(u64::from(narrow as u32), 4), value_hash(&narrow.to_le_bytes()));
        }
    }
}

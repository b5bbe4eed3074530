//! Variable-length integers of Avro, Protocol Buffers and Thrift: seven bits in each byte, lowest first; the high bit
//! is set in every byte but the last.
//!
//! Written here rather than taken from a crate: decoding manifests spends most of its time in [`read`], which loads
//! eight bytes at once and has to be inlined into the loops over a block.

use std::fmt;

const CONTINUES: u64 = 0x8080_8080_8080_8080;
/// Ten groups of seven bits hold 64 bits.
const MAX_BYTES: u32 = 10;

/// Bytes that are no variable-length integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VarintError {
    /// The bytes end before the last byte of the integer.
    EndOfData,
    /// The integer has more than ten bytes.
    TooLong,
}

impl fmt::Display for VarintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndOfData => "an integer extends past the end of the data",
            Self::TooLong => "an integer has more than 64 bits",
        })
    }
}

/// Read an integer from the start of `rest` and advance past it. Bits beyond the 64th are dropped.
///
/// # Errors
/// [`VarintError`], with `rest` at an unspecified position.
///
/// ```
/// use icefloe_format::codec::varint;
/// let mut rest = &[0x96, 0x01, 0x05][..];
/// assert_eq!(varint::read(&mut rest), Ok(150));
/// assert_eq!(rest, [0x05]);
/// ```
#[inline(always)]
pub fn read(rest: &mut &[u8]) -> Result<u64, VarintError> {
    if let [byte, after @ ..] = *rest
        && *byte < 0x80
    {
        *rest = after;
        return Ok(u64::from(*byte));
    }
    read_long(rest)
}

/// Read an integer of two bytes or more. The first clear high bit among eight bytes ends the integer.
#[inline(always)]
fn read_long(rest: &mut &[u8]) -> Result<u64, VarintError> {
    let chunk = rest.first_chunk::<8>().copied().unwrap_or([0xff; 8]);
    let word = u64::from_le_bytes(chunk);
    let ends = !word & CONTINUES;
    if ends == 0 {
        let (value, after) = read_bytewise(rest)?;
        *rest = after;
        return Ok(value);
    }
    let last_bit = ends.trailing_zeros();
    let value = join_groups(word & (u64::MAX >> (63 - last_bit)));
    let length = usize::try_from(last_bit / 8 + 1).unwrap_or(usize::MAX);
    *rest = rest.get(length..).ok_or(VarintError::EndOfData)?;
    Ok(value)
}

// By value: a reference would keep the caller's slice in memory instead of registers.
#[cold]
#[inline(never)]
fn read_bytewise(mut rest: &[u8]) -> Result<(u64, &[u8]), VarintError> {
    let mut value = 0_u64;
    for index in 0..MAX_BYTES {
        let (byte, after) = rest.split_first().ok_or(VarintError::EndOfData)?;
        rest = after;
        // The tenth group has room for one bit; the shift drops the others.
        value |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            return Ok((value, rest));
        }
    }
    Err(VarintError::TooLong)
}

/// Join the low seven bits of the eight bytes of a word. Bytes beyond the integer must be zero.
#[inline(always)]
fn join_groups(word: u64) -> u64 {
    let pairs = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
    let quads = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
    (quads & 0x0fff_ffff) | ((quads & 0x0fff_ffff_0000_0000) >> 4)
}

/// Append an integer to a buffer.
pub fn append(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low_seven_bits(value) | 0x80);
        value >>= 7;
    }
    out.push(low_seven_bits(value));
}

fn low_seven_bits(value: u64) -> u8 {
    value.to_le_bytes()[0] & 0x7f
}

/// Return the unsigned integer that a signed one is stored as: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline(always)]
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Return the signed integer of a [`zigzag`] form.
#[inline(always)]
pub fn unzigzag(raw: u64) -> i64 {
    (raw >> 1).cast_signed() ^ -((raw & 1).cast_signed())
}

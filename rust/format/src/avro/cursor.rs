//! Checked reads of Avro's binary encoding.

use std::fmt;

use crate::codec::varint::{self, VarintError};

/// A defect of encoded bytes. The cursor has the position, so the hot path carries none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// A value extends past the end of the data.
    EndOfData,
    /// A variable-length integer has more than ten bytes.
    VarintTooLong,
    /// An `int` has more than five bytes, or a `long` read as one is outside 32 bits.
    IntOutOfRange,
    /// A length or count is negative or larger than the data that should hold it.
    Length,
    /// A union branch that the schema does not have.
    UnionBranch,
    /// A boolean that is neither 0 nor 1.
    Boolean,
    /// A value is outside what its logical type can hold.
    LogicalValue,
    /// More bytes than a column of one batch can address.
    ColumnOverflow,
    /// The symbols of an enum take more bytes than a column of one batch may.
    Symbols,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndOfData => "a value extends past the end of the data",
            Self::VarintTooLong => "an integer has more than 64 bits",
            Self::IntOutOfRange => "an int is outside 32 bits",
            Self::Length => "a length or count is negative or larger than the data that follows",
            Self::UnionBranch => "a union branch that the schema does not have",
            Self::Boolean => "a boolean is neither 0 nor 1",
            Self::LogicalValue => "a value is outside what its logical type can hold",
            Self::ColumnOverflow => "a column would exceed 2 GiB",
            Self::Symbols => "the symbols of an enum would exceed 64 MiB in one column",
        })
    }
}

impl From<VarintError> for Malformed {
    fn from(error: VarintError) -> Self {
        match error {
            VarintError::EndOfData => Self::EndOfData,
            VarintError::TooLong => Self::VarintTooLong,
        }
    }
}

/// A position in encoded bytes. Every read is bounds-checked and advances the position.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    pub(super) rest: &'a [u8],
}

/// The number of items, and their length in bytes if the writer recorded it.
pub type BlockHeader = (usize, Option<usize>);

/// A block of an array or map.
#[derive(Debug, Clone, Copy)]
pub struct Items {
    /// Number of items; 0 ends the array or map.
    pub count: usize,
    /// Bytes after the block, if the writer recorded its length.
    left: Option<usize>,
}

const CONTINUES: u64 = 0x8080_8080_8080_8080;
const ONE_IN_EACH_BYTE: u64 = 0x0101_0101_0101_0101;

impl<'a> Cursor<'a> {
    /// Create a cursor at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Return the number of bytes left.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Return the bytes left.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Read the next `length` bytes.
    #[inline(always)]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed::EndOfData)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Read the next `N` bytes.
    #[inline(always)]
    pub fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed::EndOfData)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Read a zigzag `long`. Bits beyond the 64th are dropped, as in Avro's Java decoder.
    #[inline(always)]
    pub fn long(&mut self) -> Result<i64, Malformed> {
        Ok(varint::unzigzag(self.varint()?))
    }

    /// Read a zigzag `int` of at most five bytes. Bits beyond the 32nd are dropped, as in Avro's Java decoder.
    #[inline(always)]
    pub fn int(&mut self) -> Result<i32, Malformed> {
        let raw = self.varint()?;
        if raw >> 35 != 0 {
            return Err(Malformed::IntOutOfRange);
        }
        let raw = low_half(raw);
        Ok((raw >> 1).cast_signed() ^ -((raw & 1).cast_signed()))
    }

    /// Read a zigzag `long` whose value fits in 32 bits.
    #[inline(always)]
    pub fn long_as_int(&mut self) -> Result<i32, Malformed> {
        i32::try_from(self.long()?).map_err(|_| Malformed::IntOutOfRange)
    }

    /// Read a `boolean`.
    #[inline(always)]
    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        match self.take_array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Malformed::Boolean),
        }
    }

    /// Read a `float`.
    #[inline(always)]
    pub fn float(&mut self) -> Result<f32, Malformed> {
        Ok(f32::from_le_bytes(self.take_array()?))
    }

    /// Read a `double`.
    #[inline(always)]
    pub fn double(&mut self) -> Result<f64, Malformed> {
        Ok(f64::from_le_bytes(self.take_array()?))
    }

    /// Read the contents of a `bytes` or a `string`.
    #[inline(always)]
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.long()?).map_err(|_| Malformed::Length)?;
        if length > self.rest.len() {
            return Err(Malformed::Length);
        }
        self.take(length)
    }

    /// Skip a variable-length integer.
    #[inline(always)]
    pub fn skip_varint(&mut self) -> Result<(), Malformed> {
        // One branch per byte: lengths repeat, so the branches are predicted.
        loop {
            let (byte, rest) = self.rest.split_first().ok_or(Malformed::EndOfData)?;
            self.rest = rest;
            if *byte < 0x80 {
                return Ok(());
            }
        }
    }

    /// Skip `count` variable-length integers.
    #[inline(always)]
    pub fn skip_varints(&mut self, count: usize) -> Result<(), Malformed> {
        let mut left = count;
        // A byte with a clear high bit ends an integer: the number of clear high bits is the number of integers.
        while left > 16 {
            let Some((chunk, rest)) = self.rest.split_first_chunk::<16>() else { break };
            let [low, high] = halves(chunk).map(|half| (!half & CONTINUES) >> 7);
            // Each byte is 0 or 1 per half: the highest byte of the product is their sum.
            let ended = (low + high).wrapping_mul(ONE_IN_EACH_BYTE).to_be_bytes()[0];
            left -= usize::from(ended);
            self.rest = rest;
        }
        while left > 0
            && let Some((chunk, rest)) = self.rest.split_first_chunk::<8>()
        {
            let ends = (!u64::from_le_bytes(*chunk) & CONTINUES) >> 7;
            // Each byte of the product counts the integers that end in it or before it.
            let ended = ends.wrapping_mul(ONE_IN_EACH_BYTE);
            let all = usize::from(ended.to_be_bytes()[0]);
            if all < left {
                left -= all;
                self.rest = rest;
                continue;
            }
            // Find the first byte with a count of at least `left`. The subtraction does not borrow between bytes.
            let wanted = ONE_IN_EACH_BYTE.wrapping_mul(left as u64);
            let reached = (ended | CONTINUES).wrapping_sub(wanted) & CONTINUES;
            return self.advance(reached.trailing_zeros() / 8 + 1);
        }
        while left > 0 {
            let [byte] = self.take_array::<1>()?;
            left -= usize::from(byte < 0x80);
        }
        Ok(())
    }

    /// Skip `count` pairs of a variable-length integer and bytes.
    #[inline(always)]
    pub fn skip_ints_and_bytes(&mut self, count: usize) -> Result<(), Malformed> {
        for _ in 0..count {
            match self.rest {
                [key, length, rest @ ..] if *key < 0x80 && *length < 0x80 && length & 1 == 0 => {
                    let length = usize::from(length >> 1);
                    let (_, rest) = rest.split_at_checked(length).ok_or(Malformed::Length)?;
                    self.rest = rest;
                }
                _ => {
                    self.skip_varint()?;
                    self.bytes()?;
                }
            }
        }
        Ok(())
    }

    /// Read the item count of the next block of an array or map, and its length in bytes if the writer recorded it. A
    /// count of zero ends the array or map.
    #[inline(always)]
    pub fn block_header(&mut self) -> Result<BlockHeader, Malformed> {
        // The count is nearly always below 64.
        if let [byte, rest @ ..] = self.rest
            && *byte < 0x80
            && byte & 1 == 0
        {
            self.rest = rest;
            return Ok((usize::from(byte >> 1), None));
        }
        let (header, after) = self.any_block_header()?;
        *self = after;
        Ok(header)
    }

    #[inline(never)]
    fn any_block_header(mut self) -> Result<(BlockHeader, Self), Malformed> {
        let count = self.long()?;
        if count >= 0 {
            let count = usize::try_from(count).map_err(|_| Malformed::Length)?;
            return Ok(((count, None), self));
        }
        let length = usize::try_from(self.long()?).map_err(|_| Malformed::Length)?;
        if length > self.rest.len() {
            return Err(Malformed::Length);
        }
        let count = usize::try_from(count.unsigned_abs()).map_err(|_| Malformed::Length)?;
        Ok(((count, Some(length)), self))
    }

    /// Read a [`Self::block_header`] for items of at least one byte each. The count is at most the number of bytes left,
    /// so it may size an allocation. [`Self::end_items`] checks the end of the block.
    #[inline(always)]
    pub fn begin_items(&mut self) -> Result<Items, Malformed> {
        let (count, length) = self.block_header()?;
        if count > length.unwrap_or(self.rest.len()) {
            return Err(Malformed::Length);
        }
        Ok(Items { count, left: length.map(|length| self.rest.len() - length) })
    }

    /// Check that a block of items has the length that the writer recorded, if any.
    #[inline(always)]
    pub fn end_items(&self, items: Items) -> Result<(), Malformed> {
        match items.left {
            Some(left) if left != self.rest.len() => Err(Malformed::Length),
            _ => Ok(()),
        }
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<u64, Malformed> {
        Ok(varint::read(&mut self.rest)?)
    }

    #[inline(always)]
    pub(super) fn advance(&mut self, length: u32) -> Result<(), Malformed> {
        let length = usize::try_from(length).map_err(|_| Malformed::Length)?;
        self.take(length)?;
        Ok(())
    }
}

#[inline(always)]
pub(super) fn low_half(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[inline(always)]
fn halves(bytes: &[u8; 16]) -> [u64; 2] {
    let (low, high) = bytes.split_at(8);
    [low, high].map(|half| half.first_chunk::<8>().map_or(0, |half| u64::from_le_bytes(*half)))
}

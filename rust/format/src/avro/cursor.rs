//! Checked reads of Avro's binary encoding.

use std::fmt;

/// What is wrong with encoded bytes; the position is the cursor's, so the hot path carries none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// A value extends past the end of the data.
    EndOfData,
    /// A variable-length integer has more than 64 bits.
    VarintTooLong,
    /// An `int` is outside 32 bits.
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
        })
    }
}

/// A position in encoded bytes; every read is checked and advances past what it read.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

const CONTINUES: u64 = 0x8080_8080_8080_8080;

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The next `length` bytes.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed::EndOfData)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next `N` bytes.
    #[inline]
    pub fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed::EndOfData)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// A zigzag `long`.
    #[inline]
    pub fn long(&mut self) -> Result<i64, Malformed> {
        let raw = self.varint()?;
        Ok((raw >> 1).cast_signed() ^ -((raw & 1).cast_signed()))
    }

    /// A zigzag `int`.
    #[inline]
    pub fn int(&mut self) -> Result<i32, Malformed> {
        i32::try_from(self.long()?).map_err(|_| Malformed::IntOutOfRange)
    }

    /// A `boolean`.
    #[inline]
    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        match self.take_array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Malformed::Boolean),
        }
    }

    /// A `float`.
    #[inline]
    pub fn float(&mut self) -> Result<f32, Malformed> {
        Ok(f32::from_le_bytes(self.take_array()?))
    }

    /// A `double`.
    #[inline]
    pub fn double(&mut self) -> Result<f64, Malformed> {
        Ok(f64::from_le_bytes(self.take_array()?))
    }

    /// The contents of a `bytes` or a `string`.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.long()?).map_err(|_| Malformed::Length)?;
        if length > self.rest.len() {
            return Err(Malformed::Length);
        }
        self.take(length)
    }

    /// As [`Self::bytes`], with the 16 bytes that begin where the contents begin, if there are so
    /// many left: a copy of fixed size is cheaper than one of a few bytes.
    #[inline]
    pub fn bytes_and_chunk(&mut self) -> Result<(&'a [u8], Option<&'a [u8; 16]>), Malformed> {
        let length = usize::try_from(self.long()?).map_err(|_| Malformed::Length)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed::Length)?;
        let chunk = self.rest.first_chunk();
        self.rest = rest;
        Ok((taken, chunk))
    }

    /// Move past `count` variable-length integers, of whatever value.
    #[inline]
    pub fn skip_varints(&mut self, count: usize) -> Result<(), Malformed> {
        let mut left = count;
        // Each byte without its high bit ends an integer, so eight bytes tell how many they end.
        while left >= 8 {
            let Some((chunk, rest)) = self.rest.split_first_chunk::<8>() else { break };
            let ends = (!u64::from_le_bytes(*chunk) & CONTINUES).count_ones();
            left -= usize::try_from(ends).unwrap_or(8);
            self.rest = rest;
        }
        while left > 0 {
            let [byte] = self.take_array::<1>()?;
            left -= usize::from(byte < 0x80);
        }
        Ok(())
    }

    /// The item count of the next block of an array or map, and its length in bytes where the
    /// writer recorded one. A count of zero ends the array or map.
    #[inline]
    pub fn block_header(&mut self) -> Result<(usize, Option<usize>), Malformed> {
        let count = self.long()?;
        if count >= 0 {
            return Ok((usize::try_from(count).map_err(|_| Malformed::Length)?, None));
        }
        let length = usize::try_from(self.long()?).map_err(|_| Malformed::Length)?;
        if length > self.rest.len() {
            return Err(Malformed::Length);
        }
        let count = usize::try_from(count.unsigned_abs()).map_err(|_| Malformed::Length)?;
        Ok((count, Some(length)))
    }

    /// As [`Self::block_header`], for items of at least one byte each: the count is at most the
    /// number of bytes left, so it may size an allocation.
    #[inline]
    pub fn bounded_count(&mut self) -> Result<usize, Malformed> {
        let (count, _) = self.block_header()?;
        if count > self.rest.len() { Err(Malformed::Length) } else { Ok(count) }
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Malformed> {
        if let [byte, rest @ ..] = self.rest
            && *byte < 0x80
        {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        self.long_varint()
    }

    /// Varints of two bytes or more. Eight bytes are looked at together: the first clear high
    /// bit ends the number, and three shifts close the gaps between its groups of seven bits.
    #[inline]
    fn long_varint(&mut self) -> Result<u64, Malformed> {
        let Some(chunk) = self.rest.first_chunk::<8>() else { return self.slow_varint() };
        let word = u64::from_le_bytes(*chunk);
        let ends = !word & CONTINUES;
        if ends == 0 {
            return self.slow_varint();
        }
        let last_bit = ends.trailing_zeros();
        let kept = word & (u64::MAX >> (63 - last_bit));
        let pairs = (kept & 0x007f_007f_007f_007f) | ((kept & 0x7f00_7f00_7f00_7f00) >> 1);
        let quads = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
        let value = (quads & 0x0fff_ffff) | ((quads & 0x0fff_ffff_0000_0000) >> 4);
        let length = usize::try_from(last_bit / 8 + 1).map_err(|_| Malformed::VarintTooLong)?;
        self.take(length)?;
        Ok(value)
    }

    #[cold]
    fn slow_varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0_u64;
        for index in 0..10_u32 {
            let [byte] = self.take_array::<1>()?;
            let group = u64::from(byte & 0x7f);
            if index == 9 && group > 1 {
                return Err(Malformed::VarintTooLong);
            }
            value |= group << (7 * index);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed::VarintTooLong)
    }
}

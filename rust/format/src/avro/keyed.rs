//! Reads of the entries of maps from int, which are most of a manifest's bytes.

use super::cursor::{Cursor, Malformed, low_half};

/// Bytes by common lengths of bounds: a copy of constant size is cheaper than one of variable size.
#[derive(Debug, Clone, Copy)]
pub enum ShortBytes<'a> {
    /// Four bytes: int, date or float.
    Four(&'a [u8; 4]),
    /// Eight bytes: long, timestamp or double.
    Eight(&'a [u8; 8]),
    /// Sixteen bytes: uuid, or a truncated string.
    Sixteen(&'a [u8; 16]),
    /// The first `n` bytes of this chunk.
    Fewer(&'a [u8; 16], usize),
    /// Bytes of another length.
    Any(&'a [u8]),
}

impl<'a> Cursor<'a> {
    /// Read the int key of a map and its `long` value.
    ///
    /// One branch per length is faster than arithmetic over all lengths: lengths repeat, so the branches are predicted.
    #[inline(always)]
    pub fn int_and_long(&mut self) -> Result<(i32, i64), Malformed> {
        if let Some(chunk) = self.rest.first_chunk::<8>() {
            let word = u64::from_le_bytes(*chunk);
            let value = low_half(word >> 8);
            let key = small_int(word);
            if word & 0x80 == 0 {
                if value & 0x80 == 0 {
                    self.advance(2)?;
                    return Ok((key, small_long(value & 0x7f)));
                }
                let pair = (value & 0x7f) | ((value & 0x7f00) >> 1);
                if value & 0x8000 == 0 {
                    self.advance(3)?;
                    return Ok((key, small_long(pair)));
                }
                if value & 0x80_0000 == 0 {
                    self.advance(4)?;
                    return Ok((key, small_long(pair | ((value & 0x7f_0000) >> 2))));
                }
                if value & 0x8000_0000 == 0 {
                    self.advance(5)?;
                    let high = ((value & 0x7f_0000) >> 2) | ((value & 0x7f00_0000) >> 3);
                    return Ok((key, small_long(pair | high)));
                }
            }
        }
        let (pair, after) = self.any_int_and_long()?;
        *self = after;
        Ok(pair)
    }

    /// Read the int key of a map and its bytes, with one branch per common length; see [`Self::int_and_long`].
    #[inline(always)]
    pub fn int_and_bytes(&mut self) -> Result<(i32, ShortBytes<'a>), Malformed> {
        if let [key, length, after @ ..] = self.rest
            && *key < 0x80
        {
            let int = small_int(u64::from(*key));
            if *length == 16
                && let Some((value, rest)) = after.split_first_chunk::<8>()
            {
                self.rest = rest;
                return Ok((int, ShortBytes::Eight(value)));
            }
            if *length == 32
                && let Some((value, rest)) = after.split_first_chunk::<16>()
            {
                self.rest = rest;
                return Ok((int, ShortBytes::Sixteen(value)));
            }
            if *length == 8
                && let Some((value, rest)) = after.split_first_chunk::<4>()
            {
                self.rest = rest;
                return Ok((int, ShortBytes::Four(value)));
            }
            if *length < 32
                && *length & 1 == 0
                && let Some(chunk) = after.first_chunk::<16>()
            {
                let (_, rest) =
                    after.split_at_checked(usize::from(*length >> 1)).unwrap_or_default();
                self.rest = rest;
                return Ok((int, ShortBytes::Fewer(chunk, usize::from(*length >> 1))));
            }
        }
        let (pair, after) = self.any_int_and_bytes()?;
        *self = after;
        Ok(pair)
    }

    // Rare cases are not inlined. They take and return the cursor by value: a reference would keep the caller's cursor
    // in memory instead of registers.
    #[inline(never)]
    fn any_int_and_long(mut self) -> Result<((i32, i64), Self), Malformed> {
        Ok(((self.int()?, self.long()?), self))
    }

    #[inline(never)]
    fn any_int_and_bytes(mut self) -> Result<((i32, ShortBytes<'a>), Self), Malformed> {
        Ok(((self.int()?, ShortBytes::Any(self.bytes()?)), self))
    }
}

/// Return the int of a varint of one byte.
#[inline(always)]
fn small_int(word: u64) -> i32 {
    let raw = low_half(word) & 0x7f;
    (raw >> 1).cast_signed() ^ -((raw & 1).cast_signed())
}

/// Return the long of a varint of at most 28 bits.
#[inline(always)]
fn small_long(raw: u32) -> i64 {
    i64::from((raw >> 1).cast_signed() ^ -((raw & 1).cast_signed()))
}

//! Decoding of DELTA_BINARY_PACKED integers.
//!
//! Spec: Parquet format, Delta Encoding (DELTA_BINARY_PACKED = 5).

use parquet::errors::Result;

use super::bit_packing::wide_value;
use super::hybrid::varint;
use super::page::damaged;

/// Maximum miniblocks of a block, above the number of any known writer.
const MAX_MINIBLOCKS: usize = 4096;

/// A position in a sequence of differences. The page owns the bytes, so every call takes them as an argument.
#[derive(Debug, Clone)]
pub(crate) struct Delta {
    miniblock_values: usize,
    miniblocks: usize,
    /// Number of unread values of the sequence.
    left: usize,
    /// The next value.
    next: i64,
    min_delta: i64,
    /// Offset of the bit widths of the current block's miniblocks.
    widths: usize,
    /// Offset of the current miniblock's bytes.
    bytes_at: usize,
    /// Ordinal of the current miniblock within its block.
    miniblock: usize,
    /// Number of values read from the current miniblock.
    index: usize,
}

impl Delta {
    /// Parse the header at an offset and return the position of the first value.
    ///
    /// # Errors
    /// `General` for a damaged header.
    pub(crate) fn new(bytes: &[u8], at: usize) -> Result<Self> {
        let mut numbers = [0_u64; 4];
        let mut at = at;
        for number in &mut numbers {
            (*number, at) = varint(bytes, at).ok_or_else(ended)?;
        }
        let [block_values, miniblocks, count, first] = numbers;
        let size = |value: u64| usize::try_from(value).map_err(|_| ended());
        let (block_values, miniblocks, left) =
            (size(block_values)?, size(miniblocks)?, size(count)?);
        let is_valid = (1..=MAX_MINIBLOCKS).contains(&miniblocks)
            && block_values.is_multiple_of(miniblocks)
            && (block_values / miniblocks).is_multiple_of(8)
            && block_values > 0;
        if !is_valid {
            let reason = format!(
                "expected delta blocks of whole miniblocks, got {block_values} values in {miniblocks}"
            );
            return Err(damaged(reason));
        }
        Ok(Self {
            miniblock_values: block_values / miniblocks,
            miniblocks,
            left,
            next: zigzag(first),
            min_delta: 0,
            widths: at,
            bytes_at: at,
            miniblock: miniblocks,
            index: 0,
        })
    }

    /// Decode the next `count` values, and pass each of them to `take`.
    ///
    /// # Errors
    /// `General` if the sequence ends before the last of these values.
    pub(crate) fn each(
        &mut self,
        bytes: &[u8],
        count: usize,
        mut take: impl FnMut(i64),
    ) -> Result<()> {
        if count > self.left {
            return Err(ended());
        }
        for _ in 0..count {
            take(self.next);
            self.left -= 1;
            if self.left > 0 {
                self.next = self.next.wrapping_add(self.difference(bytes)?);
            }
        }
        Ok(())
    }

    fn difference(&mut self, bytes: &[u8]) -> Result<i64> {
        if self.miniblock == self.miniblocks {
            self.begin_block(bytes)?;
        }
        let width = usize::from(*bytes.get(self.widths + self.miniblock).ok_or_else(ended)?);
        if width > 64 {
            return Err(damaged(format!("expected differences of at most 64 bits, got {width}")));
        }
        let bit = self.index * width;
        let miniblock = bytes.get(self.bytes_at..).ok_or_else(ended)?;
        if (bit + width).div_ceil(8) > miniblock.len() {
            return Err(ended());
        }
        let difference =
            wide_value(width, miniblock, bit).cast_signed().wrapping_add(self.min_delta);
        self.index += 1;
        if self.index == self.miniblock_values {
            self.bytes_at = self.bytes_at.saturating_add(self.miniblock_bytes(width));
            (self.miniblock, self.index) = (self.miniblock + 1, 0);
        }
        Ok(difference)
    }

    fn begin_block(&mut self, bytes: &[u8]) -> Result<()> {
        let (min_delta, at) = varint(bytes, self.bytes_at).ok_or_else(ended)?;
        self.min_delta = zigzag(min_delta);
        self.widths = at;
        self.bytes_at = at.checked_add(self.miniblocks).ok_or_else(ended)?;
        (self.miniblock, self.index) = (0, 0);
        Ok(())
    }

    fn miniblock_bytes(&self, width: usize) -> usize {
        self.miniblock_values.saturating_mul(width) / 8
    }

    /// Return the offset after the sequence. No value may have been read.
    ///
    /// # Errors
    /// `General` if the bytes end before the sequence does.
    pub(crate) fn end(&self, bytes: &[u8]) -> Result<usize> {
        let mut walk = self.clone();
        // The first value is stored in the header.
        let mut left = walk.left.saturating_sub(1);
        while left > 0 {
            walk.begin_block(bytes)?;
            for miniblock in 0..walk.miniblocks {
                if left == 0 {
                    break;
                }
                let width = usize::from(*bytes.get(walk.widths + miniblock).ok_or_else(ended)?);
                walk.bytes_at = walk.bytes_at.saturating_add(walk.miniblock_bytes(width));
                left = left.saturating_sub(walk.miniblock_values);
            }
        }
        match walk.bytes_at <= bytes.len() {
            true => Ok(walk.bytes_at),
            false => Err(ended()),
        }
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn ended() -> parquet::errors::ParquetError {
    damaged("the differences end before its values".into())
}

//! Decoding of RLE and bit-packed runs: levels, dictionary keys and booleans.
//!
//! Spec: Parquet format, Run Length Encoding / Bit-Packing Hybrid (RLE = 3).

use parquet::errors::{ParquetError, Result};

use super::bit_packing::{BLOCK, unpack_blocks};

/// Maximum bits of a value; dictionary keys and levels have at most 32.
const MAX_WIDTH: usize = 32;

/// A position in a sequence of runs. The page owns the bytes, so every call takes them as an argument.
#[derive(Debug, Clone)]
pub(crate) struct Hybrid {
    width: usize,
    /// Offset of the next run's header.
    next: usize,
    run: Run,
    /// Number of unread values of the current run.
    left: usize,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Equal(u32),
    /// `start` is the offset of the run's first byte, `index` the number of values that have been read.
    Packed {
        start: usize,
        index: usize,
    },
}

/// Consecutive values of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values<'a> {
    Equal(u32),
    /// Bit-packed values, of which the first `index` have been read.
    Packed {
        bytes: &'a [u8],
        index: usize,
    },
}

impl Hybrid {
    /// Return the position at the run header at offset `next`, for values of `width` bits.
    ///
    /// # Errors
    /// `General` for a width above 32.
    pub(crate) fn new(width: usize, next: usize) -> Result<Self> {
        if width > MAX_WIDTH {
            return Err(damaged(format!("expected values of at most 32 bits, got {width}")));
        }
        Ok(Self { width, next, run: Run::Equal(0), left: 0 })
    }

    /// Return the next values of one run and their number, from 1 to `most`.
    ///
    /// # Errors
    /// `General` at the end of the runs.
    pub(crate) fn next_values<'a>(
        &mut self,
        bytes: &'a [u8],
        most: usize,
    ) -> Result<(Values<'a>, usize)> {
        while self.left == 0 {
            self.begin_run(bytes)?;
        }
        let count = self.left.min(most);
        self.left -= count;
        let values = match &mut self.run {
            Run::Equal(value) => Values::Equal(*value),
            Run::Packed { start, index } => {
                let before = *index;
                *index += count;
                Values::Packed {
                    bytes: bytes.get(*start..self.next).unwrap_or_default(),
                    index: before,
                }
            }
        };
        Ok((values, count))
    }

    fn begin_run(&mut self, bytes: &[u8]) -> Result<()> {
        let ended = || damaged("the runs end before the values of the page".into());
        let (header, start) = varint(bytes, self.next).ok_or_else(ended)?;
        let count = usize::try_from(header >> 1).map_err(|_| ended())?;
        if header & 1 == 1 {
            // The last run may be truncated after the page's last value.
            let size = count.saturating_mul(self.width).min(bytes.len() - start);
            self.left = count.saturating_mul(8);
            if let Some(stored) = (size * 8).checked_div(self.width) {
                self.left = self.left.min(stored);
            }
            self.next = start + size;
            self.run = Run::Packed { start, index: 0 };
            if self.left == 0 && count > 0 {
                return Err(ended());
            }
            return Ok(());
        }
        let size = self.width.div_ceil(8);
        let stored = bytes.get(start..start + size).ok_or_else(ended)?;
        let mut value = [0; 4];
        value[..size].copy_from_slice(stored);
        self.run = Run::Equal(u32::from_le_bytes(value));
        self.left = count;
        self.next = start + size;
        Ok(())
    }

    /// Append the next `count` values.
    ///
    /// # Errors
    /// The errors of [`Hybrid::next_values`].
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        mut count: usize,
        out: &mut Vec<u32>,
    ) -> Result<()> {
        out.reserve(count);
        while count > 0 {
            let (values, found) = self.next_values(bytes, count)?;
            count -= found;
            match values {
                Values::Equal(value) => out.resize(out.len() + found, value),
                Values::Packed { bytes, index } => unpack(self.width, bytes, (index, found), out),
            }
        }
        Ok(())
    }

    /// Skip the next `count` values.
    ///
    /// # Errors
    /// The errors of [`Hybrid::next_values`].
    pub(crate) fn skip(&mut self, bytes: &[u8], mut count: usize) -> Result<()> {
        while count > 0 {
            count -= self.next_values(bytes, count)?.1;
        }
        Ok(())
    }
}

fn unpack(width: usize, bytes: &[u8], (index, count): (usize, usize), out: &mut Vec<u32>) {
    let (mut index, end) = (index, index + count);
    let from = |index: usize| bytes.get(index / BLOCK * width * (BLOCK / 8)..).unwrap_or_default();
    while index < end {
        let whole = (end - index) / BLOCK;
        if index.is_multiple_of(BLOCK) && whole > 0 {
            let start = out.len();
            out.resize(start + whole * BLOCK, 0);
            unpack_blocks(width, from(index), out[start..].as_chunks_mut().0);
            index += whole * BLOCK;
            continue;
        }
        let mut blocks = [[0; BLOCK]];
        unpack_blocks(width, from(index), &mut blocks);
        let [block] = blocks;
        let taken = &block[index % BLOCK..BLOCK.min(index % BLOCK + end - index)];
        out.extend_from_slice(taken);
        index += taken.len();
    }
}

/// Return the unsigned LEB128 integer at an offset, and the offset after its last byte.
pub(crate) fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for (index, byte) in bytes.get(at..)?.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(7 * index as u32)?;
        if *byte < 0x80 {
            return Some((value, at + index + 1));
        }
    }
    None
}

fn damaged(reason: String) -> ParquetError {
    ParquetError::General(format!("page: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three runs: the value 7 five times, eight packed values 0 to 7 of 3 bits, the value 2 once.
    const BYTES: &[u8] = &[10, 7, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010, 2, 2];

    fn all() -> Vec<u32> {
        [vec![7; 5], (0..8).collect(), vec![2]].concat()
    }

    #[test]
    fn values_of_both_kinds_of_runs_are_read_from_any_start() {
        for start in 0..=14 {
            let mut hybrid = Hybrid::new(3, 0).unwrap();
            hybrid.skip(BYTES, start).unwrap();
            let mut found = Vec::new();
            hybrid.read(BYTES, 14 - start, &mut found).unwrap();
            assert_eq!(found, all()[start..]);
            assert!(hybrid.skip(BYTES, 1).is_err());
        }
    }

    #[test]
    fn values_read_one_by_one_are_the_same() {
        let mut hybrid = Hybrid::new(3, 0).unwrap();
        let mut found = Vec::new();
        for _ in 0..14 {
            hybrid.read(BYTES, 1, &mut found).unwrap();
        }
        assert_eq!(found, all());
    }

    #[test]
    fn runs_of_no_bits_are_zeros_and_too_wide_values_are_refused() {
        let mut hybrid = Hybrid::new(0, 0).unwrap();
        let mut found = Vec::new();
        hybrid.read(&[3, 8], 12, &mut found).unwrap();
        assert_eq!(found, [0; 12]);
        assert!(Hybrid::new(33, 0).is_err());
    }

    #[test]
    fn run_without_values_ends_or_is_skipped() {
        let mut hybrid = Hybrid::new(8, 0).unwrap();
        let mut found = Vec::new();
        // The first run has no values, the second run has two.
        hybrid.read(&[0, 9, 4, 5], 2, &mut found).unwrap();
        assert_eq!(found, [5, 5]);
        assert!(Hybrid::new(8, 0).unwrap().skip(&[0xff; 12], 1).is_err());
    }
}

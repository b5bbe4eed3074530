//! Definition levels of columns without nesting, and the validity bitmaps decoded from them.

use std::ops::Range;

use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use parquet::errors::Result;

use super::hybrid::{Hybrid, Values};

/// The definition levels of a page: 0 for null, 1 for a value.
#[derive(Debug, Clone)]
pub(crate) struct Levels {
    runs: Hybrid,
    bytes: Range<usize>,
}

impl Levels {
    /// Return the levels in a byte range of a page.
    ///
    /// # Errors
    /// None: a width of one bit is always valid.
    pub(crate) fn new(bytes: Range<usize>) -> Result<Self> {
        Ok(Self { runs: Hybrid::new(1, 0)?, bytes })
    }

    /// Append the validity of the next `rows` rows, and return the number of non-null rows.
    ///
    /// # Errors
    /// The errors of [`Hybrid::next_values`].
    pub(crate) fn read(
        &mut self,
        page: &[u8],
        mut rows: usize,
        validity: &mut Validity,
    ) -> Result<usize> {
        let mut valid = 0;
        while rows > 0 {
            let bytes = page.get(self.bytes.clone()).unwrap_or_default();
            let (values, count) = self.runs.next_values(bytes, rows)?;
            rows -= count;
            match values {
                Values::Equal(0) => validity.append_nulls(count),
                Values::Equal(_) => {
                    validity.append_values(count);
                    valid += count;
                }
                Values::Packed { bytes, index } => {
                    validity.append_bits(bytes, index, count);
                    valid += ones(bytes, index, count);
                }
            }
        }
        Ok(valid)
    }

    /// Skip the next `rows` rows, and return the number of non-null rows among them.
    ///
    /// # Errors
    /// The errors of [`Hybrid::next_values`].
    pub(crate) fn skip(&mut self, page: &[u8], mut rows: usize) -> Result<usize> {
        let mut valid = 0;
        while rows > 0 {
            let bytes = page.get(self.bytes.clone()).unwrap_or_default();
            let (values, count) = self.runs.next_values(bytes, rows)?;
            rows -= count;
            valid += match values {
                Values::Equal(0) => 0,
                Values::Equal(_) => count,
                Values::Packed { bytes, index } => ones(bytes, index, count),
            };
        }
        Ok(valid)
    }
}

fn ones(bytes: &[u8], index: usize, count: usize) -> usize {
    UnalignedBitChunk::new(bytes, index, count).count_ones()
}

/// The validity of the rows of an array under construction.
#[derive(Debug, Default)]
pub(crate) struct Validity {
    rows: usize,
    /// The validity bitmap; `None` until levels other than a run of values are appended.
    bits: Option<BooleanBufferBuilder>,
}

impl Validity {
    pub(crate) fn append_values(&mut self, count: usize) {
        if let Some(bits) = &mut self.bits {
            bits.append_n(count, true);
        }
        self.rows += count;
    }

    /// Return whether no validity bitmap was needed so far: all appended rows are non-null.
    pub(crate) fn is_dense(&self) -> bool {
        self.bits.is_none()
    }

    fn append_nulls(&mut self, count: usize) {
        self.bits().append_n(count, false);
        self.rows += count;
    }

    fn append_bits(&mut self, bytes: &[u8], index: usize, count: usize) {
        self.bits().append_packed_range(index..index + count, bytes);
        self.rows += count;
    }

    fn bits(&mut self) -> &mut BooleanBufferBuilder {
        let rows = self.rows;
        self.bits.get_or_insert_with(|| {
            let mut bits = BooleanBufferBuilder::new(rows.max(1024));
            bits.append_n(rows, true);
            bits
        })
    }

    /// Return whether a row is non-null.
    fn is_valid(bits: &[u8], row: usize) -> bool {
        bits.get(row / 8).is_none_or(|byte| byte >> (row % 8) & 1 == 1)
    }

    /// Move the last `valid` values to the non-null rows among the last `rows` rows, and set the other rows to `null`.
    pub(crate) fn spread<T: Copy>(&self, values: &mut Vec<T>, rows: usize, valid: usize, null: T) {
        let Some(bits) = &self.bits else { return };
        let bits = bits.as_slice();
        let start = values.len() - valid;
        values.resize(start + rows, null);
        let first_row = self.rows - rows;
        let target = &mut values[start..];
        let mut from = valid;
        for row in (0..rows).rev() {
            // The value is read for null rows as well, so that no branch depends on the data.
            let is_valid = Self::is_valid(bits, first_row + row);
            let value = target[from.saturating_sub(1)];
            target[row] = if is_valid { value } else { null };
            from -= usize::from(is_valid && from > 0);
        }
    }

    pub(crate) fn finish(self) -> Option<NullBuffer> {
        let nulls = NullBuffer::new(self.bits?.finish());
        (nulls.null_count() > 0).then_some(nulls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three runs: eight packed levels, 1 at even rows; three nulls; four values.
    const LEVELS: &[u8] = &[3, 0b0101_0101, 6, 0, 8, 1];

    fn expected() -> Vec<bool> {
        [(0..8).map(|n| n % 2 == 0).collect::<Vec<_>>(), vec![false; 3], vec![true; 4]].concat()
    }

    #[test]
    fn values_move_to_the_rows_that_have_one() {
        for start in 0..15 {
            let mut levels = Levels::new(0..LEVELS.len()).unwrap();
            levels.skip(LEVELS, start).unwrap();
            let mut validity = Validity::default();
            validity.append_values(2);
            let rows = 15 - start;
            let valid = levels.read(LEVELS, rows, &mut validity).unwrap();
            let mut values = vec![-1, -2];
            values.extend(1..=i32::try_from(valid).unwrap());
            validity.spread(&mut values, rows, valid, 0);
            let mut next = 0;
            let all = expected();
            let spread = all[start..].iter().map(|is_valid| {
                next += i32::from(*is_valid);
                if *is_valid { next } else { 0 }
            });
            let spread = [-1, -2].into_iter().chain(spread).collect::<Vec<_>>();
            let has_nulls = all[start..].contains(&false);
            assert_eq!(values, spread);
            assert_eq!(validity.finish().is_some(), has_nulls);
        }
    }

    #[test]
    fn rows_that_all_have_values_need_no_bits() {
        let mut levels = Levels::new(4..6).unwrap();
        let mut validity = Validity::default();
        assert_eq!(levels.read(LEVELS, 4, &mut validity).unwrap(), 4);
        assert!(validity.finish().is_none());
    }
}

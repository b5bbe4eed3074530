//! Decoding of byte arrays to Arrow strings and binaries with 32-bit offsets.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, StringArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use parquet::basic::Type as PhysicalType;
use parquet::errors::{ParquetError, Result};

use super::encoded::{Encoded, byte_array, ended};
use super::validity::Validity;
use super::value_type::{Page, ValueType};

/// Values of at most this many bytes are copied as blocks of this size: a copy of constant length needs no call of
/// `memcpy`.
const BLOCK: usize = 48;
/// Block size of dictionary entries, copied as for [`BLOCK`].
const SHORT: usize = 32;

/// PLAIN values whose mean length is taken as the mean length of an array.
const SAMPLED_VALUES: usize = 64;
/// Maximum bytes that are reserved for values before they are read: a sample of damaged or unusual values may be long.
const MAX_RESERVED: usize = 16 << 20;

/// The Arrow type of byte arrays: strings or binaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Text,
    Binary,
}

/// A column of byte arrays, decoded to an Arrow array with 32-bit offsets.
pub(crate) struct Texts(pub(crate) Content);

/// Concatenated byte arrays.
#[derive(Debug)]
pub(crate) struct ByteArrays {
    bytes: Vec<u8>,
    /// The start of each value, and the end of the last value.
    offsets: Vec<i32>,
}

/// The entries of a dictionary of byte arrays.
#[derive(Debug)]
pub(crate) struct TextDictionary {
    entries: ByteArrays,
    /// The entries as padded blocks with their lengths, followed by empty entries up to a power of two. Empty if an
    /// entry is longer than [`SHORT`].
    short: Vec<([u8; SHORT], u8)>,
    /// Bytes of the longest entry of `short`.
    longest: usize,
}

impl ByteArrays {
    pub(crate) fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Self { bytes: Vec::new(), offsets }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        let (start, end) = (*self.offsets.get(index)?, *self.offsets.get(index + 1)?);
        self.bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// Append the first `length` bytes of a block.
    fn push_block<const N: usize>(&mut self, block: &[u8; N], length: usize) {
        let end = self.bytes.len() + length;
        self.bytes.extend_from_slice(block);
        self.bytes.truncate(end);
        self.end_value();
    }

    fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.end_value();
    }

    fn end_value(&mut self) {
        // A wrapped offset is an error in `check_reach`.
        self.offsets.push(self.bytes.len() as i32);
    }

    /// Append the next `count` values of a page that is not dictionary-encoded.
    ///
    /// # Errors
    /// `General` if the page ends before the last of these values; `ArrowError` if the bytes exceed 32-bit offsets.
    pub(crate) fn append(
        &mut self,
        page: &[u8],
        encoded: &mut Encoded,
        count: usize,
    ) -> Result<()> {
        let Encoded::Plain { at } = encoded else {
            encoded.byte_arrays(page, count, &mut |value| self.push(value))?;
            return self.check_reach();
        };
        self.reserve(page, *at, count);
        for _ in 0..count {
            let (value, end) = byte_array(page, *at).ok_or_else(ended)?;
            *at = end;
            let start = end - value.len();
            match page.get(start..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
                Some(block) if value.len() <= BLOCK => self.push_block(block, value.len()),
                _ => self.push(value),
            }
        }
        self.check_reach()
    }

    /// Reserve bytes for the remaining rows of the array, by the mean length of the next PLAIN values of a page: an array
    /// that grows by doubling is copied several times.
    fn reserve(&mut self, page: &[u8], mut at: usize, count: usize) {
        let sampled = count.min(SAMPLED_VALUES);
        let mut bytes = 0_usize;
        for _ in 0..sampled {
            let Some((value, end)) = byte_array(page, at) else { return };
            bytes += value.len();
            at = end;
        }
        let rows = count.max(self.offsets.capacity().saturating_sub(self.offsets.len()));
        let expected = bytes.saturating_mul(rows) / sampled.max(1);
        // One sixteenth more, since the sample is small.
        let expected = expected.saturating_add(expected / 16).saturating_add(BLOCK);
        self.bytes.reserve(expected.min(MAX_RESERVED));
    }

    fn check_reach(&self) -> Result<()> {
        match i32::try_from(self.bytes.len()) {
            Ok(_) => Ok(()),
            Err(_) => Err(ParquetError::ArrowError(format!(
                "{} bytes of text in one batch are more than 32-bit offsets reach; \
                 read with a smaller batch_size",
                self.bytes.len()
            ))),
        }
    }

    /// Insert empty values for the null rows among the last `rows` rows.
    pub(crate) fn spread(&mut self, validity: &Validity, rows: usize, valid: usize) {
        let start = self.offsets.len() - valid;
        let mut last = self.offsets[start - 1];
        validity.spread(&mut self.offsets, rows, valid, 0);
        for end in &mut self.offsets[start..] {
            last = last.max(*end);
            *end = last;
        }
    }

    /// Return the values whose bit in `kept` is set.
    fn retained(&self, kept: &BooleanBuffer) -> Self {
        let rows = kept.count_set_bits();
        let mut retained = Self::new(rows);
        let share = self.bytes.len() as u64 * rows as u64 / self.len().max(1) as u64;
        retained.bytes.reserve(usize::try_from(share).unwrap_or(0) + BLOCK);
        for row in kept.set_indices() {
            let Some(value) = self.get(row) else { continue };
            let start = self.offsets[row].cast_unsigned() as usize;
            match self.bytes.get(start..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
                Some(block) if value.len() <= BLOCK => retained.push_block(block, value.len()),
                _ => retained.push(value),
            }
        }
        retained
    }

    /// Return an array with 32-bit offsets.
    ///
    /// # Errors
    /// `ArrowError` for strings that are not UTF-8.
    pub(crate) fn finish(self, content: Content, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let values = Buffer::from(self.bytes);
        let array: Result<ArrayRef, _> = match content {
            Content::Text => {
                StringArray::try_new(offsets, values, nulls).map(|it| Arc::new(it) as _)
            }
            Content::Binary => {
                BinaryArray::try_new(offsets, values, nulls).map(|it| Arc::new(it) as _)
            }
        };
        array.map_err(|error| ParquetError::ArrowError(error.to_string()))
    }
}

impl TextDictionary {
    /// Decode a dictionary page.
    ///
    /// # Errors
    /// `General` if the page ends before its last entry.
    fn new(page: &[u8], count: usize) -> Result<Self> {
        let mut entries = ByteArrays::new(0);
        entries.append(page, &mut Encoded::Plain { at: 0 }, count)?;
        let short = (0..count).map_while(|index| {
            let entry = entries.get(index).filter(|entry| entry.len() <= SHORT)?;
            let mut block = [0; SHORT];
            block[..entry.len()].copy_from_slice(entry);
            Some((block, entry.len() as u8))
        });
        let mut short: Vec<_> = short.collect();
        if short.len() == count {
            short.resize(count.next_power_of_two(), ([0; SHORT], 0));
        } else {
            short.clear();
        }
        let longest = short.iter().map(|(_, length)| usize::from(*length)).max().unwrap_or(0);
        Ok(Self { entries, short, longest })
    }

    fn append(&self, keys: &[u32], out: &mut ByteArrays) {
        if self.short.is_empty() {
            for key in keys {
                out.push(self.entries.get(*key as usize).unwrap_or_default());
            }
            return;
        }
        // The number of entries is a power of two: masked keys need no bounds check.
        let mask = self.short.len() - 1;
        let entries = &self.short[..=mask];
        let ByteArrays { bytes, offsets } = out;
        let mut end = bytes.len();
        // Every entry is copied as a whole block, so the last block may extend beyond the last value.
        bytes.resize(end + keys.len() * self.longest + SHORT, 0);
        offsets.extend(keys.iter().map(|key| {
            let (block, length) = &entries[*key as usize & mask];
            if let Some(room) = bytes.get_mut(end..end + SHORT) {
                room.copy_from_slice(block);
            }
            end += usize::from(*length);
            // A wrapped offset is an error in `check_reach`.
            end as i32
        }));
        bytes.truncate(end);
    }
}

impl ValueType for Texts {
    type Values = ByteArrays;
    type Dictionary = TextDictionary;

    fn physical(&self) -> (PhysicalType, usize) {
        (PhysicalType::BYTE_ARRAY, 0)
    }

    fn dictionary(&self, bytes: &[u8], entries: usize) -> Result<Self::Dictionary> {
        TextDictionary::new(bytes, entries)
    }

    fn values(&self, rows: usize) -> ByteArrays {
        ByteArrays::new(rows)
    }

    fn append(
        &self,
        page: Page<'_, TextDictionary>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut ByteArrays,
    ) -> Result<()> {
        let Some(dictionary) = page.dictionary else {
            return values.append(page.bytes, encoded, count);
        };
        values.bytes.reserve(count.saturating_mul(dictionary.longest).saturating_add(SHORT));
        let entries = dictionary.entries.len();
        let append = |keys: &[u32]| dictionary.append(keys, values);
        encoded.key_blocks(page.bytes, (count, entries), page.keys, append)?;
        values.check_reach()
    }

    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut ByteArrays) {
        values.spread(validity, rows, valid);
    }

    fn retain(&self, values: &mut ByteArrays, kept: &BooleanBuffer) -> bool {
        *values = values.retained(kept);
        true
    }

    fn finish(&self, values: ByteArrays, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        values.finish(self.0, nulls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(values: impl Iterator<Item = usize>) -> Vec<u8> {
        values
            .flat_map(|length| {
                [&u32::try_from(length).unwrap().to_le_bytes()[..], &vec![b'x'; length]].concat()
            })
            .collect()
    }

    #[test]
    fn values_longer_or_shorter_than_the_sample_are_read() {
        for (first, rest) in [(5_000, 1), (1, 5_000), (0, 40), (3, 3)] {
            let lengths = || (0..200).map(|row| if row < SAMPLED_VALUES { first } else { rest });
            let mut values = ByteArrays::new(200);
            values.append(&page(lengths()), &mut Encoded::Plain { at: 0 }, 200).unwrap();
            let found = (0..200).map(|row| values.get(row).unwrap().len());
            assert!(found.eq(lengths()));
        }
    }

    #[test]
    fn values_of_every_length_are_retained() {
        let lengths = || (0..500).map(|row| row * row % 61);
        let mut values = ByteArrays::new(500);
        values.append(&page(lengths()), &mut Encoded::Plain { at: 0 }, 500).unwrap();
        for every in [1, 2, 7, 499] {
            let kept = BooleanBuffer::collect_bool(500, |row| row % every == 0);
            let retained = values.retained(&kept);
            assert_eq!(retained.len(), kept.count_set_bits());
            let expected = kept.set_indices().map(|row| values.get(row));
            assert!((0..retained.len()).map(|row| retained.get(row)).eq(expected));
        }
    }

    #[test]
    fn long_first_value_reserves_a_bounded_number_of_bytes() {
        let mut values = ByteArrays::new(1 << 18);
        let page = page(std::iter::once(1 << 20));
        values.append(&page, &mut Encoded::Plain { at: 0 }, 1).unwrap();
        assert!(values.bytes.capacity() <= 2 * MAX_RESERVED);
    }
}

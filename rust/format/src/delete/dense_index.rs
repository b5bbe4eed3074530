//! An index of integer keys that lie close together: an array over the range of the keys.
//!
//! Numbers that a database assigns in order lie close together. A lookup is one load, and rows in the order of their keys
//! read the array in order; a hash table reads one random place for each row.

use arrow_buffer::{BooleanBuffer, Buffer};

/// Entries that the array may have for each key. A hash table takes the memory of six entries for each key.
const ENTRIES_PER_KEY: usize = 8;
/// Entries that the array may have for any number of keys.
const LEAST_ENTRIES: usize = 1 << 12;
/// The most keys that count before they are added. A manifest states their number, which may be wrong.
const MOST_EXPECTED: usize = 1 << 20;
/// A key of the array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Number of the key, in order of insertion.
    pub(super) key: u32,
    /// The source that was added last.
    pub(super) newest: u32,
}

impl Entry {
    /// Return the entry as a word that is not 0. The key is less than the greatest 32-bit number.
    fn word(self) -> u64 {
        (u64::from(self.key) + 1) << 32 | u64::from(self.newest)
    }

    /// Return the entry of a word; `None` for 0.
    fn of_word(word: u64) -> Option<Self> {
        let key = (word >> 32).checked_sub(1)?;
        // Both halves of the word have 32 bits.
        Some(Self { key: key as u32, newest: word as u32 })
    }
}

/// The keys in a range of integers, one entry for each integer.
#[derive(Debug, Default)]
pub(super) struct DenseIndex {
    /// The integer of the first entry.
    first: i64,
    /// The word of each entry, 0 for integers that are no key: the system provides large arrays of zeros without a write to
    /// each page.
    entries: Vec<u64>,
    /// The number of keys that will be added, if it is known.
    expected: usize,
}

impl DenseIndex {
    /// Expect a number of keys altogether.
    pub(super) fn expect(&mut self, keys: usize) {
        self.expected = keys.min(MOST_EXPECTED);
    }

    /// Extend the range so that it holds `values`, after which `keys` keys are in the index at most. False if the range would
    /// be too large for these keys.
    pub(super) fn make_room(&mut self, values: impl Iterator<Item = i64>, keys: usize) -> bool {
        let ends = values.fold(None, |ends: Option<(i64, i64)>, value| {
            Some(ends.map_or((value, value), |(least, most)| (least.min(value), most.max(value))))
        });
        let Some((least, most)) = ends.map(|(least, most)| (i128::from(least), i128::from(most)))
        else {
            return true;
        };
        let (first, count) = (i128::from(self.first), self.entries.len());
        let (start, end) = match count {
            0 => (least, most + 1),
            _ => (least.min(first), (most + 1).max(first + count as i128)),
        };
        let allowed = keys.max(self.expected).saturating_mul(ENTRIES_PER_KEY).max(LEAST_ENTRIES);
        let Some(needed) = usize::try_from(end - start).ok().filter(|needed| *needed <= allowed)
        else {
            return false;
        };
        if needed == count {
            return true;
        }
        // Half as many entries again, on the side that grew: few batches move the entries.
        let spare = (needed / 2).min(allowed - needed) as i128;
        let start = if count > 0 && start < first { start - spare } else { start };
        let start = start.max(i128::from(i64::MIN));
        let end = if end > first + count as i128 { end + spare } else { end };
        let mut entries = vec![0_u64; usize::try_from(end - start).unwrap_or(needed)];
        let moved = usize::try_from(first - start).unwrap_or(0);
        if let Some(kept) = entries.get_mut(moved..moved + count) {
            kept.copy_from_slice(&self.entries);
        }
        self.entries = entries;
        // The start is at least the least 64-bit integer.
        self.first = start as i64;
        true
    }

    /// Return the key of an integer.
    pub(super) fn key(&self, value: i64) -> Option<Entry> {
        self.entries.get(self.index(value)).and_then(|word| Entry::of_word(*word))
    }

    /// Set the key of an integer, which is in the range.
    pub(super) fn set(&mut self, value: i64, entry: Entry) {
        let index = self.index(value);
        if let Some(word) = self.entries.get_mut(index) {
            *word = entry.word();
        }
    }

    /// Return the index of the entry of an integer; beyond the end for an integer outside of the range.
    fn index(&self, value: i64) -> usize {
        usize::try_from(value.wrapping_sub(self.first).cast_unsigned()).unwrap_or(usize::MAX)
    }

    /// Return which integers are keys that `applies` to: one bit each.
    pub(super) fn found(
        &self,
        values: impl ExactSizeIterator<Item = i64>,
        applies: impl Fn(&Entry) -> bool,
    ) -> BooleanBuffer {
        let count = values.len();
        let mut words = vec![0_u64; count.div_ceil(64)];
        for (row, value) in values.enumerate() {
            let found = self.key(value).is_some_and(|entry| applies(&entry));
            if let Some(word) = words.get_mut(row / 64) {
                *word |= u64::from(found) << (row % 64);
            }
        }
        BooleanBuffer::new(Buffer::from_vec(words), 0, count)
    }

    /// Return the entries of the keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = Entry> {
        self.entries.iter().filter_map(|word| Entry::of_word(*word))
    }
}

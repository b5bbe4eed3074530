//! The source rows of each key, in memory.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::keys::{hash_of, words_of};

/// No further row.
const END: u32 = u32::MAX;

/// Source rows by the hash of their keys.
#[derive(Debug, Default)]
pub(super) struct KeyIndex {
    keys: HashTable<Key>,
    /// Each row, and the ordinal of the previous row with the same key.
    rows: Vec<(u32, u32)>,
    repeated: Option<(u32, u32)>,
}

#[derive(Debug)]
struct Key {
    hash: [u64; 2],
    /// The ordinal of the key's last row.
    last: u32,
}

impl KeyIndex {
    /// An upper bound of the bytes that one row takes, while the table grows.
    pub(super) const ROW_BYTES: usize = 80;

    /// Add a row; at most [`u32::MAX`] rows.
    pub(super) fn insert(&mut self, hash: u128, row: u32) {
        let words = words_of(hash);
        let ordinal = self.rows.len() as u32;
        match self.keys.entry(words[0], |key| key.hash == words, |key| key.hash[0]) {
            Entry::Occupied(found) => {
                let key = found.into_mut();
                if self.repeated.is_none() {
                    let first = self.rows.get(key.last as usize).map_or(row, |(row, _)| *row);
                    self.repeated = Some((first, row));
                }
                self.rows.push((row, key.last));
                key.last = ordinal;
            }
            Entry::Vacant(space) => {
                self.rows.push((row, END));
                space.insert(Key { hash: words, last: ordinal });
            }
        }
    }

    /// Make room for further rows with different keys.
    pub(super) fn reserve(&mut self, rows: usize) {
        self.keys.reserve(rows, |key| key.hash[0]);
        self.rows.reserve(rows);
    }

    /// Return two rows with equal keys, if there are any.
    pub(super) fn repeated(&self) -> Option<(u32, u32)> {
        self.repeated
    }

    /// Return the rows of a key, the last one first.
    pub(super) fn rows_of(&self, hash: u128) -> impl Iterator<Item = u32> {
        let words = words_of(hash);
        let last = self.keys.find(words[0], |key| key.hash == words).map_or(END, |key| key.last);
        chain(&self.rows, last)
    }

    /// Return every row with the hash of its key.
    pub(super) fn into_rows(self) -> impl Iterator<Item = (u128, u32)> {
        let Self { keys, rows, .. } = self;
        keys.into_iter().flat_map(move |key| {
            let rows = chain(&rows, key.last).collect::<Vec<_>>();
            rows.into_iter().map(move |row| (hash_of(key.hash[0], key.hash[1]), row))
        })
    }
}

/// Return the rows from an ordinal on, each followed by the previous row with the same key.
fn chain(rows: &[(u32, u32)], mut ordinal: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let (row, previous) = *rows.get(ordinal as usize)?;
        ordinal = previous;
        Some(row)
    })
}

//! The source's side of a join.

use arrow_array::RecordBatch;
use icefloe_format::Error as FormatError;

use super::index::KeyIndex;
use super::keys::{KeyHasher, hash_of, words_of};
use super::shares::{SHARES, Shares};
use crate::error::Result;

/// The keys of a join's source rows, which are numbered in the order of adding.
#[derive(Debug)]
pub struct SourceKeys {
    pub(super) hasher: KeyHasher,
    pub(super) rows: SourceRows,
    pub(super) count: u32,
    pub(super) budget: usize,
}

/// Source rows by the hash of their keys.
#[derive(Debug)]
pub(super) enum SourceRows {
    InMemory(KeyIndex),
    /// The words of the hash, then the row.
    InShares(Shares<3>),
}

impl SourceKeys {
    /// Create an empty set. `null_safe` has one value for each key column: whether null equals null. `budget` is the
    /// memory for the rows of one side in bytes.
    pub fn new(null_safe: Vec<bool>, budget: usize) -> Self {
        let rows = SourceRows::InMemory(KeyIndex::default());
        Self { hasher: KeyHasher::new(null_safe), rows, count: 0, budget }
    }

    /// Add rows, by their key columns.
    ///
    /// # Errors
    /// `InvalidArgument` for a type that cannot be compared or more than 2^32 - 1 rows in all, `Storage` where the
    /// temporary file cannot be written.
    pub fn add(&mut self, keys: &RecordBatch) -> Result<()> {
        let hashed = self.hasher.hash(keys.columns(), keys.num_rows())?;
        if let SourceRows::InMemory(index) = &mut self.rows {
            let most = self.budget / KeyIndex::ROW_BYTES;
            index.reserve(hashed.hashes.len().min(most));
        }
        for hash in hashed.hashes {
            if self.count == u32::MAX {
                return Err(FormatError::invalid("source", "more than 4,294,967,294 rows").into());
            }
            match &mut self.rows {
                SourceRows::InMemory(index) => index.insert(hash, self.count),
                SourceRows::InShares(shares) => {
                    let [low, high] = words_of(hash);
                    shares.push(hash, [low, high, u64::from(self.count)])?;
                }
            }
            self.count += 1;
        }
        self.spill_past_budget()
    }

    /// Return two rows with equal keys, if there are any; nulls count as equal here.
    ///
    /// # Errors
    /// `Storage` where the temporary file cannot be read.
    pub fn repeated(&mut self) -> Result<Option<(u32, u32)>> {
        match &mut self.rows {
            SourceRows::InMemory(index) => Ok(index.repeated()),
            SourceRows::InShares(shares) => {
                for share in 0..SHARES {
                    let repeated = index_of(shares, share)?.repeated();
                    if repeated.is_some() {
                        return Ok(repeated);
                    }
                }
                Ok(None)
            }
        }
    }

    fn spill_past_budget(&mut self) -> Result<()> {
        let SourceRows::InMemory(index) = &mut self.rows else { return Ok(()) };
        if self.count as usize * KeyIndex::ROW_BYTES <= self.budget {
            return Ok(());
        }
        let mut shares = Shares::new(self.budget / 2);
        for (hash, row) in std::mem::take(index).into_rows() {
            let [low, high] = words_of(hash);
            shares.push(hash, [low, high, u64::from(row)])?;
        }
        self.rows = SourceRows::InShares(shares);
        Ok(())
    }
}

pub(super) fn index_of(shares: &mut Shares<3>, share: usize) -> Result<KeyIndex> {
    let mut index = KeyIndex::default();
    shares.each(share, |[low, high, row]| index.insert(hash_of(low, high), row as u32))?;
    Ok(index)
}

//! Hashes of changes, in shares of which each has all changes of a row.

use arrow_buffer::BooleanBuffer;
use icefloe_format::Error as FormatError;
use icefloe_format::changelog::Change;

use super::spill::Spill;
use crate::error::Result;

/// How many shares there are: each is in memory as a whole when its turn comes.
pub(super) const SHARES: usize = 256;

/// Hashes, in memory and in a file.
#[derive(Debug)]
pub(super) struct Hashes {
    shares: Vec<Vec<u64>>,
    keyed: bool,
    count: u64,
    budget_words: usize,
    words: usize,
    spill: Option<Spill>,
}

impl Hashes {
    pub(super) fn new(keyed: bool, budget: usize) -> Self {
        let budget_words = budget / size_of::<u64>();
        Self { shares: vec![vec![]; SHARES], keyed, count: 0, budget_words, words: 0, spill: None }
    }

    pub(super) fn keyed(&self) -> bool {
        self.keyed
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Add changes: hashes of rows, and of keys if there are; and which of them are wanted, if not all.
    pub(super) fn add(
        &mut self,
        rows: &[u128],
        keys: &[u128],
        deleted: bool,
        wanted: Option<&BooleanBuffer>,
    ) -> Result<()> {
        if let Some(wanted) = wanted.filter(|wanted| wanted.len() != rows.len()) {
            let reason = format!("{} of them beside {} rows", wanted.len(), rows.len());
            return Err(FormatError::invalid("wanted", reason).into());
        }
        if self.keyed && keys.len() != rows.len() {
            let reason = format!("{} of them beside {} rows", keys.len(), rows.len());
            return Err(FormatError::invalid("identifier columns", reason).into());
        }
        for (place, row) in rows.iter().enumerate() {
            let key = if self.keyed { keys.get(place) } else { None };
            let Some(share) = self.shares.get_mut(share_of(*key.unwrap_or(row))) else { continue };
            let wanted = wanted.is_none_or(|wanted| wanted.value(place));
            share.push(self.count << 2 | u64::from(wanted) << 1 | u64::from(deleted));
            share.extend(words_of(*row));
            share.extend(key.into_iter().flat_map(|key| words_of(*key)));
            self.count += 1;
        }
        self.words += rows.len() * self.width();
        if self.words > self.budget_words {
            self.spill()?;
        }
        Ok(())
    }

    /// The changes of a share, which is empty afterwards.
    pub(super) fn take(&mut self, share: usize) -> Result<Vec<Change>> {
        let held = self.shares.get_mut(share).map(std::mem::take).unwrap_or_default();
        let mut words = match &mut self.spill {
            Some(spill) => spill.read(share)?,
            None => vec![],
        };
        words.extend(held);
        let changes = words.chunks_exact(self.width()).filter_map(|words| match *words {
            [told, low, high] => Some(change(told, [low, high], [0, 0])),
            [told, low, high, key_low, key_high] => {
                Some(change(told, [low, high], [key_low, key_high]))
            }
            _ => None,
        });
        Ok(changes.collect())
    }

    /// Words of a change.
    fn width(&self) -> usize {
        if self.keyed { 5 } else { 3 }
    }

    fn spill(&mut self) -> Result<()> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new(SHARES)?),
        };
        for (number, share) in self.shares.iter_mut().enumerate() {
            spill.write(number, share)?;
            share.clear();
        }
        self.words = 0;
        Ok(())
    }
}

fn share_of(hash: u128) -> usize {
    (hash >> 120) as usize % SHARES
}

fn words_of(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

fn change(told: u64, row: [u64; 2], key: [u64; 2]) -> Change {
    let [row, key] = [row, key].map(|[low, high]| u128::from(high) << 64 | u128::from(low));
    Change { row, key, number: told >> 2, deleted: told & 1 == 1, wanted: told & 2 == 2 }
}

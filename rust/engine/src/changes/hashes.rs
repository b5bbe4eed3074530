//! Hashes of changes in shares by hash, so that all changes of a row are in one share.

use arrow_buffer::BooleanBuffer;
use icefloe_format::Error as FormatError;
use icefloe_format::changelog::Change;

use crate::error::Result;
use crate::runtime::spill::Spill;

/// The number of shares; one at a time is in memory as a whole.
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

    /// Add changes by the hashes of their rows and, with keys, of their keys. Of `wanted`, `None` stands for all.
    pub(super) fn add(
        &mut self,
        rows: &[u128],
        keys: &[u128],
        deleted: bool,
        wanted: Option<&BooleanBuffer>,
    ) -> Result<()> {
        if let Some(wanted) = wanted.filter(|wanted| wanted.len() != rows.len()) {
            let reason =
                format!("expected {} values, one for each row, got {}", rows.len(), wanted.len());
            return Err(FormatError::invalid("wanted", reason).into());
        }
        if self.keyed && keys.len() != rows.len() {
            let reason =
                format!("expected {} keys, one for each row, got {}", rows.len(), keys.len());
            return Err(FormatError::invalid("identifier columns", reason).into());
        }
        for (index, row) in rows.iter().enumerate() {
            let key = if self.keyed { keys.get(index) } else { None };
            let Some(share) = self.shares.get_mut(share_of(*key.unwrap_or(row))) else { continue };
            let wanted = wanted.is_none_or(|wanted| wanted.value(index));
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

    /// Return the changes of a share, which is empty afterwards.
    pub(super) fn take(&mut self, share: usize) -> Result<Vec<Change>> {
        let held = self.shares.get_mut(share).map(std::mem::take).unwrap_or_default();
        let mut words = match &mut self.spill {
            Some(spill) => spill.read(share)?,
            None => vec![],
        };
        words.extend(held);
        let changes = words.chunks_exact(self.width()).filter_map(|words| match *words {
            [head, low, high] => Some(change(head, [low, high], [0, 0])),
            [head, low, high, key_low, key_high] => {
                Some(change(head, [low, high], [key_low, key_high]))
            }
            _ => None,
        });
        Ok(changes.collect())
    }

    /// Return the 64-bit words of one change.
    fn width(&self) -> usize {
        if self.keyed { 5 } else { 3 }
    }

    fn spill(&mut self) -> Result<()> {
        Spill::move_all(&mut self.spill, &mut self.shares)?;
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

/// Return the change of a head word (number, wanted, deleted) and the words of its hashes.
fn change(head: u64, row: [u64; 2], key: [u64; 2]) -> Change {
    let [row, key] = [row, key].map(|[low, high]| u128::from(high) << 64 | u128::from(low));
    Change { row, key, number: head >> 2, deleted: head & 1 == 1, wanted: head & 2 == 2 }
}

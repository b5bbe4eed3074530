//! Records of 64-bit words in shares by hash, in memory up to a budget and beyond it in a temporary file.

use crate::error::Result;
use crate::runtime::spill::Spill;

/// The number of shares; one at a time is in memory as a whole.
pub(super) const SHARES: usize = 256;
/// The first of the bits of a hash that number its share: the low word is random, the high word may be a value, and the
/// index of a share uses the other bits of the low word.
const SHARE_SHIFT: u32 = 40;

/// Records of `WIDTH` words, of which the first two are a hash.
#[derive(Debug)]
pub(super) struct Shares<const WIDTH: usize> {
    held: Vec<Vec<u64>>,
    words: usize,
    budget_words: usize,
    spill: Option<Spill>,
}

impl<const WIDTH: usize> Shares<WIDTH> {
    pub(super) fn new(budget: usize) -> Self {
        let budget_words = budget / size_of::<u64>();
        Self { held: vec![vec![]; SHARES], words: 0, budget_words, spill: None }
    }

    pub(super) fn push(&mut self, hash: u128, record: [u64; WIDTH]) -> Result<()> {
        if let Some(held) = self.held.get_mut((hash >> SHARE_SHIFT) as usize % SHARES) {
            held.extend(record);
            self.words += WIDTH;
        }
        if self.words > self.budget_words { self.write() } else { Ok(()) }
    }

    /// Call a function with every record of a share, in the order of adding.
    pub(super) fn each(&mut self, share: usize, mut call: impl FnMut([u64; WIDTH])) -> Result<()> {
        let mut all = |words: &[u64]| {
            let (records, _) = words.as_chunks::<WIDTH>();
            records.iter().for_each(|record| call(*record));
        };
        if let Some(spill) = &mut self.spill {
            for write in 0..spill.writes(share) {
                all(&spill.read_write(share, write)?);
            }
        }
        if let Some(held) = self.held.get(share) {
            all(held);
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        Spill::move_all(&mut self.spill, &mut self.held)?;
        self.words = 0;
        Ok(())
    }
}

//! Records of 64-bit words in shares by hash, in memory up to a budget and beyond it in a temporary file.

use super::keys::words_of;
use crate::error::Result;
use crate::runtime::spill::Spill;

/// The number of shares; one at a time is in memory as a whole.
pub(super) const SHARES: usize = 256;
/// 2^64 divided by the golden ratio: a product with it carries every bit of a word into the highest bits.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

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
        if let Some(held) = self.held.get_mut(share_of(hash)) {
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

/// Return the share of a hash. The high word may be a value, so the low word decides; its bits alone are uneven for
/// values at even distances.
fn share_of(hash: u128) -> usize {
    let [low, _] = words_of(hash);
    (low.wrapping_mul(GOLDEN) >> (u64::BITS - SHARES.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;

    use super::super::keys::KeyHasher;
    use super::*;

    #[test]
    fn values_at_even_distances_fill_all_shares_alike() {
        for distance in [1, 1000, 1 << 20, 1 << 40] {
            let hasher = KeyHasher::new(vec![false]);
            let values = (0..65_536_i64).map(|value| value.wrapping_mul(distance));
            let column = Arc::new(Int64Array::from_iter_values(values));
            let mut rows = [0; SHARES];
            for hash in hasher.hash(&[column], 65_536).unwrap().hashes {
                rows[share_of(hash)] += 1;
            }
            assert!(rows.iter().all(|rows| (128..512).contains(rows)), "{distance}: {rows:?}");
        }
    }
}

//! One bit per hash, so that most rows that have no deleted key are told from one load.

/// Bits per key: about one row in this many of those without a key gets past.
const BITS_PER_KEY: usize = 24;
const LEAST_BITS: usize = 1 << 12;
/// 32 MB; beyond it a larger table would miss every cache on every row.
const MOST_BITS: usize = 1 << 28;

/// Which hashes may be those of a key.
#[derive(Debug)]
pub(super) struct Prefilter {
    words: Vec<u64>,
    shift: u32,
}

impl Prefilter {
    pub(super) fn new(hashes: &[u64]) -> Self {
        let wanted = hashes.len().saturating_mul(BITS_PER_KEY).clamp(LEAST_BITS, MOST_BITS);
        let bits = wanted.next_power_of_two();
        let shift = u64::BITS - bits.trailing_zeros();
        let mut filter = Self { words: vec![0; bits / 64], shift };
        for hash in hashes {
            filter.add(*hash);
        }
        filter
    }

    /// Whether this many keys are still told apart well.
    pub(super) fn suits(&self, keys: usize) -> bool {
        let bits = self.words.len() * 64;
        bits == MOST_BITS || keys.saturating_mul(BITS_PER_KEY) <= bits
    }

    pub(super) fn add(&mut self, hash: u64) {
        let bit = hash >> self.shift;
        if let Some(word) = self.words.get_mut((bit / 64) as usize) {
            *word |= 1 << (bit % 64);
        }
    }

    pub(super) fn may_hold(&self, hash: u64) -> bool {
        let bit = hash >> self.shift;
        self.words.get((bit / 64) as usize).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }
}

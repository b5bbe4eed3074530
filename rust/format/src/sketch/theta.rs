//! Theta sketches: the smallest hashes of a set of values, from which the number of distinct values is estimated.
//!
//! The bytes are those of the compact theta sketch of Apache DataSketches, serial version 3.

use crate::{Error, Result};

/// The number of hashes that a sketch of many values retains, which gives a standard error of 1.6 %.
const NOMINAL: usize = 4_096;
/// A sketch of up to this many distinct values holds them all, and its estimate is exact.
const MOST_EXACT: usize = 7_680;
const SLOTS: usize = 16_384;
/// All values are below, so no value is excluded.
const WHOLE: u64 = i64::MAX as u64;
/// The hash of the seed 9001, by which readers recognise it.
const SEED_HASH: [u8; 2] = [0xcc, 0x93];
const SERIAL_VERSION: u8 = 3;
const COMPACT_FAMILY: u8 = 3;
/// Read-only, compact, ordered.
const FLAGS: u8 = 0b0001_1010;
const EMPTY_FLAG: u8 = 0b0000_0100;
const SINGLE_FLAG: u8 = 0b0010_0000;

/// The distinct hashes below a threshold.
///
/// The result depends on the set of values alone, not on their order or on how they were divided between merged
/// sketches.
///
/// ```
/// use icefloe_format::sketch::{ThetaSketch, value_hash};
/// let mut sketch = ThetaSketch::default();
/// for value in [3_i64, 4, 3] {
///     sketch.add(value_hash(&value.to_le_bytes()));
/// }
/// assert_eq!(sketch.estimate(), 2.0);
/// ```
#[derive(Debug, Clone)]
pub struct ThetaSketch {
    /// Hashes are excluded from here on.
    threshold: u64,
    /// Open addressing with linear probing; 0 is an empty slot. Allocated with the first value.
    slots: Vec<u64>,
    count: usize,
}

impl Default for ThetaSketch {
    fn default() -> Self {
        Self { threshold: WHOLE, slots: Vec::new(), count: 0 }
    }
}

impl ThetaSketch {
    /// Add the hash of a value, below 2^63. The hash 0 is not counted.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        if hash == 0 || hash >= self.threshold {
            return;
        }
        if self.slots.is_empty() {
            self.slots = vec![0; SLOTS];
        }
        let mut place = slot_of(hash);
        // At most `MOST_EXACT + 1` slots are taken, so the loop ends at an empty one.
        while let Some(slot) = self.slots.get_mut(place) {
            if *slot == hash {
                return;
            }
            if *slot == 0 {
                *slot = hash;
                self.count += 1;
                break;
            }
            place = (place + 1) % SLOTS;
        }
        if self.count > MOST_EXACT {
            self.shrink();
        }
    }

    /// Whether all hashes so far are retained, so that adding one searches for it.
    pub(super) fn is_exact(&self) -> bool {
        self.threshold == WHOLE
    }

    /// Add the values of another sketch.
    pub fn merge(&mut self, other: &Self) {
        if other.threshold < self.threshold {
            self.threshold = other.threshold;
            let kept: Vec<u64> = self.hashes().filter(|hash| *hash < other.threshold).collect();
            self.refill(&kept);
        }
        for hash in other.hashes() {
            self.add(hash);
        }
    }

    /// Return the estimate of the number of distinct values: exact for at most 7,680 of them.
    pub fn estimate(&self) -> f64 {
        let (hashes, threshold) = self.trimmed();
        if threshold == WHOLE {
            return hashes.len() as f64;
        }
        hashes.len() as f64 / (threshold as f64 / WHOLE as f64)
    }

    /// Return the compact form, hashes in ascending order.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (hashes, threshold) = self.trimmed();
        let (longs, flags) = match (hashes.len(), threshold) {
            (0, WHOLE) => {
                return vec![1, SERIAL_VERSION, COMPACT_FAMILY, 0, 0, FLAGS | EMPTY_FLAG, 0, 0];
            }
            (1, WHOLE) => (1, FLAGS | SINGLE_FLAG),
            (_, WHOLE) => (2, FLAGS),
            _ => (3, FLAGS),
        };
        let mut bytes = vec![longs, SERIAL_VERSION, COMPACT_FAMILY, 0, 0, flags];
        bytes.extend(SEED_HASH);
        if longs > 1 {
            let count = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
            bytes.extend(count.to_le_bytes());
            // The sampling probability, which readers ignore.
            bytes.extend(1.0_f32.to_le_bytes());
        }
        if longs > 2 {
            bytes.extend(threshold.to_le_bytes());
        }
        bytes.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        bytes
    }

    /// Read the compact form that [`ThetaSketch::to_bytes`] returns.
    ///
    /// A merge of sketches that were written and read has the bytes of a merge of the sketches themselves.
    ///
    /// # Errors
    /// `Corrupt` for bytes that are not a compact theta sketch with the seed 9001.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let corrupt = |reason: String| Error::corrupt("theta sketch", reason);
        let [longs, version, family, _, _, flags, first, second, ..] = bytes else {
            return Err(corrupt(format!("expected at least 8 bytes, got {}", bytes.len())));
        };
        if (*version, *family) != (SERIAL_VERSION, COMPACT_FAMILY) {
            let found = format!("version {version} of family {family}");
            return Err(corrupt(format!("expected version 3 of family 3, got {found}")));
        }
        if flags & EMPTY_FLAG != 0 {
            return Ok(Self::default());
        }
        if [*first, *second] != SEED_HASH {
            return Err(corrupt("expected the hash of the seed 9001".into()));
        }
        let (words, rest) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let count = hash_count(*longs, words.get(1)).ok_or_else(|| {
            corrupt(format!("expected 1 to 3 words before the hashes, got {longs}"))
        })?;
        let hashes = words.get(usize::from(*longs)..).unwrap_or_default();
        if hashes.len() != count || !rest.is_empty() {
            let found = hashes.len() * 8 + rest.len();
            return Err(corrupt(format!("expected {count} hashes of 8 bytes, got {found} bytes")));
        }
        let threshold = if *longs == 3 { words.get(2).copied().unwrap_or(WHOLE) } else { WHOLE };
        let mut sketch = Self { threshold, ..Self::default() };
        hashes.iter().for_each(|hash| sketch.add(*hash));
        Ok(sketch)
    }

    fn hashes(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().copied().filter(|hash| *hash != 0)
    }

    /// The hashes of the result, sorted, and the threshold below which they are complete: after a sketch had to exclude
    /// hashes, it keeps the least `NOMINAL` of its remaining hashes, which do not depend on when it excluded others.
    fn trimmed(&self) -> (Vec<u64>, u64) {
        let mut hashes: Vec<u64> = self.hashes().collect();
        hashes.sort_unstable();
        match hashes.get(NOMINAL) {
            Some(next) if self.threshold < WHOLE => {
                let threshold = *next;
                hashes.truncate(NOMINAL);
                (hashes, threshold)
            }
            _ => (hashes, self.threshold),
        }
    }

    /// Exclude all but the least `NOMINAL` hashes.
    fn shrink(&mut self) {
        let mut hashes: Vec<u64> = self.hashes().collect();
        if hashes.len() <= NOMINAL {
            return;
        }
        let (kept, next, _) = hashes.select_nth_unstable(NOMINAL);
        self.threshold = *next;
        let kept = kept.to_vec();
        self.refill(&kept);
    }

    fn refill(&mut self, hashes: &[u64]) {
        self.slots.fill(0);
        self.count = 0;
        for hash in hashes {
            self.add(*hash);
        }
    }
}

/// Return the number of hashes after `longs` words of a compact sketch; the second word states it, if there is one.
fn hash_count(longs: u8, second: Option<&u64>) -> Option<usize> {
    match (longs, second) {
        (1, _) => Some(1),
        // The upper half is the sampling probability.
        (2 | 3, Some(word)) => {
            Some(usize::try_from(word & u64::from(u32::MAX)).unwrap_or(usize::MAX))
        }
        _ => None,
    }
}

/// The first slot to try: high bits, since all retained hashes of a large set are small.
fn slot_of(hash: u64) -> usize {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::super::value_hash;
    use super::*;

    fn sketch(values: impl Iterator<Item = i64>) -> ThetaSketch {
        let mut sketch = ThetaSketch::default();
        values.for_each(|value| sketch.add(value_hash(&value.to_le_bytes())));
        sketch
    }

    #[test]
    fn few_values_are_counted_exactly() {
        for count in [0, 1, 2, 4_096, 7_680] {
            assert_eq!(sketch((0..count).chain(0..count)).estimate(), count as f64);
        }
    }

    #[test]
    fn many_values_are_estimated_within_three_standard_errors() {
        for count in [7_681, 100_000, 1_000_000] {
            let estimate = sketch(0..count).estimate();
            assert!((estimate / count as f64 - 1.0).abs() < 0.048, "{count}: {estimate}");
        }
    }

    #[test]
    fn result_depends_on_the_set_alone() {
        let whole = sketch(0..50_000);
        assert_eq!(sketch((0..50_000).rev()).to_bytes(), whole.to_bytes());
        for cut in [1, 3_000, 25_000, 49_999] {
            let mut left = sketch(0..cut);
            left.merge(&sketch(cut..50_000));
            assert_eq!(left.to_bytes(), whole.to_bytes(), "cut at {cut}");
        }
    }

    #[test]
    fn sketches_that_were_written_merge_to_the_same_bytes() {
        for count in [0, 1, 2, 4_096, 4_097, 7_680, 7_681, 50_000] {
            let whole = sketch(0..count).to_bytes();
            assert_eq!(
                ThetaSketch::from_bytes(&whole).unwrap().to_bytes(),
                whole,
                "{count} values"
            );
            for cut in [0, 1.min(count), count / 3, count - count / 3, count] {
                let mut merged = ThetaSketch::default();
                for part in [sketch(cut..count), sketch(0..cut)] {
                    merged.merge(&ThetaSketch::from_bytes(&part.to_bytes()).unwrap());
                }
                assert_eq!(merged.to_bytes(), whole, "{count} values cut at {cut}");
            }
        }
    }

    #[test]
    fn bytes_of_another_form_are_refused() {
        let whole = sketch(0..10).to_bytes();
        let changed = |place: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[place] = byte;
            bytes
        };
        let cut = whole[..90].to_vec();
        for (bytes, reason) in [
            (vec![1, 3], "at least 8 bytes"),
            (changed(1, 4), "got version 4 of family 3"),
            (changed(6, 0), "seed 9001"),
            (changed(0, 4), "1 to 3 words"),
            (changed(8, 9), "expected 9 hashes of 8 bytes, got 80 bytes"),
            (cut, "expected 10 hashes of 8 bytes, got 74 bytes"),
        ] {
            let error = ThetaSketch::from_bytes(&bytes).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn bytes_have_the_compact_layout() {
        assert_eq!(sketch(0..0).to_bytes(), [1, 3, 3, 0, 0, 0x1e, 0, 0]);
        let single = sketch(0..1).to_bytes();
        assert_eq!(single[..8], [1, 3, 3, 0, 0, 0x3a, 0xcc, 0x93]);
        assert_eq!(single.len(), 16);
        let exact = sketch(0..10).to_bytes();
        assert_eq!((exact[0], exact[8], exact.len()), (2, 10, 16 + 80));
        let estimated = sketch(0..50_000).to_bytes();
        assert_eq!((estimated[0], estimated.len()), (3, 24 + 8 * 4_096));
    }
}

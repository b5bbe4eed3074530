//! Rows to be sorted, as fixed-width numbers: the first bytes of a key and the row that has it.

/// Fewer places are compared with each other.
const LEAST_FOR_DIGITS: usize = 1024;
/// With more bytes that differ, comparisons are faster.
const MOST_DIGITS: usize = 8;
const KEY_BYTES: u32 = 16;

/// The first bytes of a row's key, and the row. Places order by key, then as the rows came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    // Two numbers of 64 bits take a quarter less memory here than one of 128, which is aligned.
    high: u64,
    low: u64,
    pub(super) batch: u32,
    pub(super) row: u32,
}

impl Place {
    pub(super) fn new(key: u128, batch: u32, row: u32) -> Self {
        Self { high: (key >> 64) as u64, low: key as u64, batch, row }
    }

    pub(super) fn key(&self) -> u128 {
        (u128::from(self.high) << 64) | u128::from(self.low)
    }

    /// One byte of the key, 0 being the lowest.
    #[inline]
    fn digit(&self, byte: u32) -> usize {
        let half = if byte < KEY_BYTES / 2 { self.low } else { self.high };
        usize::from((half >> (byte % (KEY_BYTES / 2) * 8)) as u8)
    }
}

/// Sort places that are in the order of their rows: by digits from the lowest, where few bytes of the keys differ.
pub(super) fn sort_places(places: &mut Vec<Place>) {
    let Some(first) = places.first().copied() else { return };
    let (high, low) = places.iter().fold((0, 0), |(high, low), place| {
        (high | (place.high ^ first.high), low | (place.low ^ first.low))
    });
    let differing = Place { high, low, ..first };
    let digits: Vec<u32> = (0..KEY_BYTES).filter(|byte| differing.digit(*byte) != 0).collect();
    if places.len() < LEAST_FOR_DIGITS || digits.len() > MOST_DIGITS {
        places.sort_unstable();
        return;
    }
    let mut sorted = vec![Place::default(); places.len()];
    for digit in digits {
        by_digit(places, &mut sorted, digit);
        std::mem::swap(places, &mut sorted);
    }
}

/// Copy places in the order of one digit; equal ones keep their order.
fn by_digit(places: &[Place], sorted: &mut [Place], digit: u32) {
    let mut ends = [0_usize; 256];
    for place in places {
        ends[place.digit(digit)] += 1;
    }
    let mut next = 0;
    for end in &mut ends {
        let start = next;
        next += *end;
        *end = start;
    }
    for place in places {
        let slot = &mut ends[place.digit(digit)];
        if let Some(to) = sorted.get_mut(*slot) {
            *to = *place;
        }
        *slot += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of rows in order, whose keys differ in the bytes of a mask.
    fn places(count: u32, mask: u128) -> Vec<Place> {
        let mut state = 7_u128;
        let mut key = || {
            state = state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
            (state ^ (state >> 61)) & mask
        };
        (0..count).map(|row| Place::new(key(), row / 100, row % 100)).collect()
    }

    #[test]
    fn digits_sort_as_comparisons_do() {
        for mask in [0, 0xFF, 0x0300_0000_0070, 0xFFFF_u128 << 56, u128::MAX, 0xFF << 120] {
            for count in [0, 1, 1023, 1024, 5000] {
                let mut found = places(count, mask);
                let mut expected = found.clone();
                expected.sort_unstable();
                sort_places(&mut found);
                assert_eq!(found, expected, "{count} places of mask {mask:x}");
            }
        }
    }

    #[test]
    fn key_is_kept_whole() {
        let key = 0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210;
        assert_eq!(Place::new(key, 1, 2).key(), key);
    }
}

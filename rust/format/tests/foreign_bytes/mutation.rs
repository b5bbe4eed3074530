//! Seeded mutations of files: accidental damage and crafted values.

/// A stream of mutations.
pub(crate) struct Mutator {
    state: u64,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number below `bound` (splitmix64); 0 if there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 1).unwrap() % bound.max(1)
    }

    /// `input` after one to four mutations; `other` lends it parts.
    pub(crate) fn mutated(&mut self, input: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(4) {
            self.mutate(&mut bytes, other);
        }
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        const EDGES: [u8; 8] = [0x00, 0x01, 0x02, 0x7f, 0x80, 0xfe, 0xff, b'"'];
        // The longest varints, i64::MIN and i64::MAX among them, and one without an end.
        const LENGTHS: [&[u8]; 4] = [
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0xfe, 0xff, 0xff, 0xff, 0x0f],
            &[0xff; 11],
        ];
        let at = self.below(bytes.len() + 1);
        match self.below(8) {
            0 => flip(bytes, at, 1 << self.below(8)),
            1 => flip(bytes, at, 0xff),
            2 => {
                let edge = EDGES[self.below(EDGES.len())];
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = edge;
                }
            }
            3 => bytes.truncate(at),
            4 => {
                let length = self.below(16).min(bytes.len() - at);
                bytes.drain(at..at + length);
            }
            5 => {
                let length = LENGTHS[self.below(LENGTHS.len())];
                let end = (at + self.below(length.len())).min(bytes.len());
                bytes.splice(at..end, length.iter().copied());
            }
            6 => {
                let from = self.below(other.len());
                let length = self.below(200).min(other.len() - from);
                let end = (at + self.below(200)).min(bytes.len());
                bytes.splice(at..end, other[from..from + length].iter().copied());
            }
            _ => {
                let length = self.below(64).min(bytes.len() - at);
                let again = bytes[at..at + length].to_vec();
                let to = self.below(bytes.len() + 1);
                bytes.splice(to..to, again);
            }
        }
    }
}

fn flip(bytes: &mut [u8], at: usize, mask: u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= mask;
    }
}

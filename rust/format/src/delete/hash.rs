//! The hash of equality keys: foldhash, seeded at random for each set of keys.
//!
//! A writer of data must not be able to choose keys that collide. Every factor of foldhash's multiplications
//! has a part that is secret to the process, so no value makes a product zero whatever the seed is. Hashes
//! never leave the set of keys that they were made for.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

use super::cells::INLINE_BYTES;

/// Stands for a null among the words of a column.
const NULL_WORD: u64 = 0x6e75_6c6c_6e75_6c6c;

/// The hash function of one set of keys.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyHash {
    state: RandomState,
}

impl KeyHash {
    /// The hash of a row without columns.
    pub(super) fn start(&self) -> u64 {
        self.state.hash_one(0_u64)
    }

    /// Mix the word of a column into the hash of a row.
    pub(super) fn mix(&self, hash: u64, word: u64) -> u64 {
        self.wide(u128::from(hash) | u128::from(word) << 64)
    }

    /// The word that stands for a null.
    pub(super) fn null(&self) -> u64 {
        NULL_WORD
    }

    /// The word of a number of 128 bits, or of a byte string that Arrow's view of it holds.
    pub(super) fn wide(&self, number: u128) -> u64 {
        let mut hasher = self.state.build_hasher();
        hasher.write_u128(number);
        hasher.finish()
    }

    /// The word of a byte string; that of its view if the view holds all of it.
    pub(super) fn bytes(&self, bytes: &[u8]) -> u64 {
        if let Some(view) = inline_view(bytes) {
            return self.wide(view);
        }
        let mut hasher = self.state.build_hasher();
        hasher.write(bytes);
        hasher.finish()
    }
}

/// What Arrow's view of a short byte string holds: its length in 4 bytes, then the bytes.
fn inline_view(bytes: &[u8]) -> Option<u128> {
    (bytes.len() <= INLINE_BYTES).then(|| bytes.len() as u128 | short_block(bytes) << 32)
}

/// Up to 15 bytes as a number; two loads that overlap cost less than a copy of a length known late.
fn short_block(bytes: &[u8]) -> u128 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return u128::from(first) | u128::from(last) << ((bytes.len() - 8) * 8);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u128::from(first) | u128::from(last) << ((bytes.len() - 4) * 8);
    }
    bytes.iter().rev().fold(0, |block, byte| block << 8 | u128::from(*byte))
}

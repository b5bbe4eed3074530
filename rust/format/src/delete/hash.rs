//! The hash of equality keys: folded multiplication, a word or sixteen bytes at a time.

const MULTIPLE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mix a word into a hash.
pub(super) fn fold(hash: u64, word: u64) -> u64 {
    folded(hash ^ word, MULTIPLE)
}

fn folded(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of a byte string.
pub(super) fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    if let Some(view) = inline_view(bytes) {
        return hash_view(seed, view);
    }
    let mut hash = seed ^ bytes.len() as u64;
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<16>() {
        hash = mix_block(hash, u128::from_le_bytes(*block));
        rest = after;
    }
    match bytes.last_chunk::<16>() {
        // The last bytes overlap those before them, which costs no copy of a short rest.
        Some(last) if !rest.is_empty() => mix_block(hash, u128::from_le_bytes(*last)),
        Some(_) => hash,
        None => mix_block(hash, short_block(bytes)),
    }
}

/// The hash of a byte string that its view holds.
pub(super) fn hash_view(seed: u64, view: u128) -> u64 {
    mix_block(seed, view)
}

/// What Arrow's view of a short byte string holds: its length in 4 bytes, then the bytes.
fn inline_view(bytes: &[u8]) -> Option<u128> {
    (bytes.len() <= super::cells::INLINE_BYTES)
        .then(|| bytes.len() as u128 | short_block(bytes) << 32)
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

fn mix_block(hash: u64, block: u128) -> u64 {
    folded(hash ^ block as u64, MULTIPLE ^ (block >> 64) as u64)
}

//! Snappy and LZ4 blocks as ORC stores them: without a checksum and, for LZ4, without their decompressed length.

use lz4_flex::block::DecompressError;

use crate::{Error, Result};

/// A match of LZ4 yields at most 255 bytes for each byte of its length.
const MAX_LZ4_RATIO: usize = 255;

/// Return the contents of a Snappy block.
///
/// # Errors
/// [`Error::Corrupt`] if the block does not decompress or holds more than `limit` bytes.
pub fn decompress_snappy(block: &[u8], limit: usize) -> Result<Vec<u8>> {
    let length =
        snap::raw::decompress_len(block).map_err(|error| corrupt("Snappy block", error))?;
    if length > limit {
        let reason = format!("expected at most {limit} decompressed bytes, got {length}");
        return Err(corrupt("Snappy block", reason));
    }
    snap::raw::Decoder::new().decompress_vec(block).map_err(|error| corrupt("Snappy block", error))
}

/// Return the contents of an LZ4 block.
///
/// # Errors
/// [`Error::Corrupt`] if the block does not decompress or holds more than `limit` bytes.
pub fn decompress_lz4(block: &[u8], limit: usize) -> Result<Vec<u8>> {
    let mut contents = vec![0; block.len().saturating_mul(MAX_LZ4_RATIO).min(limit)];
    let length = lz4_flex::block::decompress_into(block, &mut contents).map_err(|error| {
        let reason = match error {
            DecompressError::OutputTooSmall { .. } => {
                format!("expected at most {limit} decompressed bytes, got more")
            }
            error => error.to_string(),
        };
        corrupt("LZ4 block", reason)
    })?;
    contents.truncate(length);
    Ok(contents)
}

fn corrupt(what: &str, reason: impl ToString) -> Error {
    Error::corrupt(what, reason.to_string())
}

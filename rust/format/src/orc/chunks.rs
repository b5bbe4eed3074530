//! The compressed chunks that parts of an ORC file consist of.

use super::corrupt;
use super::postscript::{Compression, Postscript};
use crate::codec::raw_block::{decompress_lz4, decompress_snappy};
use crate::codec::{Codec, Decompressor};
use crate::{Error, Result};

const HEADER_BYTES: usize = 3;
/// No footer comes near this many bytes once decompressed.
const MAX_BYTES: usize = 1 << 28;
/// Bytes that a footer of any size may decompress to, and bytes for each of its own, which no text of
/// distinct names and offsets comes near.
const FREE_BYTES: usize = 1 << 20;
const MAX_RATIO: usize = 1040;

/// What a part of a file decompresses to; `None` if that takes a decoder of LZO.
///
/// # Errors
/// [`Error::Corrupt`] for chunks that are cut off, do not decompress or hold more than they may.
pub(super) fn decompressed(part: &[u8], postscript: &Postscript) -> Result<Option<Vec<u8>>> {
    if postscript.compression == Compression::None {
        return Ok(Some(part.to_vec()));
    }
    let limit = part.len().saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES).min(MAX_BYTES);
    let (mut rest, mut whole) = (part, Vec::new());
    while !rest.is_empty() {
        let Some((header, after)) = rest.split_first_chunk::<HEADER_BYTES>() else {
            return Err(corrupt("its footer ends within the header of a chunk"));
        };
        let [low, middle, high] = header.map(usize::from);
        let header = low | middle << 8 | high << 16;
        let Some((chunk, after)) = after.split_at_checked(header >> 1) else {
            return Err(corrupt("its footer ends within a chunk"));
        };
        rest = after;
        if header & 1 == 1 {
            whole.extend_from_slice(chunk);
        } else if postscript.compression == Compression::Lzo {
            return Ok(None);
        } else {
            whole.extend(one(chunk, postscript, limit.saturating_sub(whole.len()))?);
        }
        if whole.len() > limit {
            return Err(corrupt(format!("its footer has more than the {limit} bytes allowed")));
        }
    }
    Ok(Some(whole))
}

fn one(chunk: &[u8], postscript: &Postscript, left: usize) -> Result<Vec<u8>> {
    let limit = postscript.chunk_bytes.min(left);
    let contents = match postscript.compression {
        Compression::Snappy => decompress_snappy(chunk, limit),
        Compression::Lz4 => decompress_lz4(chunk, limit),
        Compression::Zstd => decompress(Codec::Zstandard(3), chunk, limit),
        Compression::Zlib | Compression::Lzo | Compression::None => {
            decompress(Codec::Deflate(6), chunk, limit)
        }
    };
    contents.map_err(|error| match error {
        Error::Corrupt { reason, .. } => damaged(reason),
        other => other,
    })
}

fn decompress(codec: Codec, chunk: &[u8], limit: usize) -> Result<Vec<u8>> {
    Decompressor::new(codec).decompress(chunk, limit).map(<[u8]>::to_vec)
}

fn damaged(reason: impl ToString) -> Error {
    corrupt(format!("a chunk of its footer does not decompress: {}", reason.to_string()))
}

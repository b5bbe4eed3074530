//! The compressed chunks of an ORC footer.

use super::corrupt;
use super::postscript::{Compression, Postscript};
use crate::codec::raw_block::{decompress_lz4, decompress_snappy};
use crate::codec::{Codec, Decompressor};
use crate::{Error, Result};

const HEADER_BYTES: usize = 3;
/// The greatest decompressed size of a footer, far above the footers that writers produce.
const MAX_BYTES: usize = 1 << 28;
/// A footer may decompress to this many bytes plus [`MAX_RATIO`] times its size. Footers hold distinct names and
/// offsets, which compress less.
const FREE_BYTES: usize = 1 << 20;
const MAX_RATIO: usize = 1040;

/// Decompress a part of a file; `None` for LZO, which has no decoder here.
///
/// # Errors
/// [`Error::Corrupt`] for chunks that are truncated, do not decompress or exceed the limit.
pub(super) fn decompressed(part: &[u8], postscript: &Postscript) -> Result<Option<Vec<u8>>> {
    if postscript.compression == Compression::None {
        return Ok(Some(part.to_vec()));
    }
    let limit = part.len().saturating_mul(MAX_RATIO).saturating_add(FREE_BYTES).min(MAX_BYTES);
    let (mut rest, mut whole) = (part, Vec::new());
    while !rest.is_empty() {
        let Some((header, after)) = rest.split_first_chunk::<HEADER_BYTES>() else {
            return Err(corrupt("the footer ends within the header of a chunk"));
        };
        let [low, middle, high] = header.map(usize::from);
        let header = low | middle << 8 | high << 16;
        let Some((chunk, after)) = after.split_at_checked(header >> 1) else {
            return Err(corrupt("the footer ends within a chunk"));
        };
        rest = after;
        if header & 1 == 1 {
            whole.extend_from_slice(chunk);
        } else if postscript.compression == Compression::Lzo {
            return Ok(None);
        } else {
            whole.extend(decompress_chunk(chunk, postscript, limit.saturating_sub(whole.len()))?);
        }
        if whole.len() > limit {
            return Err(corrupt(format!(
                "the footer is too large; expected at most {limit} decompressed bytes, got more"
            )));
        }
    }
    Ok(Some(whole))
}

fn decompress_chunk(chunk: &[u8], postscript: &Postscript, left: usize) -> Result<Vec<u8>> {
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
    corrupt(format!("a chunk of the footer does not decompress: {}", reason.to_string()))
}

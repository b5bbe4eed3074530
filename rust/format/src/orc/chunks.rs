//! The compressed chunks that parts of an ORC file consist of.

use super::corrupt;
use super::postscript::{Compression, Postscript};
use crate::codec::{Codec, Decompressor};
use crate::{Error, Result};

const HEADER_BYTES: usize = 3;
/// No footer comes near this many bytes once decompressed.
const MAX_BYTES: usize = 1 << 28;
/// Bytes that a footer of any size may decompress to, and bytes for each of its own, which no text of
/// distinct names and offsets comes near.
const FREE_BYTES: usize = 1 << 20;
const MAX_RATIO: usize = 1040;
/// Bytes that end a literal of LZ4 at least, and a copy at least.
const LZ4_COPY_BYTES: usize = 4;

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
    let codec = match postscript.compression {
        Compression::Snappy => return unsnap(chunk, limit),
        Compression::Lz4 => return unlz4(chunk, limit),
        Compression::Zstd => Codec::Zstandard(3),
        Compression::Zlib | Compression::Lzo | Compression::None => Codec::Deflate(6),
    };
    let mut decompressor = Decompressor::new(codec);
    decompressor.decompress(chunk, limit).map(<[u8]>::to_vec).map_err(|error| match error {
        Error::Corrupt { reason, .. } => damaged(reason),
        other => other,
    })
}

fn unsnap(chunk: &[u8], limit: usize) -> Result<Vec<u8>> {
    let length = snap::raw::decompress_len(chunk).map_err(damaged)?;
    if length > limit {
        return Err(damaged(format!("it claims {length} bytes, {limit} are allowed")));
    }
    snap::raw::Decoder::new().decompress_vec(chunk).map_err(damaged)
}

/// A block of LZ4: literals and copies in turn, the last of them literals.
fn unlz4(chunk: &[u8], limit: usize) -> Result<Vec<u8>> {
    let (mut rest, mut output) = (chunk, Vec::new());
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        let literals = lz4_length(&mut rest, usize::from(token >> 4))?;
        let (literal, after) = rest.split_at_checked(literals).ok_or_else(cut_off)?;
        output.extend_from_slice(literal);
        rest = after;
        if output.len() > limit {
            return Err(damaged(format!("it holds more than the {limit} bytes allowed")));
        }
        if rest.is_empty() {
            return Ok(output);
        }
        let (offset, after) = rest.split_first_chunk::<2>().ok_or_else(cut_off)?;
        rest = after;
        let offset = usize::from(u16::from_le_bytes(*offset));
        let length = lz4_length(&mut rest, usize::from(token & 15))?.saturating_add(LZ4_COPY_BYTES);
        let from = output.len().checked_sub(offset).filter(|_| offset > 0);
        let from = from.ok_or_else(|| damaged("it copies from before its beginning"))?;
        if output.len().saturating_add(length) > limit {
            return Err(damaged(format!("it holds more than the {limit} bytes allowed")));
        }
        // A copy may overlap what it makes.
        for place in from..from + length {
            output.push(output.get(place).copied().unwrap_or_default());
        }
    }
    Err(cut_off())
}

/// A length that goes on while its bytes are full.
fn lz4_length(rest: &mut &[u8], nibble: usize) -> Result<usize> {
    let mut length = nibble;
    let mut goes_on = nibble == 15;
    while goes_on {
        let (byte, after) = rest.split_first().ok_or_else(cut_off)?;
        *rest = after;
        length = length.saturating_add(usize::from(*byte));
        goes_on = *byte == 255;
    }
    Ok(length)
}

fn cut_off() -> Error {
    damaged("it is cut off")
}

fn damaged(reason: impl ToString) -> Error {
    corrupt(format!("a chunk of its footer does not decompress: {}", reason.to_string()))
}

//! Decompression of blocks, bounded: what a block decompresses to is limited before it is produced.

use flate2::{Decompress, FlushDecompress, Status};
use zstd::zstd_safe::{self, DCtx};

use super::codec::Codec;
use crate::{Error, Result};

/// No block of a manifest or a data file comes near this many bytes once decompressed.
pub const MAX_BLOCK_BYTES: usize = 1 << 28;

const SMALLEST_BUFFER: usize = 1 << 16;
/// What a block claims to hold is believed up to this many times its size.
const LIKELY_RATIO: usize = 64;
const CRC_BYTES: usize = 4;
/// `ZSTD_error_dstSize_tooSmall`, one of the codes that the library promises to keep.
const ZSTD_TOO_SMALL: zstd_safe::ErrorCode = 0_usize.wrapping_sub(70);

/// Decompresses the blocks of one container, reusing one buffer.
pub struct Decompressor {
    state: State,
    // Always initialised to its whole length; the last block occupies a prefix.
    buffer: Vec<u8>,
}

enum State {
    Null,
    Deflate(Decompress),
    Snappy(snap::raw::Decoder),
    /// Made when the first block is met.
    Zstandard(Option<DCtx<'static>>),
    Bzip2,
}

impl Decompressor {
    /// A decompressor for blocks of `codec`.
    pub fn new(codec: Codec) -> Self {
        let state = match codec {
            Codec::Null => State::Null,
            Codec::Deflate(_) => State::Deflate(Decompress::new(false)),
            Codec::Snappy => State::Snappy(snap::raw::Decoder::new()),
            Codec::Zstandard(_) => State::Zstandard(None),
            Codec::Bzip2(_) => State::Bzip2,
        };
        Self { state, buffer: Vec::new() }
    }

    /// The contents of one compressed block, at most `limit` bytes of it; valid until the next call.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the block does not decompress, fails its checksum or holds more than
    /// `limit` bytes; [`Error::Unsupported`] if the codec library has no memory for its state.
    pub fn decompress<'b>(&'b mut self, block: &'b [u8], limit: usize) -> Result<&'b [u8]> {
        let mut target = Target { buffer: &mut self.buffer, limit };
        let length = match &mut self.state {
            State::Null => return Ok(block),
            State::Deflate(inflate) => target.inflate(inflate, block)?,
            State::Snappy(decoder) => target.unsnap(decoder, block)?,
            State::Zstandard(state) => target.unzstd(state, block)?,
            State::Bzip2 => target.unbzip(block)?,
        };
        self.buffer.get(..length).ok_or_else(|| corrupt("length"))
    }
}

/// The buffer that a block is decompressed into, and how long it may become.
struct Target<'b> {
    buffer: &'b mut Vec<u8>,
    limit: usize,
}

impl Target<'_> {
    fn inflate(&mut self, inflate: &mut Decompress, block: &[u8]) -> Result<usize> {
        inflate.reset(false);
        let mut written = 0;
        loop {
            if written == self.buffer.len() {
                self.grow(block.len())?;
            }
            let before = (inflate.total_in(), inflate.total_out());
            let input = block.get(size(before.0)..).unwrap_or_default();
            let output = self.buffer.get_mut(written..).unwrap_or_default();
            let status = inflate
                .decompress(input, output, FlushDecompress::Finish)
                .map_err(|error| corrupt(error.to_string()))?;
            written = size(inflate.total_out());
            if status == Status::StreamEnd {
                return self.within_limit(written);
            }
            let stalled = before == (inflate.total_in(), inflate.total_out());
            if stalled && written < self.buffer.len() {
                return Err(corrupt("the compressed data end too early"));
            }
        }
    }

    fn unsnap(&mut self, decoder: &mut snap::raw::Decoder, block: &[u8]) -> Result<usize> {
        let (data, checksum) = block
            .split_last_chunk::<CRC_BYTES>()
            .ok_or_else(|| corrupt("a snappy block without its checksum"))?;
        let expected = snap::raw::decompress_len(data).map_err(corrupt)?;
        // A snappy copy element of three bytes yields at most 64, so a length beyond that ratio
        // is a lie and must not size an allocation.
        if expected > data.len().saturating_mul(64) {
            return Err(corrupt("a snappy block claims an impossible length"));
        }
        self.make_room(expected)?;
        let length = decoder.decompress(data, self.buffer).map_err(corrupt)?;
        let found = crc32fast::hash(self.buffer.get(..length).unwrap_or_default());
        if found != u32::from_be_bytes(*checksum) {
            return Err(corrupt("the checksum does not match"));
        }
        Ok(length)
    }

    /// In one call, which needs no window beside the buffer, however large a window the block claims.
    fn unzstd(&mut self, state: &mut Option<DCtx<'_>>, block: &[u8]) -> Result<usize> {
        if state.is_none() {
            *state = DCtx::try_create();
        }
        let context = state.as_mut();
        let context = context.ok_or_else(|| Error::unsupported("zstandard without memory"))?;
        if let Ok(Some(claimed)) = zstd_safe::get_frame_content_size(block) {
            let claimed = self.within_limit(usize::try_from(claimed).unwrap_or(usize::MAX))?;
            // Most blocks hold no more; room for others is made once their bytes are there.
            self.make_room(claimed.min(block.len().saturating_mul(LIKELY_RATIO)))?;
        }
        loop {
            match context.decompress(self.buffer.as_mut_slice(), block) {
                Ok(length) => return self.within_limit(length),
                Err(ZSTD_TOO_SMALL) => self.grow(block.len())?,
                Err(code) => return Err(corrupt(zstd_safe::get_error_name(code))),
            }
        }
    }

    fn unbzip(&mut self, block: &[u8]) -> Result<usize> {
        let mut decompress = bzip2::Decompress::new(false);
        let mut written = 0;
        loop {
            if written == self.buffer.len() {
                self.grow(block.len())?;
            }
            let before = (decompress.total_in(), decompress.total_out());
            let input = block.get(size(before.0)..).unwrap_or_default();
            let output = self.buffer.get_mut(written..).unwrap_or_default();
            let status = decompress.decompress(input, output).map_err(corrupt)?;
            written = size(decompress.total_out());
            if status == bzip2::Status::StreamEnd {
                return self.within_limit(written);
            }
            let stalled = before == (decompress.total_in(), decompress.total_out());
            if stalled && written < self.buffer.len() {
                return Err(corrupt("the compressed data end too early"));
            }
        }
    }

    /// At least twice the room, but never beyond the limit.
    fn grow(&mut self, compressed: usize) -> Result<()> {
        self.within_limit(self.buffer.len() + 1)?;
        let target = (self.buffer.len() * 2).max(compressed.saturating_mul(4)).max(SMALLEST_BUFFER);
        self.buffer.resize(target.min(self.limit), 0);
        Ok(())
    }

    fn make_room(&mut self, length: usize) -> Result<()> {
        self.within_limit(length)?;
        if self.buffer.len() < length {
            self.buffer.resize(length, 0);
        }
        Ok(())
    }

    fn within_limit(&self, length: usize) -> Result<usize> {
        if length > self.limit {
            let limit = self.limit;
            return Err(corrupt(format!("it decompresses to more than the {limit} bytes allowed")));
        }
        Ok(length)
    }
}

fn size(total: u64) -> usize {
    usize::try_from(total).unwrap_or(usize::MAX)
}

fn corrupt(reason: impl ToString) -> Error {
    Error::corrupt("Avro block", reason.to_string())
}

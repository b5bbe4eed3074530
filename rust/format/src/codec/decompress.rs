//! Bounded decompression of blocks: the limit is checked before bytes are produced.

use flate2::{Decompress, FlushDecompress, Status};
use zstd::zstd_safe::{self, DCtx};

use super::compress::Codec;
use crate::{Error, Result};

/// The greatest decompressed size of a block, far above the blocks that writers produce.
pub const MAX_BLOCK_BYTES: usize = 1 << 28;

const SMALLEST_BUFFER: usize = 1 << 16;
/// Memory is allocated for at most this many times the compressed size before the block is decompressed.
const LIKELY_RATIO: usize = 64;
const CRC_BYTES: usize = 4;
/// `ZSTD_error_dstSize_tooSmall`, one of the library's stable error codes.
const ZSTD_TOO_SMALL: zstd_safe::ErrorCode = 0_usize.wrapping_sub(70);

/// Decompresses blocks of one codec.
pub struct Decompressor {
    state: State,
    /// The buffer of [`Decompressor::decompress`].
    space: Space,
}

/// Decompressed blocks, concatenated in a reusable buffer.
#[derive(Debug, Default)]
pub struct Space {
    // The buffer is always initialised; the blocks are a prefix of it.
    buffer: Vec<u8>,
    used: usize,
}

impl Space {
    /// Return the bytes of all blocks.
    pub fn bytes(&self) -> &[u8] {
        self.bytes_from(0)
    }

    /// Remove the blocks.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Return the bytes from `start` on.
    pub fn bytes_from(&self, start: usize) -> &[u8] {
        self.buffer.get(start..self.used).unwrap_or_default()
    }

    /// Return the number of bytes of all blocks, where the next block starts.
    pub fn used(&self) -> usize {
        self.used
    }
}

enum State {
    Null,
    Deflate(Decompress),
    Snappy(snap::raw::Decoder),
    /// Created for the first block.
    Zstandard(Option<DCtx<'static>>),
    Bzip2,
}

impl Decompressor {
    /// Create a decompressor for blocks of a codec.
    pub fn new(codec: Codec) -> Self {
        let state = match codec {
            Codec::Null => State::Null,
            Codec::Deflate(_) => State::Deflate(Decompress::new(false)),
            Codec::Snappy => State::Snappy(snap::raw::Decoder::new()),
            Codec::Zstandard(_) => State::Zstandard(None),
            Codec::Bzip2(_) => State::Bzip2,
        };
        Self { state, space: Space::default() }
    }

    /// Return the contents of a compressed block, at most `limit` bytes; valid until the next call.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the block does not decompress, fails its checksum or holds more than `limit` bytes;
    /// [`Error::Unsupported`] if the codec library cannot allocate its state.
    pub fn decompress<'b>(&'b mut self, block: &'b [u8], limit: usize) -> Result<&'b [u8]> {
        if matches!(self.state, State::Null) {
            return Ok(block);
        }
        self.space.clear();
        self.state.append(block, limit, &mut self.space)?;
        Ok(self.space.bytes())
    }

    /// Append the contents of a compressed block, at most `limit` bytes, to `space`.
    ///
    /// # Errors
    /// As for [`Self::decompress`].
    pub fn append(&mut self, block: &[u8], limit: usize, space: &mut Space) -> Result<()> {
        self.state.append(block, limit, space)
    }
}

impl State {
    fn append(&mut self, block: &[u8], limit: usize, space: &mut Space) -> Result<()> {
        let mut target = Target { start: space.used, buffer: &mut space.buffer, limit };
        space.used += match self {
            Self::Null => target.copy(block)?,
            Self::Deflate(inflate) => target.inflate(inflate, block)?,
            Self::Snappy(decoder) => target.unsnap(decoder, block)?,
            Self::Zstandard(state) => target.unzstd(state, block)?,
            Self::Bzip2 => target.unbzip(block)?,
        };
        Ok(())
    }
}

/// The destination of a block and the limit of its size.
struct Target<'b> {
    buffer: &'b mut Vec<u8>,
    start: usize,
    limit: usize,
}

impl Target<'_> {
    fn copy(&mut self, block: &[u8]) -> Result<usize> {
        self.make_room(block.len())?;
        let room = self.room().get_mut(..block.len());
        room.ok_or_else(|| corrupt("length"))?.copy_from_slice(block);
        Ok(block.len())
    }

    fn inflate(&mut self, inflate: &mut Decompress, block: &[u8]) -> Result<usize> {
        inflate.reset(false);
        let mut written = 0;
        if self.room().len() < likely(block.len()).min(self.limit) {
            // If the buffer holds the whole block, inflate needs no window.
            self.grow(block.len())?;
        }
        loop {
            if written == self.room().len() {
                self.grow(block.len())?;
            }
            let before = (inflate.total_in(), inflate.total_out());
            let input = block.get(size(before.0)..).unwrap_or_default();
            let output = self.room().get_mut(written..).unwrap_or_default();
            let status = inflate
                .decompress(input, output, FlushDecompress::Finish)
                .map_err(|error| corrupt(error.to_string()))?;
            written = size(inflate.total_out());
            if status == Status::StreamEnd {
                return self.within_limit(written);
            }
            let stalled = before == (inflate.total_in(), inflate.total_out());
            if stalled && written < self.room().len() {
                return Err(corrupt("the compressed data end before the block"));
            }
        }
    }

    fn unsnap(&mut self, decoder: &mut snap::raw::Decoder, block: &[u8]) -> Result<usize> {
        let (data, checksum) = block
            .split_last_chunk::<CRC_BYTES>()
            .ok_or_else(|| corrupt("the Snappy block has no checksum"))?;
        let expected = snap::raw::decompress_len(data).map_err(corrupt)?;
        // A Snappy copy element of three bytes yields at most 64 bytes: a length beyond this ratio is wrong and must
        // not size an allocation.
        if expected > data.len().saturating_mul(64) {
            return Err(corrupt(
                "the length of the Snappy block exceeds 64 times its compressed size",
            ));
        }
        self.make_room(expected)?;
        let length = decoder.decompress(data, self.room()).map_err(corrupt)?;
        let found = crc32fast::hash(self.room().get(..length).unwrap_or_default());
        if found != u32::from_be_bytes(*checksum) {
            return Err(corrupt("the CRC-32 checksum does not match"));
        }
        Ok(length)
    }

    /// Decompress in one call, which allocates no window, whatever window size the block states.
    fn unzstd(&mut self, state: &mut Option<DCtx<'_>>, block: &[u8]) -> Result<usize> {
        if state.is_none() {
            *state = DCtx::try_create();
        }
        let context = state.as_mut();
        let context = context
            .ok_or_else(|| Error::unsupported("a Zstandard context beyond the available memory"))?;
        if let Ok(Some(claimed)) = zstd_safe::get_frame_content_size(block) {
            let claimed = self.within_limit(usize::try_from(claimed).unwrap_or(usize::MAX))?;
            // Most blocks hold no more; the buffer grows for others while they are decompressed.
            self.make_room(claimed.min(block.len().saturating_mul(LIKELY_RATIO)))?;
        }
        loop {
            match context.decompress(self.room(), block) {
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
            if written == self.room().len() {
                self.grow(block.len())?;
            }
            let before = (decompress.total_in(), decompress.total_out());
            let input = block.get(size(before.0)..).unwrap_or_default();
            let output = self.room().get_mut(written..).unwrap_or_default();
            let status = decompress.decompress(input, output).map_err(corrupt)?;
            written = size(decompress.total_out());
            if status == bzip2::Status::StreamEnd {
                return self.within_limit(written);
            }
            let stalled = before == (decompress.total_in(), decompress.total_out());
            if stalled && written < self.room().len() {
                return Err(corrupt("the compressed data end before the block"));
            }
        }
    }

    /// Return the unused part of the buffer.
    fn room(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.start..).unwrap_or_default()
    }

    /// Double the buffer, within the limit.
    fn grow(&mut self, compressed: usize) -> Result<()> {
        let room = self.room().len();
        self.within_limit(room + 1)?;
        let target = (room * 2).max(likely(compressed));
        self.buffer.resize(self.start + target.min(self.limit), 0);
        Ok(())
    }

    fn make_room(&mut self, length: usize) -> Result<()> {
        self.within_limit(length)?;
        if self.room().len() < length {
            self.buffer.resize(self.start + length, 0);
        }
        Ok(())
    }

    fn within_limit(&self, length: usize) -> Result<usize> {
        if length > self.limit {
            let limit = self.limit;
            return Err(corrupt(format!("expected at most {limit} decompressed bytes, got more")));
        }
        Ok(length)
    }
}

/// Return the usual decompressed size of a block.
fn likely(compressed: usize) -> usize {
    compressed.saturating_mul(4).max(SMALLEST_BUFFER)
}

fn size(total: u64) -> usize {
    usize::try_from(total).unwrap_or(usize::MAX)
}

fn corrupt(reason: impl ToString) -> Error {
    Error::corrupt("Avro block", reason.to_string())
}

//! Block compression of object containers.

use std::io::Read;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::{Error, Result};

/// No block of a manifest or a data file comes near this many bytes once decompressed.
pub const MAX_BLOCK_BYTES: usize = 1 << 28;

const SMALLEST_BUFFER: usize = 1 << 16;
const CRC_BYTES: usize = 4;

/// How the blocks of a container are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// Not at all.
    Null,
    /// Raw DEFLATE (RFC 1951) at a level of 0 to 9; readers ignore the level.
    Deflate(u32),
    /// Snappy followed by the big-endian CRC-32 of the uncompressed block.
    Snappy,
    /// Zstandard at a level; readers ignore the level.
    Zstandard(i32),
}

impl Codec {
    /// The codec for the header value `avro.codec`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a codec that is not implemented.
    pub fn from_avro_name(name: &str) -> Result<Self> {
        match name {
            "null" => Ok(Self::Null),
            "deflate" => Ok(Self::Deflate(6)),
            "snappy" => Ok(Self::Snappy),
            "zstandard" => Ok(Self::Zstandard(3)),
            other => Err(Error::unsupported(format!("Avro codec {other}"))),
        }
    }

    /// The codec for a table property such as `write.manifest.compression-codec`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a name that the property does not take.
    pub fn from_property(name: &str, level: Option<i32>) -> Result<Self> {
        let deflate_level = |level: i32| u32::try_from(level.clamp(0, 9)).unwrap_or(6);
        match name.to_ascii_lowercase().as_str() {
            "uncompressed" => Ok(Self::Null),
            "gzip" => Ok(Self::Deflate(level.map_or(6, deflate_level))),
            "snappy" => Ok(Self::Snappy),
            "zstd" => Ok(Self::Zstandard(level.unwrap_or(3))),
            other => Err(Error::invalid(
                "compression-codec",
                format!("{other} is not one of gzip, zstd, snappy, uncompressed"),
            )),
        }
    }

    /// The header value `avro.codec`.
    pub fn avro_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Deflate(_) => "deflate",
            Self::Snappy => "snappy",
            Self::Zstandard(_) => "zstandard",
        }
    }

    /// Compress one block.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the codec library refuses the block, which it does for no
    /// block below 4 GiB.
    pub fn compress(self, block: &[u8]) -> Result<Vec<u8>> {
        let refused = |reason: String| Error::invalid("block", reason);
        match self {
            Self::Null => Ok(block.to_vec()),
            Self::Deflate(level) => deflate(block, level),
            Self::Snappy => {
                let mut out = snap::raw::Encoder::new()
                    .compress_vec(block)
                    .map_err(|error| refused(error.to_string()))?;
                out.extend_from_slice(&crc32fast::hash(block).to_be_bytes());
                Ok(out)
            }
            Self::Zstandard(level) => {
                zstd::bulk::compress(block, level).map_err(|error| refused(error.to_string()))
            }
        }
    }
}

/// Decompresses the blocks of one container, reusing one buffer.
pub struct Decompressor {
    codec: Codec,
    inflate: Decompress,
    // Always initialised to its whole length; the last block occupies a prefix.
    buffer: Vec<u8>,
}

impl Decompressor {
    /// A decompressor for blocks of `codec`.
    pub fn new(codec: Codec) -> Self {
        Self { codec, inflate: Decompress::new(false), buffer: Vec::new() }
    }

    /// The contents of one compressed block; valid until the next call.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the block does not decompress, fails its checksum or exceeds
    /// [`MAX_BLOCK_BYTES`].
    pub fn decompress<'b>(&'b mut self, block: &'b [u8]) -> Result<&'b [u8]> {
        let length = match self.codec {
            Codec::Null => return Ok(block),
            Codec::Deflate(_) => self.inflate(block)?,
            Codec::Snappy => self.unsnap(block)?,
            Codec::Zstandard(_) => {
                self.buffer.clear();
                let decoder = zstd::stream::read::Decoder::with_buffer(block).map_err(corrupt)?;
                let limit = u64::try_from(MAX_BLOCK_BYTES).unwrap_or(u64::MAX);
                decoder.take(limit + 1).read_to_end(&mut self.buffer).map_err(corrupt)?;
                within_limit(self.buffer.len())?
            }
        };
        self.buffer.get(..length).ok_or_else(|| corrupt("length"))
    }

    fn inflate(&mut self, block: &[u8]) -> Result<usize> {
        self.inflate.reset(false);
        let mut written = 0;
        loop {
            if written == self.buffer.len() {
                within_limit(written + 1)?;
                let target = (written * 2).max(block.len() * 4).max(SMALLEST_BUFFER);
                self.buffer.resize(target.min(MAX_BLOCK_BYTES), 0);
            }
            let consumed = usize::try_from(self.inflate.total_in()).unwrap_or(usize::MAX);
            let input = block.get(consumed..).unwrap_or_default();
            let output = self.buffer.get_mut(written..).unwrap_or_default();
            let before = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(input, output, FlushDecompress::Finish)
                .map_err(|error| corrupt(error.to_string()))?;
            written = usize::try_from(self.inflate.total_out()).unwrap_or(usize::MAX);
            if status == Status::StreamEnd {
                return Ok(written);
            }
            let stalled = before == (self.inflate.total_in(), self.inflate.total_out());
            if stalled && written < self.buffer.len() {
                return Err(corrupt("the compressed data end too early"));
            }
        }
    }

    fn unsnap(&mut self, block: &[u8]) -> Result<usize> {
        let (data, checksum) = block
            .split_last_chunk::<CRC_BYTES>()
            .ok_or_else(|| corrupt("a snappy block without its checksum"))?;
        let expected = snap::raw::decompress_len(data).map_err(corrupt)?;
        within_limit(expected)?;
        // A snappy copy element of three bytes yields at most 64, so a length beyond that ratio
        // is a lie and must not size an allocation.
        if expected > data.len().saturating_mul(64) {
            return Err(corrupt("a snappy block claims an impossible length"));
        }
        if self.buffer.len() < expected {
            self.buffer.resize(expected, 0);
        }
        let length =
            snap::raw::Decoder::new().decompress(data, &mut self.buffer).map_err(corrupt)?;
        let found = crc32fast::hash(self.buffer.get(..length).unwrap_or_default());
        if found != u32::from_be_bytes(*checksum) {
            return Err(corrupt("the checksum does not match"));
        }
        Ok(length)
    }
}

fn deflate(block: &[u8], level: u32) -> Result<Vec<u8>> {
    let mut compress = Compress::new(Compression::new(level.min(9)), false);
    let mut out = Vec::with_capacity(block.len() / 2 + 64);
    loop {
        let consumed = usize::try_from(compress.total_in()).unwrap_or(usize::MAX);
        let input = block.get(consumed..).unwrap_or_default();
        let status = compress
            .compress_vec(input, &mut out, FlushCompress::Finish)
            .map_err(|error| Error::invalid("block", error.to_string()))?;
        if status == Status::StreamEnd {
            return Ok(out);
        }
        out.reserve(block.len() / 2 + 64);
    }
}

fn within_limit(length: usize) -> Result<usize> {
    if length > MAX_BLOCK_BYTES {
        return Err(corrupt(format!("a block exceeds {MAX_BLOCK_BYTES} bytes")));
    }
    Ok(length)
}

fn corrupt(reason: impl ToString) -> Error {
    Error::corrupt("Avro block", reason.to_string())
}

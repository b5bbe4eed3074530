//! Compression of Avro blocks.

use std::io::Write;

use flate2::{Compress, Compression, FlushCompress, Status};

use crate::{Error, Result};

/// The compression of the blocks of an Avro container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// No compression.
    Null,
    /// Raw DEFLATE (RFC 1951) at a level of 0 to 9; readers ignore the level.
    Deflate(u32),
    /// Snappy followed by the big-endian CRC-32 of the uncompressed block.
    Snappy,
    /// Zstandard at a level; readers ignore the level.
    Zstandard(i32),
    /// Bzip2 at a level of 1 to 9; readers ignore the level.
    Bzip2(u32),
}

impl Codec {
    /// Return the codec of the header value `avro.codec`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a codec that is not implemented.
    pub fn from_avro_name(name: &str) -> Result<Self> {
        match name {
            "null" => Ok(Self::Null),
            "deflate" => Ok(Self::Deflate(6)),
            "snappy" => Ok(Self::Snappy),
            "zstandard" => Ok(Self::Zstandard(3)),
            "bzip2" => Ok(Self::Bzip2(9)),
            other => Err(Error::unsupported(format!("the Avro codec {other}"))),
        }
    }

    /// Return the codec of a table property such as `write.manifest.compression-codec`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an unknown name.
    pub fn from_property(name: &str, level: Option<i32>) -> Result<Self> {
        let deflate_level = |level: i32| u32::try_from(level.clamp(0, 9)).unwrap_or(6);
        match name.to_ascii_lowercase().as_str() {
            "uncompressed" => Ok(Self::Null),
            "gzip" => Ok(Self::Deflate(level.map_or(6, deflate_level))),
            "snappy" => Ok(Self::Snappy),
            "zstd" => Ok(Self::Zstandard(level.unwrap_or(3))),
            other => Err(Error::invalid(
                "compression-codec",
                format!("is unknown; expected gzip, zstd, snappy or uncompressed, got {other}"),
            )),
        }
    }

    /// Return the header value `avro.codec`.
    pub fn avro_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Deflate(_) => "deflate",
            Self::Snappy => "snappy",
            Self::Zstandard(_) => "zstandard",
            Self::Bzip2(_) => "bzip2",
        }
    }

    /// Compress one block.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the codec library refuses the block; blocks below 4 GiB are accepted.
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
            Self::Bzip2(level) => {
                let level = bzip2::Compression::new(level.clamp(1, 9));
                let mut out = bzip2::write::BzEncoder::new(Vec::new(), level);
                out.write_all(block).map_err(|error| refused(error.to_string()))?;
                out.finish().map_err(|error| refused(error.to_string()))
            }
        }
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

//! The postscript of an ORC file, its last part, which is never compressed.

use std::ops::Range;

use super::corrupt;
use super::wire::Fields;
use crate::{Error, Result};

/// The greatest length of a postscript, including the byte of its length.
pub const POSTSCRIPT_BYTES: usize = 256;

const MAGIC: &[u8] = b"ORC";
/// The header of a chunk has 23 bits for the length.
const MAX_CHUNK_BYTES: u64 = 1 << 23;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zlib,
    Snappy,
    Lzo,
    Lz4,
    Zstd,
}

/// The position and compression of a file's footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postscript {
    pub(super) compression: Compression,
    /// The greatest decompressed size of a chunk.
    pub(super) chunk_bytes: usize,
    /// The end of the stripes and start of the metadata.
    pub(super) rows_end: u64,
    /// The version of the writer's implementation, from 0.
    pub(super) writer_version: u64,
    footer: Range<u64>,
}

impl Postscript {
    /// Parse the postscript from the last [`POSTSCRIPT_BYTES`] of a file, or from all bytes of a shorter file.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Unsupported`] for Brotli, which decoders do not support.
    pub fn parse(end: &[u8], file_length: u64) -> Result<Self> {
        let Some((length, before)) = end.split_last() else {
            return Err(corrupt("the file is empty"));
        };
        let start = before.len().checked_sub(usize::from(*length));
        let message = start.and_then(|start| before.get(start..)).unwrap_or_default();
        let mut lengths = Lengths::default();
        for field in Fields::of(message) {
            let (number, value) = field?;
            match number {
                1 => lengths.footer = value.number("footer length")?,
                2 => lengths.compression = value.number("compression")?,
                3 => lengths.chunk = value.number("compression block size")?,
                5 => lengths.metadata = value.number("metadata length")?,
                6 => lengths.writer_version = value.number("writer version")?,
                8000 => lengths.magic = value.bytes("magic")? == MAGIC,
                _ => {}
            }
        }
        if !lengths.magic {
            return Err(corrupt("the postscript has no magic bytes; expected ORC"));
        }
        lengths.within(file_length, u64::from(*length) + 1)
    }

    /// Return the byte range of the footer.
    pub fn footer(&self) -> Range<u64> {
        self.footer.clone()
    }

    /// Return the byte range of the stripe statistics, empty where there are none.
    pub fn metadata(&self) -> Range<u64> {
        self.rows_end..self.footer.start
    }
}

/// The fields of a postscript before validation.
#[derive(Default)]
struct Lengths {
    footer: u64,
    metadata: u64,
    compression: u64,
    chunk: u64,
    writer_version: u64,
    magic: bool,
}

impl Lengths {
    fn within(&self, file_length: u64, postscript: u64) -> Result<Postscript> {
        let footer_end = file_length.checked_sub(postscript);
        let footer_start = footer_end.and_then(|end| end.checked_sub(self.footer));
        let rows_end = footer_start.and_then(|start| start.checked_sub(self.metadata));
        let (Some(footer_end), Some(footer_start), Some(rows_end)) =
            (footer_end, footer_start, rows_end)
        else {
            let (footer, metadata) = (self.footer, self.metadata);
            return Err(corrupt(format!(
                "the lengths do not fit the file; expected at most {file_length} bytes, got a footer of {footer} and metadata of {metadata}"
            )));
        };
        let compression = self.compression()?;
        if compression != Compression::None && !(1..MAX_CHUNK_BYTES).contains(&self.chunk) {
            return Err(corrupt(format!(
                "the compression block size is invalid; expected 1 to {}, got {}",
                MAX_CHUNK_BYTES - 1,
                self.chunk
            )));
        }
        Ok(Postscript {
            compression,
            chunk_bytes: usize::try_from(self.chunk).unwrap_or(usize::MAX),
            rows_end,
            writer_version: self.writer_version,
            footer: footer_start..footer_end,
        })
    }

    fn compression(&self) -> Result<Compression> {
        Ok(match self.compression {
            0 => Compression::None,
            1 => Compression::Zlib,
            2 => Compression::Snappy,
            3 => Compression::Lzo,
            4 => Compression::Lz4,
            5 => Compression::Zstd,
            6 => return Err(Error::unsupported("the ORC compression brotli")),
            other => {
                return Err(corrupt(format!(
                    "the compression is unknown; expected 0 to 6, got {other}"
                )));
            }
        })
    }
}

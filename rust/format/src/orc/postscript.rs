//! The postscript, the only part of an ORC file that is never compressed.

use std::ops::Range;

use super::corrupt;
use super::wire::Fields;
use crate::{Error, Result};

/// No postscript with its length is longer.
pub const POSTSCRIPT_BYTES: usize = 256;

const MAGIC: &[u8] = b"ORC";
/// A chunk's header has 23 bits for its length, and no writer makes longer ones.
const MAX_CHUNK_BYTES: u64 = 1 << 23;

/// How the parts of a file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zlib,
    Snappy,
    Lzo,
    Lz4,
    Zstd,
}

/// Where a file's footer is, and how it is compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postscript {
    pub(super) compression: Compression,
    /// The most bytes that a chunk decompresses to.
    pub(super) chunk_bytes: usize,
    /// Where the rows end and the metadata begin.
    pub(super) rows_end: u64,
    /// How old the writer is; 0 is the first.
    pub(super) writer_version: u64,
    footer: Range<u64>,
}

impl Postscript {
    /// The postscript of a file of so many bytes, by its last [`POSTSCRIPT_BYTES`] or all that it has.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Unsupported`] for a compression that ORC has and decoders lack.
    pub fn parse(end: &[u8], file_length: u64) -> Result<Self> {
        let Some((length, before)) = end.split_last() else {
            return Err(corrupt("it is empty"));
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
            return Err(corrupt("it does not end as ORC files do"));
        }
        lengths.within(file_length, u64::from(*length) + 1)
    }

    /// The bytes of the footer within the file.
    pub fn footer(&self) -> Range<u64> {
        self.footer.clone()
    }

    /// The bytes of the statistics of stripes within the file; none where there are no statistics.
    pub fn metadata(&self) -> Range<u64> {
        self.rows_end..self.footer.start
    }
}

/// What a postscript says, not checked yet.
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
                "a footer of {footer} and metadata of {metadata} bytes do not fit into {file_length}"
            )));
        };
        let compression = self.compression()?;
        if compression != Compression::None && !(1..MAX_CHUNK_BYTES).contains(&self.chunk) {
            return Err(corrupt(format!("{} is no compression block size", self.chunk)));
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
            6 => return Err(Error::unsupported("ORC compressed with brotli")),
            other => return Err(corrupt(format!("there is no compression {other}"))),
        })
    }
}

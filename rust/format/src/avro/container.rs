//! Object containers: blocks that end in a synchronisation marker, decompressed one at a time.

use super::block_run::{BlockRun, read_block};
use super::cursor::{Cursor, Malformed};
use super::header::position;
pub use super::header::{Header, MAGIC, SYNC_BYTES};
use super::schema::AvroType;
use crate::codec::{Codec, Decompressor, MAX_BLOCK_BYTES, Space};
use crate::{Error, Result};

/// The most decompressed bytes per byte of a container. DEFLATE yields at most 1,032; other codecs could yield more.
const BYTES_PER_BYTE: usize = 1040;
const FREE_BYTES: usize = 1 << 20;

impl<'a> Header<'a> {
    /// Return all blocks.
    pub fn blocks(&self) -> Blocks<'a> {
        self.blocks_by(Decompressor::new(self.codec()))
    }

    /// Return all blocks, with the decompressor of another container of the same codec.
    pub fn blocks_by(&self, decompressor: Decompressor) -> Blocks<'a> {
        let bytes_left =
            self.bytes().len().saturating_mul(BYTES_PER_BYTE).saturating_add(FREE_BYTES);
        Blocks { bytes_left, ..self.run_by(&self.all_blocks(), decompressor) }
    }

    /// Return the blocks of a run of this container. All runs of a container share the limit of decompressed bytes.
    pub fn blocks_of(&self, run: &BlockRun) -> Blocks<'a> {
        self.run_by(run, Decompressor::new(self.codec()))
    }

    fn run_by(&self, run: &BlockRun, decompressor: Decompressor) -> Blocks<'a> {
        let bytes = self.bytes().get(run.range.clone()).unwrap_or_default();
        let free = FREE_BYTES / run.siblings.max(1);
        Blocks {
            end: run.range.end,
            cursor: Cursor::new(bytes),
            sync: self.sync(),
            decompressor,
            bytes_left: bytes.len().saturating_mul(BYTES_PER_BYTE).saturating_add(free),
            records_left: self.most_records(),
        }
    }
}

/// An object container over a byte slice, with a parsed header.
#[derive(Debug)]
pub struct Container<'a> {
    header: Header<'a>,
    schema: AvroType,
}

impl<'a> Container<'a> {
    /// Read the header.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if `bytes` are no container or the schema is invalid;
    /// [`Error::Unsupported`] for a codec that is not implemented.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let header = Header::parse(bytes)?;
        Ok(Self { schema: header.schema()?, header })
    }

    /// Return the writer's schema.
    pub fn schema(&self) -> &AvroType {
        &self.schema
    }

    /// Return the position of the schema in the container.
    pub fn schema_offset(&self) -> u64 {
        self.header.schema_offset()
    }

    /// Return the codec of the blocks.
    pub fn codec(&self) -> Codec {
        self.header.codec()
    }

    /// Return the synchronisation marker at the end of every block.
    pub fn sync(&self) -> [u8; SYNC_BYTES] {
        self.header.sync()
    }

    /// Return the position of the first block.
    pub fn first_block(&self) -> usize {
        self.header.first_block()
    }

    /// Return a value of the header's metadata as text; `None` if the key is missing.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the value is not UTF-8.
    pub fn metadata(&self, key: &str) -> Result<Option<&'a str>> {
        self.header.metadata(key)
    }

    /// Return all blocks.
    pub fn blocks(&self) -> Blocks<'a> {
        self.header.blocks()
    }

    /// Return the blocks of a run of this container; see [`Header::blocks_of`].
    pub fn blocks_of(&self, run: &BlockRun) -> Blocks<'a> {
        self.header.blocks_of(run)
    }
}

/// The blocks of a container, decompressed one at a time into a reused buffer.
pub struct Blocks<'a> {
    /// Position after the last block.
    end: usize,
    cursor: Cursor<'a>,
    sync: [u8; SYNC_BYTES],
    decompressor: Decompressor,
    bytes_left: usize,
    records_left: usize,
}

/// A decompressed block.
#[derive(Debug, Clone, Copy)]
pub struct Block<'b> {
    /// Number of records according to the block, checked only against the container's size.
    pub count: usize,
    /// The encoded records.
    pub bytes: &'b [u8],
    /// Position of the block in the container.
    pub offset: u64,
}

impl Block<'_> {
    /// Return the error for a malformed record of this block; `remaining` is the number of bytes left of its cursor.
    pub fn malformed(&self, what: &str, error: Malformed, remaining: usize) -> Error {
        let within = self.bytes.len().saturating_sub(remaining);
        let reason = format!("{error} (byte {within} of the decompressed block)");
        Error::corrupt_at(what, self.offset, reason)
    }
}

impl<'a> Blocks<'a> {
    /// Return the number of compressed bytes left.
    pub fn remaining(&self) -> usize {
        self.cursor.remaining()
    }

    /// Return the decompressor, for another container of the same codec.
    pub fn into_decompressor(self) -> Decompressor {
        self.decompressor
    }

    /// Return the position of the next block in the container.
    pub fn position(&self) -> u64 {
        position(self.end.saturating_sub(self.cursor.remaining()))
    }

    /// Return the next block; `None` at the end of the container.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the block's position.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>> {
        let Some(frame) = self.next_frame()? else { return Ok(None) };
        let limit = self.bytes_left.min(MAX_BLOCK_BYTES);
        let bytes = self.decompressor.decompress(frame.bytes, limit);
        let bytes = bytes.map_err(|error| error.or_at(frame.offset))?;
        self.bytes_left = self.bytes_left.saturating_sub(bytes.len());
        Ok(Some(Block { bytes, ..frame }))
    }

    /// Append the next block to `space`; `None` at the end of the container.
    ///
    /// # Errors
    /// As for [`Self::next_block`].
    pub fn append_block<'s>(&mut self, space: &'s mut Space) -> Result<Option<Block<'s>>> {
        let Some(frame) = self.next_frame()? else { return Ok(None) };
        let (start, limit) = (space.used(), self.bytes_left.min(MAX_BLOCK_BYTES));
        let appended = self.decompressor.append(frame.bytes, limit, space);
        appended.map_err(|error| error.or_at(frame.offset))?;
        let bytes = space.bytes_from(start);
        self.bytes_left = self.bytes_left.saturating_sub(bytes.len());
        Ok(Some(Block { bytes, ..frame }))
    }

    /// Return the next block without decompressing it.
    fn next_frame(&mut self) -> Result<Option<Block<'a>>> {
        if self.cursor.remaining() == 0 {
            return Ok(None);
        }
        let offset = self.position();
        let at = |reason: String| Error::corrupt_at("Avro block", offset, reason);
        let (count, block) =
            read_block(&mut self.cursor, self.sync).map_err(|error| at(error.to_string()))?;
        let bytes = block
            .ok_or_else(|| at("the synchronisation marker differs from the header's".into()))?;
        self.records_left = self.records_left.checked_sub(count).ok_or_else(|| {
            at(format!("it claims {count} records, more than a file of this size can hold"))
        })?;
        Ok(Some(Block { count, bytes, offset }))
    }
}

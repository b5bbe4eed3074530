//! Decompressed blocks of a manifest, with the positions of their entries.

use std::ops::Range;

use arrow_array::BooleanArray;

use super::decode::{WHAT, check_count, trailing};
use crate::avro::{Block, Blocks, Cursor, StructColumn};
use crate::codec::Space;
use crate::{Error, Result};

/// Decompressed bytes per chunk: large enough to evaluate a filter over columns, and small enough to stay in the cache
/// until the selected entries are decoded.
pub(super) const CHUNK_BYTES: usize = 512 * 1024;

/// Decompressed blocks and the byte ranges of the selected entries.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    space: Space,
    blocks: Vec<ChunkBlock>,
    entries: Vec<Range<usize>>,
}

/// A block of a chunk.
#[derive(Debug)]
struct ChunkBlock {
    count: usize,
    /// The byte range in the chunk.
    bytes: Range<usize>,
    /// The position in the container.
    offset: u64,
}

impl Chunk {
    /// Replace the blocks by the next ones, of at least `bytes` bytes if there are as many, and read every entry into
    /// `columns`; false at the end of the container.
    pub(super) fn fill(
        &mut self,
        blocks: &mut Blocks<'_>,
        columns: &mut StructColumn,
        bytes: usize,
    ) -> Result<bool> {
        self.space.clear();
        self.blocks.clear();
        self.entries.clear();
        while self.space.used() < bytes && self.take(blocks, columns)? {}
        Ok(!self.blocks.is_empty())
    }

    fn take(&mut self, blocks: &mut Blocks<'_>, columns: &mut StructColumn) -> Result<bool> {
        let mut start = self.space.used();
        let Some(block) = blocks.append_block(&mut self.space)? else { return Ok(false) };
        check_count(&block)?;
        let bytes = start..start + block.bytes.len();
        let mut cursor = Cursor::new(block.bytes);
        for _ in 0..block.count {
            columns
                .read(&mut cursor)
                .map_err(|error| block.malformed(WHAT, error, cursor.remaining()))?;
            let end = bytes.end - cursor.remaining();
            self.entries.push(start..end);
            start = end;
        }
        trailing(&block, &cursor)?;
        self.blocks.push(ChunkBlock { count: block.count, bytes, offset: block.offset });
        Ok(true)
    }

    /// Return the number of selected entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Select those entries for which `mask` is true.
    pub(super) fn select(&mut self, mask: &BooleanArray) {
        let mut selected = mask.values().iter();
        self.entries.retain(|_| selected.next().unwrap_or(false));
    }

    /// Read the selected entries into `columns`.
    pub(super) fn read(&self, columns: &mut StructColumn) -> Result<()> {
        for entry in &self.entries {
            let bytes = self.space.bytes().get(entry.clone()).unwrap_or_default();
            let mut cursor = Cursor::new(bytes);
            let outcome = columns.read(&mut cursor);
            let end = entry.end - cursor.remaining();
            if let Err(error) = outcome {
                let (block, left) = self.block_at(entry.start, end);
                return Err(block.malformed(WHAT, error, left));
            }
            // Fields that were skipped before are read now: a map may have recorded a wrong length.
            if cursor.remaining() > 0 {
                let (block, _) = self.block_at(entry.start, end);
                let reason = format!("an entry has {} trailing bytes", cursor.remaining());
                return Err(Error::corrupt_at(WHAT, block.offset, reason));
            }
        }
        Ok(())
    }

    /// Return the block around a position in the chunk, and the number of its bytes after `end`.
    fn block_at(&self, position: usize, end: usize) -> (Block<'_>, usize) {
        let index = self.blocks.partition_point(|block| block.bytes.end <= position);
        match self.blocks.get(index) {
            Some(block) => (block.block(self.space.bytes()), block.bytes.end.saturating_sub(end)),
            None => (Block { count: 0, bytes: &[], offset: 0 }, 0),
        }
    }
}

impl ChunkBlock {
    fn block<'b>(&self, bytes: &'b [u8]) -> Block<'b> {
        let bytes = bytes.get(self.bytes.clone()).unwrap_or_default();
        Block { count: self.count, bytes, offset: self.offset }
    }
}

//! Some blocks of a manifest, decompressed, and where their entries are.

use std::ops::Range;

use arrow_array::BooleanArray;

use super::decode::{WHAT, check_count, trailing};
use crate::avro::{Block, Blocks, Cursor, StructColumn};
use crate::codec::Space;
use crate::{Error, Result};

/// Decompressed bytes that are looked at together: enough for a filter to be evaluated over columns,
/// few enough to stay in cache until the entries that it keeps are decoded.
pub(super) const CHUNK_BYTES: usize = 512 * 1024;

/// Decompressed blocks and the places of those entries that are still of interest.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    space: Space,
    blocks: Vec<Place>,
    entries: Vec<Range<usize>>,
}

/// One block.
#[derive(Debug)]
struct Place {
    count: usize,
    /// In the chunk.
    bytes: Range<usize>,
    /// In the container.
    offset: u64,
}

impl Chunk {
    /// Take the next blocks, so many bytes and no more than a block above, instead of those so far, and
    /// read every entry into `columns`; false at the end of the container.
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
        self.blocks.push(Place { count: block.count, bytes, offset: block.offset });
        Ok(true)
    }

    /// Number of entries of interest.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Keep the entries of interest for which `mask` is true.
    pub(super) fn keep(&mut self, mask: &BooleanArray) {
        let mut kept = mask.values().iter();
        self.entries.retain(|_| kept.next().unwrap_or(false));
    }

    /// Read the entries of interest into `columns`.
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
            // What was skipped before is read now: a map may claim a length that is not its own.
            if cursor.remaining() > 0 {
                let (block, _) = self.block_at(entry.start, end);
                let reason = format!("an entry ends {} bytes early", cursor.remaining());
                return Err(Error::corrupt_at(WHAT, block.offset, reason));
            }
        }
        Ok(())
    }

    /// The block around a position in the chunk, and how many of its bytes are beyond `end`.
    fn block_at(&self, position: usize, end: usize) -> (Block<'_>, usize) {
        let index = self.blocks.partition_point(|place| place.bytes.end <= position);
        match self.blocks.get(index) {
            Some(place) => (place.block(self.space.bytes()), place.bytes.end.saturating_sub(end)),
            None => (Block { count: 0, bytes: &[], offset: 0 }, 0),
        }
    }
}

impl Place {
    fn block<'b>(&self, bytes: &'b [u8]) -> Block<'b> {
        let bytes = bytes.get(self.bytes.clone()).unwrap_or_default();
        Block { count: self.count, bytes, offset: self.offset }
    }
}

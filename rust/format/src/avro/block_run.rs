//! Runs of blocks: parts of a container that are decoded independently.

use std::ops::Range;

use super::cursor::{Cursor, Malformed};
use super::header::{Header, SYNC_BYTES};

/// Consecutive blocks of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRun {
    /// The byte range in the container.
    pub(super) range: Range<usize>,
    /// Number of runs of the container, which share the limit of decompressed bytes.
    pub(super) siblings: usize,
}

impl Header<'_> {
    /// Split the blocks into at most `most` runs of similar size. Only block headers and synchronisation markers are
    /// read: if one is damaged, or the blocks hold more records than the limit, all blocks are one run.
    pub fn runs(&self, most: usize) -> Vec<BlockRun> {
        let whole = self.all_blocks();
        if most < 2 {
            return vec![whole];
        }
        self.cut(&whole.range, most).unwrap_or_else(|| vec![whole])
    }

    /// Return the run of all blocks.
    pub(super) fn all_blocks(&self) -> BlockRun {
        BlockRun { range: self.first_block()..self.bytes().len(), siblings: 1 }
    }

    /// Assign each block to the share of the bytes that contains its middle.
    fn cut(&self, blocks: &Range<usize>, count: usize) -> Option<Vec<BlockRun>> {
        let mut cursor = Cursor::new(self.bytes().get(blocks.clone())?);
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let share_bytes = blocks.len().div_ceil(count).max(1);
        let mut records = self.most_records();
        while cursor.remaining() > 0 {
            let start = blocks.len() - cursor.remaining();
            let (claimed, block) = read_block(&mut cursor, self.sync()).ok()?;
            block?;
            records = records.checked_sub(claimed)?;
            let end = blocks.len() - cursor.remaining();
            let share = (start + end) / 2 / share_bytes;
            match ends.last_mut() {
                Some((last, run_end)) if *last == share => *run_end = end,
                _ => ends.push((share, end)),
            }
        }
        let siblings = ends.len();
        let starts = std::iter::once(0).chain(ends.iter().map(|(_, end)| *end));
        let runs = starts.zip(&ends).map(|(start, (_, end))| {
            let range = blocks.start + start..blocks.start + end;
            BlockRun { range, siblings }
        });
        Some(runs.collect()).filter(|runs: &Vec<BlockRun>| !runs.is_empty())
    }
}

/// Return the record count and the compressed bytes of the next block; `None` for the bytes if the marker differs.
pub(super) fn read_block<'a>(
    cursor: &mut Cursor<'a>,
    sync: [u8; SYNC_BYTES],
) -> Result<(usize, Option<&'a [u8]>), Malformed> {
    let count = usize::try_from(cursor.long()?).map_err(|_| Malformed::Length)?;
    let block = cursor.bytes()?;
    let marker = cursor.take_array::<SYNC_BYTES>()?;
    Ok((count, (marker == sync).then_some(block)))
}

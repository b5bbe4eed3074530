//! Memory that the batches of sorted runs are read into, used again and again.

use arrow_buffer::Buffer;

/// The most bytes of blocks that wait to be used again. Between two batches of a merge, about as many bytes become free
/// as one of them has.
const MOST_BYTES: usize = 8 << 20;
/// The part of a block that is allocated beyond its bytes, so that longer batches fit into it.
const SLACK_PART: usize = 16;

/// Blocks of memory that no batch uses any more.
///
/// Without them, each batch of a run is read into new memory that is zeroed first. The allocator zeroes freed memory by
/// giving it back to the operating system, so a merge has a page fault for every page of every run.
#[derive(Default)]
pub(super) struct RunMemory {
    blocks: Vec<Vec<u8>>,
}

impl RunMemory {
    /// Return a block of `length` bytes, whose values are not defined.
    pub(super) fn take(&mut self, length: usize) -> Vec<u8> {
        let found = self.blocks.iter().position(|block| block.capacity() >= length);
        let mut block = match found {
            Some(place) => self.blocks.swap_remove(place),
            None => Vec::with_capacity(length + length / SLACK_PART),
        };
        // Bytes of the last use stay: writing zeros over them would cost as much as reading.
        block.resize(length, 0);
        block
    }

    /// Keep the memory of a batch, unless arrays still use it.
    pub(super) fn reclaim(&mut self, bytes: Buffer) {
        let waiting: usize = self.blocks.iter().map(Vec::capacity).sum();
        if waiting + bytes.capacity() <= MOST_BYTES
            && let Ok(block) = bytes.into_vec()
        {
            self.blocks.push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_once_nothing_reads_it() {
        let mut memory = RunMemory::default();
        let bytes = Buffer::from_vec(memory.take(1_000));
        let (start, array) = (bytes.as_ptr(), bytes.clone());
        memory.reclaim(bytes.clone());
        assert!(memory.blocks.is_empty());
        drop(array);
        memory.reclaim(bytes);
        let block = memory.take(1_050);
        assert_eq!((block.as_ptr(), block.len()), (start, 1_050));
    }

    #[test]
    fn bytes_of_waiting_blocks_are_bounded() {
        let mut memory = RunMemory::default();
        let blocks: Vec<_> = (0..5).map(|_| memory.take(MOST_BYTES / 3)).collect();
        blocks.into_iter().for_each(|block| memory.reclaim(Buffer::from_vec(block)));
        assert_eq!(memory.blocks.len(), 2);
    }
}

//! The blocks of an Avro file, read in order.

use bytes::Bytes;
use icefloe_format::Error as FormatError;
use icefloe_format::avro::container::SYNC_BYTES;
use icefloe_format::avro::{Cursor, Malformed};
use parquet::file::reader::Length;

use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};

/// The most bytes of a block's header: two numbers.
const HEADER_BYTES: usize = 20;

/// A block's header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockHeader {
    /// Position of the block in the file.
    pub(crate) offset: u64,
    /// The number of records by the header.
    pub(crate) rows: u64,
    /// Position of its compressed bytes.
    start: u64,
    length: usize,
}

impl BlockHeader {
    /// Return the position after the block and its marker.
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add((self.length + SYNC_BYTES) as u64)
    }
}

/// Reads blocks in chunks of the file.
pub(crate) struct BlockReader {
    source: DataFile,
    location: String,
    sync: [u8; SYNC_BYTES],
    /// The least bytes of a read.
    chunk: usize,
    /// The position and bytes of the last read.
    window: (u64, Bytes),
}

impl BlockReader {
    pub(crate) fn new(
        source: DataFile,
        location: &str,
        sync: [u8; SYNC_BYTES],
        chunk: usize,
    ) -> Self {
        Self { source, location: location.to_owned(), sync, chunk, window: (0, Bytes::new()) }
    }

    /// Return the header of the block at a position; `None` at the end of the file.
    ///
    /// # Errors
    /// `Corrupt` with the position, for a header that is not valid or a block beyond the end of the file.
    pub(crate) fn header(&mut self, offset: u64) -> Result<Option<BlockHeader>> {
        let left = self.source.len().saturating_sub(offset);
        if left == 0 {
            return Ok(None);
        }
        let bytes = self.bytes(offset, HEADER_BYTES.min(size(left)))?;
        let mut cursor = Cursor::new(&bytes);
        let numbers = cursor.long().and_then(|rows| Ok((rows, cursor.long()?)));
        let read = bytes.len() - cursor.remaining();
        let lengths = numbers.and_then(|(rows, length)| {
            let rows = u64::try_from(rows).map_err(|_| Malformed::Length)?;
            Ok((rows, usize::try_from(length).map_err(|_| Malformed::Length)?))
        });
        let (rows, length) = lengths.map_err(|error| self.corrupt(offset, error.to_string()))?;
        let header = BlockHeader { offset, rows, start: offset + read as u64, length };
        if header.end() > self.source.len() {
            let reason = format!(
                "expected a block within the file, got one that exceeds its last {left} bytes"
            );
            return Err(self.corrupt(offset, reason));
        }
        Ok(Some(header))
    }

    /// Return a block's compressed bytes.
    ///
    /// # Errors
    /// `Corrupt` for another marker after the block; errors of reading.
    pub(crate) fn block(&mut self, header: &BlockHeader) -> Result<Bytes> {
        let whole = self.bytes(header.start, header.length + SYNC_BYTES)?;
        let marker = whole.slice(header.length..);
        self.check(header, &marker)?;
        Ok(whole.slice(..header.length))
    }

    /// Skip a block, and check the marker after it.
    ///
    /// # Errors
    /// As for [`BlockReader::block`].
    pub(crate) fn skip(&mut self, header: &BlockHeader) -> Result<()> {
        let marker = self.bytes(header.end() - SYNC_BYTES as u64, SYNC_BYTES)?;
        self.check(header, &marker)
    }

    fn check(&self, header: &BlockHeader, marker: &[u8]) -> Result<()> {
        if *marker == self.sync {
            return Ok(());
        }
        Err(self.corrupt(
            header.offset,
            "expected the file's synchronisation marker after the block, got other bytes".into(),
        ))
    }

    fn bytes(&mut self, start: u64, length: usize) -> Result<Bytes> {
        let (from, window) = &self.window;
        let held = start.checked_sub(*from).map(size);
        if let Some(at) = held.filter(|at| at.saturating_add(length) <= window.len()) {
            return Ok(window.slice(at..at + length));
        }
        let left = self.source.len().saturating_sub(start);
        let read = self.chunk.max(length).min(size(left)).max(length);
        let bytes = self.source.range(&self.location, start, read)?;
        self.window = (start, bytes.clone());
        Ok(bytes.slice(..length))
    }

    fn corrupt(&self, offset: u64, reason: String) -> Error {
        Error::in_file(&self.location, FormatError::corrupt_at("Avro block", offset, reason))
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

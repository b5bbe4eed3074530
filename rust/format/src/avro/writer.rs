//! Encoding of object containers.

use super::encode::{put_bytes, put_length};
use super::header::{MAGIC, SYNC_BYTES};
use crate::Result;
use crate::codec::Codec;

/// Uncompressed size of a finished block: the default of Avro libraries, which fits in a reader's cache.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// An object container under construction, in memory.
pub struct ContainerWriter {
    out: Vec<u8>,
    block: Vec<u8>,
    count: usize,
    codec: Codec,
    sync: [u8; SYNC_BYTES],
}

impl ContainerWriter {
    /// Start a container.
    ///
    /// `metadata` are header entries to write after `avro.schema` and `avro.codec`. `sync` is the synchronisation
    /// marker; see [`sync_marker`].
    pub fn new(
        schema: &str,
        metadata: &[(&str, String)],
        codec: Codec,
        sync: [u8; SYNC_BYTES],
    ) -> Self {
        let mut out = MAGIC.to_vec();
        put_length(&mut out, metadata.len() + 2);
        put_bytes(&mut out, b"avro.schema");
        put_bytes(&mut out, schema.as_bytes());
        put_bytes(&mut out, b"avro.codec");
        put_bytes(&mut out, codec.avro_name().as_bytes());
        for (key, value) in metadata {
            put_bytes(&mut out, key.as_bytes());
            put_bytes(&mut out, value.as_bytes());
        }
        put_length(&mut out, 0);
        out.extend_from_slice(&sync);
        let block = Vec::with_capacity(BLOCK_BYTES + BLOCK_BYTES / 4);
        Self { out, block, count: 0, codec, sync }
    }

    /// Append one record, which `encode` appends to its buffer.
    ///
    /// # Errors
    /// The errors of `encode` and of the codec; the container is then unusable.
    pub fn record(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        encode(&mut self.block)?;
        self.count += 1;
        if self.block.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    /// Return the number of bytes that were not taken yet, including the uncompressed current block.
    pub fn size_estimate(&self) -> usize {
        self.out.len() + self.block.len()
    }

    /// Return the number of bytes of finished blocks that were not taken yet.
    pub fn finished_bytes(&self) -> usize {
        self.out.len()
    }

    /// Return the bytes of memory that the container holds.
    pub fn memory_bytes(&self) -> usize {
        self.out.capacity() + self.block.capacity()
    }

    /// Take the bytes of the header and of finished blocks that were not taken yet. The caller writes them in order.
    pub fn take_finished(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Finish the current block, if it has records.
    ///
    /// # Errors
    /// Errors of the codec; the container is then unusable.
    pub fn end_block(&mut self) -> Result<()> {
        self.flush()
    }

    /// Return the whole container.
    ///
    /// # Errors
    /// Errors of the codec.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        self.flush()?;
        Ok(self.out)
    }

    fn flush(&mut self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let compressed = self.codec.compress(&self.block)?;
        put_length(&mut self.out, self.count);
        put_bytes(&mut self.out, &compressed);
        self.out.extend_from_slice(&self.sync);
        self.block.clear();
        self.count = 0;
        Ok(())
    }
}

/// Return a synchronisation marker for the file at `location`.
///
/// Locations of metadata files contain UUIDs, so the marker does not occur in the data by accident, and writing a file
/// again gives the same bytes.
pub fn sync_marker(location: &str) -> [u8; SYNC_BYTES] {
    // Reading from a slice cannot fail.
    let hash = murmur3::murmur3_x64_128(&mut location.as_bytes(), 0).unwrap_or_default();
    hash.to_le_bytes()
}

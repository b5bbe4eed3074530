//! Writes object containers.

use super::encode::{put_bytes, put_length};
use super::header::{MAGIC, SYNC_BYTES};
use crate::Result;
use crate::codec::Codec;

/// Uncompressed size at which a block is closed; Avro's customary figure, small enough that a
/// reader's buffer stays in cache.
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
    /// `metadata` are further header entries, written after `avro.schema` and `avro.codec`. `sync`
    /// separates blocks; the caller draws it at random, as this crate has no randomness.
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

    /// Append one record, which `encode` writes to the buffer it is given.
    ///
    /// # Errors
    /// What `encode` fails with, or the codec; the container is then unusable.
    pub fn record(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        encode(&mut self.block)?;
        self.count += 1;
        if self.block.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    /// Bytes written so far, including the block under construction, uncompressed.
    pub fn size_estimate(&self) -> usize {
        self.out.len() + self.block.len()
    }

    /// The whole container.
    ///
    /// # Errors
    /// What the codec fails with.
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

/// A synchronisation marker for the file at `location`.
///
/// The locations of metadata files hold random parts, so no reader meets the marker by accident, and
/// writing the same file again yields the same bytes.
pub fn sync_marker(location: &str) -> [u8; SYNC_BYTES] {
    // Reading from a slice cannot fail.
    let hash = murmur3::murmur3_x64_128(&mut location.as_bytes(), 0).unwrap_or_default();
    hash.to_le_bytes()
}

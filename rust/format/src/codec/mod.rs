//! Compression codecs of Avro blocks and ORC chunks, with bounded decompression.

pub mod compress;
pub mod decompress;

pub use compress::Codec;
pub use decompress::{Decompressor, MAX_BLOCK_BYTES, Space};

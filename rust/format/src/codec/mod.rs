//! Compression codecs of Avro blocks and ORC chunks, with bounded decompression.

pub mod compress;
pub mod decompress;
pub mod raw_block;
pub mod thrift;
pub mod varint;

pub use compress::Codec;
pub use decompress::{Decompressor, MAX_BLOCK_BYTES, Space};

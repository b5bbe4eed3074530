//! Avro object containers, decoded by block.
//!
//! A container is read from a byte slice: [`Container::parse`] reads its header, [`Blocks`] hands
//! out one decompressed block at a time, and a [`StructColumn`], compiled from the writer's
//! [`AvroType`] and the fields that a reader wants, appends a block's records to Arrow buffers.
//! Nothing is materialised in between. [`ContainerWriter`] is the way back.
//!
//! # Limits
//!
//! Compression lets a short file stand for any amount of data. All blocks of a container together
//! decompress to at most 1 MiB and 1,040 times the container's size, each to at most 256 MiB, and
//! claim at most 4,096 records and sixteen for each of its bytes. Deflate cannot exceed the former,
//! and no two entries of a manifest are so alike that they exceed the latter.

pub mod block_run;
mod bytes_column;
mod column;
pub mod container;
pub mod cursor;
mod decoder;
pub mod encode;
mod flat_column;
pub mod forecast;
mod header;
pub mod iceberg_schema;
pub mod keyed;
mod map_column;
pub mod natural;
mod nested_column;
mod presence;
pub mod row_encoder;
pub mod schema;
mod schema_json;
pub mod skip;
mod struct_column;
pub mod writer;

pub use block_run::BlockRun;
pub use column::StructColumn;
pub use container::{Block, Blocks, Container};
pub use cursor::{Cursor, Malformed};
pub use decoder::Selection;
pub use forecast::Forecast;
pub use header::{Header, MAGIC, SYNC_BYTES};
pub use row_encoder::RowEncoder;
pub use schema::{AvroType, Kind, Logical, Record, RecordField};
pub use writer::ContainerWriter;

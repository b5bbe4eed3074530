//! Avro object containers, decoded block by block into Arrow columns.
//!
//! [`Container::parse`] reads the header from a byte slice, [`Blocks`] decompresses one block at a time, and a
//! [`StructColumn`], compiled from the writer's [`AvroType`] and the requested fields, appends the records of a block
//! to Arrow buffers without intermediate values. [`ContainerWriter`] encodes containers.
//!
//! # Limits
//!
//! A short compressed file can expand to any amount of data. All blocks of a container together decompress to at most
//! 1 MiB plus 1,040 times the container's size, and each block to at most 256 MiB. They hold at most 4,096 records plus
//! 16 for each byte of the container. DEFLATE cannot exceed the first limit, and manifest entries differ too much to
//! exceed the second.

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
mod list_offsets;
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

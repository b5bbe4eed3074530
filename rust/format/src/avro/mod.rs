//! Avro object containers, decoded by block.
//!
//! A container is read from a byte slice: [`Container::parse`] reads its header, [`Blocks`] hands
//! out one decompressed block at a time, and [`Cursor`] reads values out of a block. Nothing is
//! materialised in between: who decodes knows the writer's [`AvroType`] and appends to columns.

pub mod codec;
pub mod container;
pub mod cursor;
pub mod encode;
pub mod schema;
pub mod skip;
pub mod writer;

pub use codec::Codec;
pub use container::{Block, Blocks, Container};
pub use cursor::{Cursor, Malformed};
pub use schema::{AvroType, Kind, Logical, Record, RecordField};
pub use writer::ContainerWriter;

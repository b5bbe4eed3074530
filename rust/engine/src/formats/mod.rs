//! The formats of data and delete files: each opens a file and cuts it into units that decode independently.

pub(crate) mod avro;
pub(crate) mod batch_size;
pub(crate) mod bounds;
pub(crate) mod data_format;
pub(crate) mod orc;
pub(crate) mod parquet;
pub(crate) mod survey;
pub(crate) mod whole_rows;

pub use batch_size::BatchSize;
pub use orc::reader::{OrcDecoder, OrcReader, register_orc_decoder};

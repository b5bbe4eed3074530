//! Writing: batches to data files and positions to delete files, described as a commit needs them.

mod avro_file;
mod avro_options;
mod cast;
mod closed_file;
mod data_file;
mod dictionary;
mod file_format;
pub mod file_options;
mod file_shape;
pub mod fit;
mod groups;
mod keys;
pub mod locations;
pub mod metrics;
mod output;
mod parquet_file;
pub mod parquet_options;
pub mod parquet_schema;
mod part;
mod plain_type;
pub mod position_deletes;
mod property_reader;
mod rolling;
mod router;
mod sort;
pub mod task;
mod unique_names;

pub use data_file::{WrittenFile, data_file_batch};
pub use file_format::{FileFormat, FileKind};
pub use position_deletes::write_position_deletes;
pub use task::{TableLayout, WriteTask, write_data_files};

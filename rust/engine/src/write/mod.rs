//! Writing: batches to data files and positions to delete files, described as a commit needs them.

mod cast;
mod data_file;
mod dictionary;
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
pub mod position_deletes;
mod rolling;
mod router;
mod sort;
pub mod task;

pub use data_file::{WrittenFile, data_file_batch};
pub use position_deletes::write_position_deletes;
pub use task::{TableLayout, WriteTask, write_data_files};

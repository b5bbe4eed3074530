//! Writing: batches to data files, positions to delete files, each with what a commit needs to know.

mod cast;
mod data_file;
mod dictionary;
pub mod fit;
mod groups;
mod keys;
pub mod locations;
pub mod metrics;
pub mod options;
mod output;
mod parquet_file;
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

//! Existing Parquet files, described as data files of a table from their footers alone.

mod check;
mod describe;
mod metrics;
mod partition;
mod path_values;

pub use describe::{ExistingFiles, describe_data_files};

//! Existing Parquet files, described as data files of a table from their footers. Columns whose values may not fit the
//! table are decoded.

mod check;
mod describe;
mod doubts;
mod metrics;
mod partition;
mod path_values;
mod trial;

pub use describe::{ExistingFiles, describe_data_files};

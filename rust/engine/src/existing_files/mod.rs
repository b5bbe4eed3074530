//! Existing Parquet, ORC and Avro files, described as data files of a table from their footers or headers. Columns whose
//! values may not fit the table are decoded.

mod check;
mod describe;
mod doubts;
mod file_schema;
mod magic;
mod metrics;
mod opened_file;
mod orc_statistics;
mod parquet_statistics;
mod partition;
mod path_values;
mod statistics;
mod trial;

pub use describe::{Checks, ExistingFiles, describe_data_files};
pub use file_schema::file_schema;

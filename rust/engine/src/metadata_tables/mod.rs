//! Metadata tables: rows about the files and manifests of a table, decoded several manifests at a time.

mod file_table;
mod filter;
mod manifest_table;
mod partition_table;
mod reader;

pub use file_table::{FileTable, FileTableReader};
pub use filter::FileFilter;
pub use manifest_table::{manifest_table, read_manifest_lists};
pub use partition_table::partition_table;

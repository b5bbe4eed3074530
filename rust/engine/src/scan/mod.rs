//! Scan tasks to Arrow batches.
//!
//! A task is opened once: its columns are resolved by field id, its row groups pruned by the residual filter,
//! its deletes loaded. What is left is cut into units that threads decode at once; batches come out in
//! file order.

mod ahead;
mod assemble;
mod avro_blocks;
mod avro_file;
mod batch_size;
mod bloom;
mod bounds;
mod column_groups;
mod columns;
mod convert;
mod cut;
mod data_format;
mod delete_batches;
mod delete_files;
mod delete_loads;
mod deleted_rows;
mod encrypted;
mod fetch;
mod file;
mod file_columns;
mod gather;
mod keep;
mod key_tests;
mod local_file;
mod marked_rows;
mod metadata_columns;

mod orc_file;
mod orc_footer;
mod orc_reader;
mod orc_stripes;
mod page_index;
mod pages;
mod parquet_units;
mod pipeline;
mod pipeline_state;
mod prune;
mod remote_file;
mod request;
mod row_counts;
mod row_filter;
mod row_groups;
mod row_size;
mod small_group;
mod source;
mod stream;
mod survey;
mod task;
mod unit;
mod whole_rows;
mod work;
mod zstd_pages;

pub use batch_size::BatchSize;
pub use metadata_columns::{DELETED_ID, FILE_ID, PARTITION_ID, POSITION_ID, SPEC_ID_ID};
pub use orc_reader::{OrcDecoder, OrcReader, register_orc_decoder};
pub use stream::{Scan, ScanOptions, ScanReader};
pub use task::{DeleteFile, ScanTask};

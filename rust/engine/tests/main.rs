//! The tests of the engine: one binary, which links the crate once.

#![allow(clippy::unwrap_used, reason = "a test stops at a value that it does not expect")]

mod changes;
mod existing_files;
mod locations;
mod read_parquet;
mod s3_requests;
mod sort_rows;
mod write;

//! The engine: plans, scans, net changes and writes of Iceberg tables, over storage and threads.

pub(crate) mod bytes;
pub mod changes;
pub(crate) mod deletes;
pub mod error;
pub mod existing_files;
pub mod formats;
pub mod join;
pub mod manifests;
pub mod metadata_tables;
pub(crate) mod pipeline;
pub mod plan;
pub mod reachability;
pub(crate) mod resolve;
pub mod runtime;
pub mod scan;
pub mod statistics;
pub mod store;
pub mod table;
pub mod write;

pub use error::{Error, Result};

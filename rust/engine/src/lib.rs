//! What touches storage and threads: planning, scanning, telling changes and writing Iceberg tables.

pub mod changes;
pub mod error;
pub mod manifest_io;
pub mod plan;
pub mod runtime;
pub mod scan;
pub mod store;
pub mod write;

pub use error::{Error, Result};

//! What touches storage and threads: planning, scanning, telling changes and writing Iceberg tables.

pub(crate) mod bytes;
pub mod changes;
pub(crate) mod deletes;
pub mod error;
pub mod formats;
pub mod manifests;
pub(crate) mod pipeline;
pub mod plan;
pub(crate) mod resolve;
pub mod runtime;
pub mod scan;
pub mod store;
pub mod table;
pub mod write;

pub use error::{Error, Result};

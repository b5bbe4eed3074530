//! From a manifest list to scan tasks.

mod context;

pub use context::TableContext;

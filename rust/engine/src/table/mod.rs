//! The read context of a table.

mod context;
mod name_mapping;

pub use context::TableContext;
pub use name_mapping::NameMapping;

//! ORC files: stripes pruned by statistics, decoded by a registered decoder.

pub(crate) mod file;
pub(crate) mod footer;
pub(crate) mod outline;
pub(crate) mod reader;
pub(crate) mod stated_types;
pub(crate) mod stripes;

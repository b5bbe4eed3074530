//! Avro files, cut into runs of blocks.

pub(crate) mod blocks;
pub(crate) mod file;
pub(crate) mod outline;

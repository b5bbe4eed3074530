//! Avro files: cut into runs of blocks, decoded.

pub(crate) mod blocks;
pub(crate) mod file;

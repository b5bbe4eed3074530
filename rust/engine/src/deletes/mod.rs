//! Delete files, read into positions and key sets.

pub(crate) mod batches;
pub(crate) mod files;
pub(crate) mod loads;
pub(crate) mod marked_rows;

//! Arrow batches to data files and delete files.

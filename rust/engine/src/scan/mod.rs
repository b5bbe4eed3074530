//! Scan tasks to Arrow batches.

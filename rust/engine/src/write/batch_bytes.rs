//! The bytes of batches that wait in memory.

use arrow_array::{Array, RecordBatch};

/// Return the bytes of the rows of a batch, which may be a slice.
pub(super) fn batch_bytes(batch: &RecordBatch) -> usize {
    let bytes = batch.columns().iter().map(|column| {
        column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
    });
    bytes.sum()
}

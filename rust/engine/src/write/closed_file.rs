//! A complete file, before its place in the table is known.

use super::metrics::ColumnMetrics;

/// A complete file of any format.
pub(super) struct ClosedFile {
    pub(super) location: String,
    pub(super) rows: usize,
    pub(super) size_bytes: u64,
    /// Offsets at which readers may split the file; empty if the format records none.
    pub(super) split_offsets: Vec<i64>,
    pub(super) metrics: ColumnMetrics,
}

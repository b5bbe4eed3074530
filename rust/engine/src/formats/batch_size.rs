//! The size of batches.

/// The most rows and bytes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchSize {
    /// Rows, 1 or more.
    pub rows: usize,
    /// Bytes of decoded Parquet columns; a batch of one row may have more.
    pub bytes: u64,
}

impl BatchSize {
    /// Batches that are processed and dropped at once.
    pub const PASSING: Self = Self { rows: 65_536, bytes: 3 << 19 };

    /// Return the rows of a batch whose rows have `row_bytes` each.
    pub(crate) fn of_rows(self, row_bytes: u64) -> usize {
        let rows = self.bytes.checked_div(row_bytes).unwrap_or(self.bytes);
        self.rows.min(usize::try_from(rows).unwrap_or(usize::MAX)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_rows_make_smaller_batches() {
        let size = BatchSize { rows: 100, bytes: 1_000 };
        assert_eq!(
            [0, 1, 10, 20, 1_000, 5_000].map(|row| size.of_rows(row)),
            [100, 100, 100, 50, 1, 1]
        );
    }
}

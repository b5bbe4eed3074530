//! The way of decoded rows to their consumer.

use arrow_array::RecordBatch;

use super::file::{arrow_error, check_row_group};
use crate::error::Result;
use crate::resolve::columns::BatchPlan;
use crate::resolve::deleted_rows::DeletedRows;

/// The consumer of a unit's batches. Deleted rows are dropped, and the others become batches of the table's columns.
pub(super) struct Delivery<'a> {
    location: &'a str,
    deleted: DeletedRows<'a>,
    output: &'a BatchPlan,
    emit: &'a mut dyn FnMut(RecordBatch) -> bool,
    /// The rows that may still be emitted.
    left: usize,
    decoded_rows: u64,
    is_stopped: bool,
}

impl<'a> Delivery<'a> {
    /// Return the delivery of at most `limit` rows of the file at `location`.
    pub(super) fn new(
        location: &'a str,
        deleted: DeletedRows<'a>,
        output: &'a BatchPlan,
        limit: Option<usize>,
        emit: &'a mut dyn FnMut(RecordBatch) -> bool,
    ) -> Self {
        let left = limit.unwrap_or(usize::MAX);
        Self { location, deleted, output, emit, left, decoded_rows: 0, is_stopped: left == 0 }
    }

    /// Deliver a decoded batch. Return whether more rows are wanted.
    ///
    /// # Errors
    /// `Corrupt` for columns that cannot be converted to the types of the table.
    pub(super) fn take(&mut self, decoded: RecordBatch) -> Result<bool> {
        self.decoded_rows += decoded.num_rows() as u64;
        let kept = self.deleted.drop_from(decoded)?;
        let batch = self.output.make(&kept).map_err(|error| arrow_error(self.location, error))?;
        // Free the decoded columns before `emit`, which may block until a consumer takes the batch.
        drop(kept);
        self.left = self.left.saturating_sub(batch.num_rows());
        self.is_stopped = !((batch.num_rows() == 0 || (self.emit)(batch)) && self.left > 0);
        Ok(!self.is_stopped)
    }

    /// Check that a row group had the expected number of rows, unless the consumer wanted no more of them.
    ///
    /// # Errors
    /// `Corrupt` if the number differs.
    pub(super) fn check(&self, row_group: usize, expected: u64) -> Result<()> {
        match self.is_stopped {
            true => Ok(()),
            false => check_row_group(self.location, row_group, self.decoded_rows, expected),
        }
    }
}

//! Dropping deleted rows from decoded batches.

use arrow_array::RecordBatch;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::deleted_rows;
use roaring::RoaringTreemap;

use super::keep::keep_rows;
use super::key_filters::KeyFilter;
use crate::error::Result;

/// Rows to drop from each decoded batch.
pub(crate) struct DeletedRows<'a> {
    pub(crate) positions: Option<&'a RoaringTreemap>,
    pub(crate) keys: Vec<&'a KeyFilter>,
    /// Position of the next row; unused after a row filter, where there are no positions.
    pub(crate) next: u64,
}

impl DeletedRows<'_> {
    /// Return the rows of the next decoded batch that are not deleted.
    ///
    /// # Errors
    /// `Corrupt` for columns that cannot be converted to the types of the keys.
    pub(crate) fn drop_from(&mut self, decoded: RecordBatch) -> Result<RecordBatch> {
        let end = self.next + decoded.num_rows() as u64;
        let rows = std::mem::replace(&mut self.next, end)..end;
        if self.positions.is_none() && self.keys.is_empty() {
            return Ok(decoded);
        }
        let keyed =
            self.keys.iter().map(|test| test.keyed(&decoded)).collect::<Result<Vec<_>>>()?;
        let Some(deleted) = deleted_rows(rows, self.positions, &keyed)? else { return Ok(decoded) };
        keep_rows(&decoded, &!&deleted)
            .map_err(|error| FormatError::invalid("batch", error.to_string()).into())
    }
}

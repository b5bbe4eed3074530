//! Sorting the rows of a file by the table's sort order.

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_row::{OwnedRow, RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, SortOptions};
use arrow_select::interleave::interleave;
use icefloe_format::spec::{NullOrder, Schema, SortDirection, SortOrder, primitive_to_arrow};
use icefloe_format::{Error, Result};

use super::keys::Key;

/// Rows of a sorted batch.
const SORTED_BATCH_ROWS: usize = 65_536;

/// A sort order over a schema.
pub(super) struct Sorter {
    keys: Vec<Key>,
    fields: Vec<SortField>,
}

impl Sorter {
    /// # Errors
    /// As for [`Key::new`].
    pub(super) fn new(schema: &Schema, order: &SortOrder) -> Result<Self> {
        let keys = Key::of_order(schema, order)?;
        let fields = keys.iter().zip(&order.fields).map(|(key, field)| {
            let options = SortOptions {
                descending: field.direction == SortDirection::Descending,
                nulls_first: field.null_order == NullOrder::First,
            };
            SortField::new_with_options(key_type(key), options)
        });
        let fields = fields.collect();
        Ok(Self { keys, fields })
    }

    /// Return the rows of all batches in order, as batches; equal rows keep their order.
    pub(super) fn sort(&self, batches: &[RecordBatch]) -> Result<Vec<RecordBatch>> {
        let converter = RowConverter::new(self.fields.clone()).map_err(refused)?;
        let keys = batches.iter().map(|batch| self.rows(&converter, batch));
        let keys = keys.collect::<Result<Vec<Rows>>>()?;
        if is_sorted(&keys) {
            return Ok(batches.to_vec());
        }
        let mut order: Vec<(usize, usize)> = batches
            .iter()
            .enumerate()
            .flat_map(|(batch, rows)| (0..rows.num_rows()).map(move |row| (batch, row)))
            .collect();
        order.sort_by(|left, right| keys[left.0].row(left.1).cmp(&keys[right.0].row(right.1)));
        drop(keys);
        order.chunks(SORTED_BATCH_ROWS).map(|rows| gather(batches, rows)).collect()
    }

    fn rows(&self, converter: &RowConverter, batch: &RecordBatch) -> Result<Rows> {
        let columns = self.keys.iter().map(|key| key.column(batch)).collect::<Result<Vec<_>>>()?;
        converter.convert_columns(&columns).map_err(refused)
    }
}

fn key_type(key: &Key) -> DataType {
    primitive_to_arrow(key.result())
}

fn is_sorted(keys: &[Rows]) -> bool {
    let mut last: Option<OwnedRow> = None;
    for rows in keys {
        let Some(final_row) = rows.num_rows().checked_sub(1) else { continue };
        let follows = last.as_ref().is_none_or(|last| last.row() <= rows.row(0));
        if !follows || (0..final_row).any(|row| rows.row(row) > rows.row(row + 1)) {
            return false;
        }
        last = Some(rows.row(final_row).owned());
    }
    true
}

/// Return the rows picked from batches, each by its batch and its position there.
pub(super) fn gather(batches: &[RecordBatch], rows: &[(usize, usize)]) -> Result<RecordBatch> {
    let Some(first) = batches.first() else {
        return Err(Error::invalid("data", "expected at least one batch, got none"));
    };
    let column = |position: usize| {
        let arrays: Vec<_> = batches.iter().map(|batch| batch.column(position).as_ref()).collect();
        interleave(&arrays, rows)
    };
    let columns: Result<Vec<_>, ArrowError> = (0..first.num_columns()).map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    columns
        .and_then(|columns| RecordBatch::try_new_with_options(first.schema(), columns, &options))
        .map_err(refused)
}

fn refused(error: ArrowError) -> Error {
    Error::invalid("data", error.to_string())
}

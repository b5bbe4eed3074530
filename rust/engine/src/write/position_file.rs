//! A Parquet file of the deleted positions of one data file, in one row group.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::arrow_writer::compute_leaves;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::writer::SerializedFileWriter;

use super::closed_file::ClosedFile;
use super::output::{Output, Outputs};
use super::parquet_failure::failed;
use super::parquet_file::{OpenWriter, ParquetShape, closed_file, open_writer};
use super::repeated_text::{RepeatedText, repeated_text};
use crate::error::Result;

/// The deleted positions of one data file.
#[derive(Clone, Copy)]
pub(super) struct FilePositions<'a> {
    /// Location of the data file.
    pub(super) path: &'a str,
    /// Ascending positions.
    pub(super) positions: &'a [i64],
}

impl FilePositions<'_> {
    /// Return whether the positions take several pages, and less than a row group and than a file of `target` bytes.
    pub(super) fn fit(&self, shape: &ParquetShape, target: usize) -> bool {
        let rows = self.positions.len();
        let bytes = rows.saturating_mul(size_of::<i64>()) + self.path.len();
        let (group_bytes, group_rows) = shape.row_group_limits();
        rows > shape.page_rows() && rows <= group_rows && bytes < target.min(group_bytes)
    }

    /// Write a file whose first rows are in `first`. `None` if the path cannot be written as a dictionary with pages of
    /// equal bytes; no file is created then.
    ///
    /// # Errors
    /// [`crate::Error::Storage`].
    pub(super) fn write(
        &self,
        (outputs, shape): (&Outputs, &ParquetShape),
        location: &str,
        first: &RecordBatch,
    ) -> Result<Option<ClosedFile>> {
        let Some(column) = shape.descriptors().first() else { return Ok(None) };
        let properties = Arc::new(shape.properties_for(first).clone());
        let rows = (self.positions.len(), shape.page_rows());
        let paths = repeated_text(self.path, rows, (column, &properties));
        let Some(paths) = paths.map_err(|error| failed(location, error))? else { return Ok(None) };
        let opened = open_writer(outputs, location, shape, first)?;
        let written = self.write_row_group(opened, paths, (shape.page_rows(), first));
        let (mut file, footer) = written.map_err(|error| failed(location, error))?;
        file.inner_mut().finish()?;
        let size = (self.positions.len(), file.inner().written());
        Ok(Some(closed_file(shape, location.to_owned(), size, &footer)))
    }

    /// Write the row group and the footer.
    fn write_row_group(
        &self,
        OpenWriter { writer: mut file, columns, .. }: OpenWriter,
        paths: RepeatedText,
        (page_rows, first): (usize, &RecordBatch),
    ) -> ParquetResult<(SerializedFileWriter<Output>, ParquetMetaData)> {
        let mut group = file.next_row_group()?;
        group.append_column(&paths.bytes, paths.close)?;
        let none = || ParquetError::General("expected a column of positions, got none".to_owned());
        let mut column = columns.create_column_writers(0)?.pop().ok_or_else(none)?;
        let schema = first.schema();
        let field = schema.fields().last().ok_or_else(none)?;
        // One write per page ends the pages of positions at the same rows as the pages of paths.
        for positions in self.positions.chunks(page_rows) {
            let positions: ArrayRef = Arc::new(Int64Array::from(positions.to_vec()));
            for leaf in compute_leaves(field, &positions)? {
                column.write(&leaf)?;
            }
        }
        column.close()?.append_to_row_group(&mut group)?;
        group.close()?;
        let footer = file.finish()?;
        Ok((file, footer))
    }
}

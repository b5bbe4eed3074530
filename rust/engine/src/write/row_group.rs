//! The open row group of a Parquet file, whose columns are encoded side by side on the threads that compute.

use std::cmp::Reverse;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, Schema};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::errors::Result as ParquetResult;
use parquet::schema::types::SchemaDescriptor;

use super::parquet_failure::failed;
use super::side_by_side::side_by_side;
use crate::error::Result;
use crate::runtime::executor::is_working;

/// The least values that are divided among threads: fewer are encoded before another thread is awake.
const WORTHWHILE_VALUES: usize = 16_384;

/// A row group that has not ended.
pub(super) struct RowGroup {
    columns: Vec<Column>,
    rows: usize,
}

/// The writers of the leaves of one top-level column.
struct Column {
    position: usize,
    leaves: Vec<ArrowColumnWriter>,
}

impl RowGroup {
    /// Begin a row group; `number` counts the row groups before it.
    pub(super) fn new(
        factory: &ArrowRowGroupWriterFactory,
        schema: &SchemaDescriptor,
        number: usize,
    ) -> ParquetResult<Self> {
        let mut columns: Vec<Column> = Vec::new();
        for (leaf, writer) in factory.create_column_writers(number)?.into_iter().enumerate() {
            let position = schema.get_column_root_idx(leaf);
            match columns.last_mut() {
                Some(column) if column.position == position => column.leaves.push(writer),
                _ => columns.push(Column { position, leaves: vec![writer] }),
            }
        }
        Ok(Self { columns, rows: 0 })
    }

    /// Return the rows so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Return the estimated bytes in the file.
    pub(super) fn size_bytes(&self) -> usize {
        self.leaves().map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }

    /// Return the bytes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.leaves().map(ArrowColumnWriter::memory_size).sum()
    }

    /// Encode rows of a schema. An error ends the row group: its other columns are lost.
    ///
    /// # Errors
    /// The first error of the encoder, as an error of the file at `location`.
    pub(super) fn write(
        &mut self,
        location: &str,
        schema: &Schema,
        batch: &RecordBatch,
    ) -> Result<()> {
        let columns = std::mem::take(&mut self.columns).into_iter();
        let values = schema.fields().iter().zip(batch.columns());
        let mut parts: Vec<(Column, (FieldRef, ArrayRef))> =
            columns.zip(values.map(|(field, values)| (field.clone(), values.clone()))).collect();
        // The longest work begins first, so that the threads end at about the same time.
        parts.sort_by_key(|(_, (_, values))| Reverse(values.get_buffer_memory_size()));
        let count = parts.len() * batch.num_rows();
        self.columns = each(location, count, parts, |(mut column, (field, values))| {
            column.write(&field, &values)?;
            Ok(column)
        })?;
        self.columns.sort_by_key(|column| column.position);
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Encode the last pages, and return the columns' chunks in the order of the file.
    ///
    /// # Errors
    /// As for [`RowGroup::write`].
    pub(super) fn close(self, location: &str) -> Result<Vec<ArrowColumnChunk>> {
        let count = self.columns.len() * self.rows;
        let closed = each(location, count, self.columns, Column::close)?;
        Ok(closed.into_iter().flatten().collect())
    }

    fn leaves(&self) -> impl Iterator<Item = &ArrowColumnWriter> {
        self.columns.iter().flat_map(|column| &column.leaves)
    }
}

impl Column {
    fn write(&mut self, field: &FieldRef, values: &ArrayRef) -> ParquetResult<()> {
        let leaves = compute_leaves(field, values)?;
        self.leaves.iter_mut().zip(&leaves).try_for_each(|(writer, leaf)| writer.write(leaf))
    }

    fn close(self) -> ParquetResult<Vec<ArrowColumnChunk>> {
        self.leaves.into_iter().map(ArrowColumnWriter::close).collect()
    }
}

/// Return the results of work on each column, in their order: here for few values and on a thread that computes already,
/// otherwise on several threads.
fn each<I: Send + 'static, T: Send + 'static>(
    location: &str,
    values: usize,
    columns: Vec<I>,
    work: impl Fn(I) -> ParquetResult<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let location = location.to_owned();
    let work = move |column| work(column).map_err(|error| failed(&location, error));
    if values < WORTHWHILE_VALUES || is_working() {
        return columns.into_iter().map(work).collect();
    }
    side_by_side("encode columns", columns, work)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, StringArray, StructArray};
    use arrow_schema::{DataType, Field, Fields};
    use parquet::arrow::ArrowWriter;

    use super::*;

    /// Rows with a struct between two flat columns.
    fn rows(count: i64) -> RecordBatch {
        let fields = Fields::from(vec![
            Field::new("x", DataType::Int64, false),
            Field::new("y", DataType::Utf8, true),
        ]);
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count));
        let texts: ArrayRef = Arc::new(StringArray::from_iter(
            (0..count).map(|row| (row % 3 > 0).then(|| format!("text {}", row * 7919 % 1009))),
        ));
        let both = StructArray::new(fields, vec![numbers.clone(), texts.clone()], None);
        let columns = [("a", numbers), ("b", Arc::new(both) as ArrayRef), ("c", texts)];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn columns_that_are_encoded_side_by_side_are_the_bytes_of_the_general_writer() {
        let batch = rows(40_000);
        let open = || ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        let mut general = open();
        let (mut writer, factory) = open().into_serialized_writer().unwrap();
        for number in 0..2 {
            let schema = writer.schema_descr().clone();
            let mut group = RowGroup::new(&factory, &schema, number).unwrap();
            for start in [0, 100, 20_000] {
                let part = batch.slice(start, 20_000);
                general.write(&part).unwrap();
                group.write("file", &batch.schema(), &part).unwrap();
            }
            general.flush().unwrap();
            assert_eq!(group.rows(), 60_000);
            let mut written = writer.next_row_group().unwrap();
            for chunk in group.close("file").unwrap() {
                chunk.append_to_row_group(&mut written).unwrap();
            }
            written.close().unwrap();
        }
        assert_eq!(writer.into_inner().unwrap(), general.into_inner().unwrap());
    }

    #[test]
    fn a_null_in_a_required_column_is_an_error_of_the_file() {
        let batch = rows(30_000);
        let required = Schema::new(
            batch
                .schema()
                .fields()
                .iter()
                .map(|field| field.as_ref().clone().with_nullable(false))
                .collect::<Vec<_>>(),
        );
        let writer = ArrowWriter::try_new(Vec::new(), Arc::new(required.clone()), None).unwrap();
        let (writer, factory) = writer.into_serialized_writer().unwrap();
        let mut group = RowGroup::new(&factory, writer.schema_descr(), 0).unwrap();
        let error = group.write("s3://b/file.parquet", &required, &batch).unwrap_err();
        assert!(error.to_string().contains("s3://b/file.parquet"), "{error}");
    }
}

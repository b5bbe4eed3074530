//! A Parquet file, from its first batch to its footer.

use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::Schema;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowRowGroupWriterFactory, ArrowWriter, ArrowWriterOptions,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnDescPtr, ColumnPath, SchemaDescriptor};

use super::closed_file::ClosedFile;
use super::copied_rows::CopiedGroup;
use super::dictionary::outgrowing;
use super::metrics::{column_metrics, statistics_bytes};
use super::output::{Output, Outputs};
use super::parquet_failure::failed;
use super::parquet_options::{ParquetOptions, RowGroupOptions};
use super::parquet_schema::{parquet_schema, path_of};
use super::row_group::RowGroup;
use super::waiting_pages::WaitingPages;
use crate::error::Result;

/// The part of its limit up to which a dictionary is used: a larger one misses the processor's cache at every value,
/// and saves little in small files.
const WORTHWHILE_PART: u64 = 4;

/// The schema and settings that the Parquet files of one task share.
#[derive(Debug)]
pub(super) struct ParquetShape {
    schema: Schema,
    arrow_schema: SchemaRef,
    parquet_schema: SchemaDescriptor,
    properties: WriterProperties,
    options: ParquetOptions,
    /// The properties without dictionaries that would outgrow their limit, by a sample of the first rows.
    sampled: OnceLock<WriterProperties>,
    modes: MetricsConfig,
}

impl ParquetShape {
    /// Create files of a schema; `arrow_schema` is that of the batches, in the same order.
    pub(super) fn new(
        schema: &Schema,
        arrow_schema: SchemaRef,
        options: &ParquetOptions,
        modes: MetricsConfig,
        extra: &[(&str, &str)],
    ) -> Result<Self> {
        let pairs =
            extra.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
        let schema_pair = KeyValue::new("iceberg.schema".to_owned(), schema.to_json());
        let key_values: Vec<KeyValue> = [schema_pair].into_iter().chain(pairs).collect();
        let parquet_schema = parquet_schema(schema)?;
        let path_of = |column: &str| path_of(&parquet_schema, schema.id_by_name(column, true)?);
        let properties = options
            .properties(statistics_bytes(schema, &modes), path_of)
            .set_key_value_metadata(Some(key_values))
            .build();
        Ok(Self {
            schema: schema.clone(),
            arrow_schema,
            parquet_schema,
            properties,
            options: options.clone(),
            sampled: OnceLock::new(),
            modes,
        })
    }

    /// Return the rows that fit into one row group: the writer buffers all rows of a call.
    pub(super) fn rows_of_group(&self, batch: &RecordBatch) -> usize {
        let RowGroupOptions { bytes, least_rows, .. } = self.options.row_groups;
        let row_bytes = (batch.get_array_memory_size() / batch.num_rows().max(1)).max(1);
        (bytes / row_bytes).max(least_rows)
    }

    /// Return the properties of all files, by a sample of the first rows: dictionaries that would outgrow their limit
    /// are disabled.
    pub(super) fn properties_for(&self, first: &RecordBatch) -> &WriterProperties {
        self.sampled.get_or_init(|| self.sample(first))
    }

    /// Return the columns of the files.
    pub(super) fn descriptors(&self) -> &[ColumnDescPtr] {
        self.parquet_schema.columns()
    }

    /// Return the most rows of a page.
    pub(super) fn page_rows(&self) -> usize {
        self.properties.data_page_row_count_limit()
    }

    /// Return the size and the rows at which a row group ends.
    pub(super) fn row_group_limits(&self) -> (usize, usize) {
        (self.options.row_groups.bytes, self.options.row_groups.limit)
    }

    fn sample(&self, batch: &RecordBatch) -> WriterProperties {
        let mut builder = self.properties.clone().into_builder();
        for position in outgrowing(batch, self.options.dictionary_bytes / WORTHWHILE_PART) {
            let column = self.parquet_schema.root_schema().get_fields()[position].name();
            let name = self.schema.fields().get(position).map(|field| field.name.as_str());
            if !name.is_some_and(|name| self.options.sets_dictionary(name)) {
                builder = builder.set_column_dictionary_enabled(ColumnPath::from(column), false);
            }
        }
        builder.build()
    }
}

/// A file being written.
pub(super) struct ParquetFile {
    location: String,
    writer: SerializedFileWriter<Output>,
    columns: ArrowRowGroupWriterFactory,
    group: Option<RowGroup>,
    pages: WaitingPages,
    rows: usize,
}

impl ParquetFile {
    pub(super) fn create(
        outputs: &Outputs,
        location: String,
        shape: &ParquetShape,
        first: &RecordBatch,
    ) -> Result<Self> {
        let OpenWriter { writer, columns, pages } = open_writer(outputs, &location, shape, first)?;
        Ok(Self { location, writer, columns, group: None, pages, rows: 0 })
    }

    /// Write rows. The size of the row group is checked as often as the table's properties say.
    pub(super) fn write(&mut self, shape: &ParquetShape, batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = self.rows_until_check(shape, batch).min(batch.num_rows() - start);
            self.encode(shape, &batch.slice(start, rows))?;
            start += rows;
            self.rows += rows;
            let RowGroupOptions { bytes, limit, .. } = shape.options.row_groups;
            if self.group_bytes() >= bytes || self.group_rows() >= limit {
                self.end_row_group()?;
            }
        }
        Ok(())
    }

    /// Encode rows in parts that end where pages have their most rows: within a part, the encoder compares a page with this
    /// limit only at every 1,024th row, or later.
    fn encode(&mut self, shape: &ParquetShape, rows: &RecordBatch) -> Result<()> {
        let most = shape.page_rows().max(1);
        let mut start = 0;
        while start < rows.num_rows() {
            let count = (most - self.group_rows() % most).min(rows.num_rows() - start);
            self.encode_part(shape, &rows.slice(start, count))?;
            start += count;
        }
        Ok(())
    }

    fn encode_part(&mut self, shape: &ParquetShape, rows: &RecordBatch) -> Result<()> {
        let group = match &mut self.group {
            Some(group) => group,
            ended => {
                let number = self.writer.flushed_row_groups().len();
                let opened = RowGroup::new(&self.columns, &shape.parquet_schema, number);
                ended.insert(opened.map_err(|error| failed(&self.location, error))?)
            }
        };
        group.write(&self.location, &shape.arrow_schema, rows)
    }

    /// Return the estimated rows up to the end of the row group, within the bounds of the properties.
    fn rows_until_check(&self, shape: &ParquetShape, batch: &RecordBatch) -> usize {
        let RowGroupOptions { bytes, least_rows, most_rows, limit } = shape.options.row_groups;
        let (rows, size) = (self.group_rows(), self.group_bytes());
        let left = match size.checked_div(rows) {
            Some(row_bytes) => bytes.saturating_sub(size) / row_bytes.max(1),
            None => shape.rows_of_group(batch),
        };
        left.min(most_rows).max(least_rows).min(limit - rows)
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Return the bytes on disk, and the estimated bytes of the open row group.
    pub(super) fn size_bytes(&self) -> usize {
        self.writer.bytes_written() + self.group_bytes()
    }

    fn group_rows(&self) -> usize {
        self.group.as_ref().map_or(0, RowGroup::rows)
    }

    fn group_bytes(&self) -> usize {
        self.group.as_ref().map_or(0, RowGroup::size_bytes)
    }

    /// Return the bytes of the open row group and of the upload. Pages in the temporary file count as memory: the
    /// memory limit of a write bounds its temporary files, and row groups have one size wherever their pages wait.
    pub(super) fn memory_bytes(&self) -> usize {
        let upload = self.writer.inner().memory_bytes();
        self.group.as_ref().map_or(0, RowGroup::memory_bytes) + self.pages.moved_bytes() + upload
    }

    /// End the row group, so that its rows are written.
    pub(super) fn end_row_group(&mut self) -> Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let chunks = group.close(&self.location)?;
        let written = append_row_group(&mut self.writer, chunks);
        written.map_err(|error| failed(&self.location, error))
    }

    /// Write a row group of copied pages.
    pub(super) fn append_copied(&mut self, group: CopiedGroup) -> Result<()> {
        self.end_row_group()?;
        let rows = group.rows();
        group.write(&mut self.writer, &self.location)?;
        self.rows += rows;
        Ok(())
    }

    pub(super) fn close(mut self, shape: &ParquetShape) -> Result<ClosedFile> {
        self.end_row_group()?;
        let footer = self.writer.finish().map_err(|error| failed(&self.location, error))?;
        self.writer.inner_mut().finish()?;
        let size = (self.rows, self.writer.inner().written());
        Ok(closed_file(shape, self.location, size, &footer))
    }
}

fn append_row_group(
    writer: &mut SerializedFileWriter<Output>,
    chunks: Vec<ArrowColumnChunk>,
) -> ParquetResult<()> {
    let mut group = writer.next_row_group()?;
    for chunk in chunks {
        chunk.append_to_row_group(&mut group)?;
    }
    group.close()?;
    Ok(())
}

/// A file without rows, and what its row groups need.
pub(super) struct OpenWriter {
    pub(super) writer: SerializedFileWriter<Output>,
    /// Creates the writers of the columns of a row group.
    pub(super) columns: ArrowRowGroupWriterFactory,
    pub(super) pages: WaitingPages,
}

/// Create a file and start it.
///
/// # Errors
/// The errors of [`Outputs::create`].
pub(super) fn open_writer(
    outputs: &Outputs,
    location: &str,
    shape: &ParquetShape,
    first: &RecordBatch,
) -> Result<OpenWriter> {
    // The Arrow layout of columns is not part of the data, so the Arrow schema is not stored in
    // the file.
    let pages = WaitingPages::default();
    let options = ArrowWriterOptions::new()
        .with_properties(shape.properties_for(first).clone())
        .with_parquet_schema(shape.parquet_schema.clone())
        .with_skip_arrow_metadata(true)
        .with_page_store_factory(Arc::new(pages.clone()));
    let output = outputs.create(location)?;
    let schema = Arc::clone(&shape.arrow_schema);
    let (writer, columns) = ArrowWriter::try_new_with_options(output, schema, options)
        .and_then(ArrowWriter::into_serialized_writer)
        .map_err(|error| failed(location, error))?;
    Ok(OpenWriter { writer, columns, pages })
}

/// Describe a file of a number of rows and bytes by its footer.
pub(super) fn closed_file(
    shape: &ParquetShape,
    location: String,
    (rows, size_bytes): (usize, u64),
    footer: &ParquetMetaData,
) -> ClosedFile {
    ClosedFile {
        rows,
        size_bytes,
        split_offsets: split_offsets(footer),
        metrics: column_metrics(footer, &shape.schema, &shape.modes),
        location,
    }
}

/// Return the offsets of the row groups: the first page of the first column.
fn split_offsets(footer: &ParquetMetaData) -> Vec<i64> {
    let first_columns = footer.row_groups().iter().filter_map(|group| group.columns().first());
    first_columns
        .map(|column| match column.dictionary_page_offset() {
            Some(dictionary) => dictionary.min(column.data_page_offset()),
            None => column.data_page_offset(),
        })
        .collect()
}

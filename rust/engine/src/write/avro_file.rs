//! An Avro file, from its first batch to its last block.

use std::io::Write;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast;
use icefloe_format::Error as FormatError;
use icefloe_format::avro::iceberg_schema::record_schema;
use icefloe_format::avro::writer::sync_marker;
use icefloe_format::avro::{AvroType, ContainerWriter, RowEncoder};
use icefloe_format::codec::Codec;
use icefloe_format::spec::{Schema, StructType};

use super::avro_options::AvroOptions;
use super::closed_file::ClosedFile;
use super::metrics::ColumnMetrics;
use super::output::{Output, Outputs, write_failure};
use super::plain_type::plain_type;
use super::unique_names::check_unique_names;
use crate::error::Result;

/// Name of the root record, as in the Java reference.
const ROOT: &str = "table";
/// Finished bytes that are collected before they are written.
const WRITE_BYTES: usize = 1 << 20;

/// The schema and settings that the Avro files of one task share.
#[derive(Debug)]
pub(super) struct AvroShape {
    fields: StructType,
    avro_schema: String,
    metadata: Vec<(String, String)>,
    codec: Codec,
}

impl AvroShape {
    /// Create files of a schema; `extra` are header entries after the schema.
    ///
    /// # Errors
    /// `Unsupported` for two names of a struct that are the same in Avro, and for a schema beyond the limits of reading Avro.
    pub(super) fn new(
        schema: &Schema,
        options: AvroOptions,
        extra: &[(&str, &str)],
    ) -> Result<Self> {
        let fields = StructType { fields: schema.fields().to_vec() };
        check_unique_names(&fields)?;
        let avro_schema = record_schema(ROOT, &fields).to_string();
        // A schema beyond the limits of the parser would make files that no scan can read.
        AvroType::parse(&avro_schema).map_err(|error| {
            FormatError::unsupported(format!("writing Avro files of this schema ({error})"))
        })?;
        let pairs = extra.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let schema_pair = ("iceberg.schema".to_owned(), schema.to_json());
        Ok(Self {
            fields,
            avro_schema,
            metadata: [schema_pair].into_iter().chain(pairs).collect(),
            codec: options.codec,
        })
    }
}

/// An Avro file being written.
pub(super) struct AvroFile {
    location: String,
    container: ContainerWriter,
    output: Output,
    rows: usize,
}

impl AvroFile {
    pub(super) fn create(outputs: &Outputs, location: String, shape: &AvroShape) -> Result<Self> {
        let output = outputs.create(&location)?;
        let metadata: Vec<(&str, String)> =
            shape.metadata.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        let sync = sync_marker(&location);
        let container = ContainerWriter::new(&shape.avro_schema, &metadata, shape.codec, sync);
        Ok(Self { location, container, output, rows: 0 })
    }

    pub(super) fn write(&mut self, shape: &AvroShape, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().map(|column| {
            let plain = plain_type(column.data_type());
            cast(column, &plain).map_err(|error| FormatError::invalid("data", error.to_string()))
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>, FormatError>>()?;
        let encoder = RowEncoder::compile(&shape.fields, &columns)?;
        for row in 0..batch.num_rows() {
            self.container.record(|out| encoder.encode(row, out))?;
            if self.container.finished_bytes() >= WRITE_BYTES {
                self.flush()?;
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Return the bytes on disk, and the uncompressed bytes of the open block.
    pub(super) fn size_bytes(&self) -> usize {
        let written = usize::try_from(self.output.written()).unwrap_or(usize::MAX);
        written.saturating_add(self.container.size_estimate())
    }

    /// Return the bytes in memory of the open block and of the upload.
    pub(super) fn memory_bytes(&self) -> usize {
        self.container.memory_bytes() + self.output.memory_bytes()
    }

    /// Write the finished blocks.
    pub(super) fn flush(&mut self) -> Result<()> {
        let bytes = self.container.take_finished();
        self.output.write_all(&bytes).map_err(|error| write_failure(&self.location, &error))
    }

    /// Write the last block. Like the Java reference, record no column metrics for Avro.
    pub(super) fn close(mut self) -> Result<ClosedFile> {
        self.container.end_block()?;
        self.flush()?;
        self.output.finish()?;
        Ok(ClosedFile {
            location: self.location,
            rows: self.rows,
            size_bytes: self.output.written(),
            split_offsets: Vec::new(),
            metrics: ColumnMetrics::default(),
        })
    }
}

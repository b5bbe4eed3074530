//! Files of any format: the shape that the files of one task share, and one open file.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::Schema;

use super::avro_file::{AvroFile, AvroShape};
use super::closed_file::ClosedFile;
use super::copied_rows::CopiedGroup;
use super::file_format::FileFormat;
use super::file_options::{Encoding, FileOptions};
use super::orc_file::{OrcFile, OrcShape};
use super::output::Outputs;
use super::parquet_file::{ParquetFile, ParquetShape};
use crate::error::Result;

/// Rows that the ORC encoder gets at once: it copies them.
const ORC_ROWS_AT_ONCE: usize = 65_536;

/// The schema and settings that the files of one task share.
#[derive(Debug)]
pub(super) enum FileShape {
    Parquet(Box<ParquetShape>),
    Avro(AvroShape),
    Orc(Box<OrcShape>),
}

impl FileShape {
    /// Create files of a schema; `arrow_schema` is the schema of the batches, in the same order, and `extra` are
    /// entries of the files' key-value metadata.
    ///
    /// # Errors
    /// `Unsupported` for a column that the format cannot store.
    pub(super) fn new(
        schema: &Schema,
        arrow_schema: SchemaRef,
        options: &FileOptions,
        modes: MetricsConfig,
        extra: &[(&str, &str)],
    ) -> Result<Self> {
        Ok(match &options.encoding {
            Encoding::Parquet(options) => {
                let shape = ParquetShape::new(schema, arrow_schema, options, modes, extra)?;
                Self::Parquet(Box::new(shape))
            }
            Encoding::Avro(options) => Self::Avro(AvroShape::new(schema, *options, extra)?),
            Encoding::Orc(options) => Self::Orc(Box::new(OrcShape::new(schema, options, modes)?)),
        })
    }

    /// Return the format of the files.
    pub(super) fn format(&self) -> FileFormat {
        match self {
            Self::Parquet(_) => FileFormat::Parquet,
            Self::Avro(_) => FileFormat::Avro,
            Self::Orc(_) => FileFormat::Orc,
        }
    }

    /// Create a file whose first rows are in `first`.
    pub(super) fn create(
        &self,
        outputs: &Outputs,
        location: String,
        first: &RecordBatch,
    ) -> Result<OpenFile> {
        Ok(match self {
            Self::Parquet(shape) => {
                OpenFile::Parquet(Box::new(ParquetFile::create(outputs, location, shape, first)?))
            }
            Self::Avro(shape) => {
                OpenFile::Avro(Box::new(AvroFile::create(outputs, location, shape)?))
            }
            Self::Orc(shape) => OpenFile::Orc(Box::new(OrcFile::create(outputs, location, shape)?)),
        })
    }

    /// Return whether several threads encode files faster than one; ORC's encoder runs on one thread at a time.
    pub(super) fn gains_from_threads(&self) -> bool {
        !matches!(self, Self::Orc(_))
    }

    /// Return the most rows of one call of [`OpenFile::write`].
    pub(super) fn rows_at_once(&self, batch: &RecordBatch) -> usize {
        match self {
            Self::Parquet(shape) => shape.rows_of_group(batch),
            Self::Avro(_) => usize::MAX,
            Self::Orc(_) => ORC_ROWS_AT_ONCE,
        }
    }
}

/// A file being written.
pub(super) enum OpenFile {
    Parquet(Box<ParquetFile>),
    Avro(Box<AvroFile>),
    Orc(Box<OrcFile>),
}

impl OpenFile {
    pub(super) fn write(&mut self, shape: &FileShape, batch: &RecordBatch) -> Result<()> {
        match (self, shape) {
            (Self::Avro(file), FileShape::Avro(shape)) => file.write(shape, batch),
            (Self::Orc(file), FileShape::Orc(shape)) => file.write(shape, batch),
            (Self::Parquet(file), FileShape::Parquet(shape)) => file.write(shape, batch),
            _ => Err(mixed()),
        }
    }

    /// Return the rows so far.
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Parquet(file) => file.rows(),
            Self::Avro(file) => file.rows(),
            Self::Orc(file) => file.rows(),
        }
    }

    /// Return the bytes on disk, and the estimated bytes of rows that are not written yet.
    pub(super) fn size_bytes(&self) -> usize {
        match self {
            Self::Parquet(file) => file.size_bytes(),
            Self::Avro(file) => file.size_bytes(),
            Self::Orc(file) => file.size_bytes(),
        }
    }

    /// Return the bytes in memory of encoded rows and of the upload.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Parquet(file) => file.memory_bytes(),
            Self::Avro(file) => file.memory_bytes(),
            Self::Orc(file) => file.memory_bytes(),
        }
    }

    /// Write the encoded rows, as far as the format can end a group of rows.
    pub(super) fn flush(&mut self) -> Result<()> {
        match self {
            Self::Parquet(file) => file.end_row_group(),
            Self::Avro(file) => file.flush(),
            // The encoder ends stripes by itself, so only closing the file frees its memory.
            Self::Orc(_) => Ok(()),
        }
    }

    /// Write a row group of copied pages of a Parquet file.
    pub(super) fn append_copied(&mut self, group: CopiedGroup) -> Result<()> {
        match self {
            Self::Parquet(file) => file.append_copied(group),
            Self::Avro(_) | Self::Orc(_) => Err(mixed()),
        }
    }

    pub(super) fn close(self, shape: &FileShape) -> Result<ClosedFile> {
        match (self, shape) {
            (Self::Parquet(file), FileShape::Parquet(shape)) => file.close(shape),
            (Self::Avro(file), _) => file.close(),
            (Self::Orc(file), FileShape::Orc(shape)) => file.close(shape),
            (Self::Parquet(_) | Self::Orc(_), _) => Err(mixed()),
        }
    }
}

fn mixed() -> crate::Error {
    crate::Error::internal("write a file", "its format differs from the format of its task")
}

//! An existing file of any format: its columns, its statistics and where it may be split.

use arrow_schema::Schema as ArrowSchema;
use icefloe_format::Error as FormatError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::Length;
use parquet::schema::types::SchemaDescriptor;

use super::magic::format_of;
use super::orc_statistics::OrcStatistics;
use super::parquet_statistics::ParquetStatistics;
use super::statistics::{FileStatistics, RowsAlone};
use crate::bytes::data_file::TailFetch;
use crate::error::Result;
use crate::formats::avro::{file::WHAT as AVRO, outline::AvroOutline};
use crate::formats::orc::{file::WHAT as ORC, outline::OrcOutline};
use crate::formats::parquet::file::{Footer, WHAT as PARQUET};
use crate::formats::parquet::row_groups::first_byte;
use crate::resolve::file_columns::FileColumn;
use crate::resolve::request::FileRequest;
use crate::write::FileFormat;

/// A file whose footer, or whose headers, were read.
pub(super) enum OpenedFile {
    Parquet(Footer),
    Orc(OrcOutline),
    Avro(AvroOutline),
}

impl OpenedFile {
    /// Open a file of any format, or of the wanted one.
    ///
    /// # Errors
    /// [`crate::Error::Missing`]; `Corrupt` and `Unsupported` naming the file; `InvalidArgument` for another format
    /// than the wanted one.
    pub(super) fn open(request: &FileRequest<'_>, wanted: Option<FileFormat>) -> Result<Self> {
        let source = request.file()?;
        let format = format_of(&source, request.location, wanted)?;
        request.tail.set(Some(TailFetch::Opened(source)));
        Ok(match format {
            FileFormat::Parquet => Self::Parquet(Footer::read(request)?),
            FileFormat::Orc => Self::Orc(OrcOutline::read(request)?),
            FileFormat::Avro => Self::Avro(AvroOutline::read(request)?),
        })
    }

    pub(super) fn format(&self) -> FileFormat {
        match self {
            Self::Parquet(_) => FileFormat::Parquet,
            Self::Orc(_) => FileFormat::Orc,
            Self::Avro(_) => FileFormat::Avro,
        }
    }

    /// Return the name of the file in error messages.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Self::Parquet(_) => PARQUET,
            Self::Orc(_) => ORC,
            Self::Avro(_) => AVRO,
        }
    }

    /// Return the columns by the file's own schema.
    pub(super) fn schema(&self) -> &ArrowSchema {
        match self {
            Self::Parquet(footer) => footer.schema(),
            Self::Orc(outline) => &outline.schema,
            Self::Avro(outline) => &outline.schema,
        }
    }

    /// Return the Parquet leaves; `None` for other formats.
    pub(super) fn descriptor(&self) -> Option<&SchemaDescriptor> {
        match self {
            Self::Parquet(footer) => Some(footer.metadata.file_metadata().schema_descr()),
            Self::Orc(_) | Self::Avro(_) => None,
        }
    }

    /// Return the bytes of the file.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Parquet(footer) => footer.source.len(),
            Self::Orc(outline) => outline.length,
            Self::Avro(outline) => outline.length,
        }
    }

    /// Return the statistics of the file's columns.
    ///
    /// # Errors
    /// `Corrupt` for a number of rows beyond 64 bits.
    pub(super) fn statistics<'a>(
        &'a self,
        columns: &[FileColumn],
    ) -> Result<Box<dyn FileStatistics + 'a>> {
        let rows = |rows: u64| {
            let too_many = |_| FormatError::corrupt(self.what(), format!("got {rows} rows"));
            i64::try_from(rows).map_err(too_many)
        };
        Ok(match self {
            Self::Parquet(footer) => Box::new(ParquetStatistics(&footer.metadata)),
            Self::Orc(outline) => {
                let rows = rows(outline.rows)?;
                Box::new(OrcStatistics::new(rows, &outline.statistics, columns))
            }
            Self::Avro(outline) => Box::new(RowsAlone(rows(outline.rows)?)),
        })
    }

    /// Return the first bytes of row groups or stripes, ascending; empty if the file does not state them in order.
    pub(super) fn split_offsets(&self) -> Vec<i64> {
        let offsets: Vec<u64> = match self {
            Self::Parquet(footer) => row_group_starts(&footer.metadata),
            Self::Orc(outline) => outline.stripe_starts.clone(),
            Self::Avro(_) => vec![],
        };
        let offsets = offsets.into_iter().map(i64::try_from).collect::<Result<Vec<_>, _>>();
        offsets.ok().filter(|offsets| offsets.is_sorted()).unwrap_or_default()
    }
}

fn row_group_starts(footer: &ParquetMetaData) -> Vec<u64> {
    footer.row_groups().iter().map(first_byte).collect()
}

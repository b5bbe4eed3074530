//! The formats of data and delete files: each opens a file and cuts it into units that decode to batches.

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::batch_size::BatchSize;
use super::survey::Survey;
use crate::error::{Error, Result};
use crate::formats::avro::file::{AvroUnit, avro_units, open};
use crate::formats::orc::file::{OrcUnit, orc_survey, orc_units};
use crate::formats::orc::stated_types::orc_schema;
use crate::formats::parquet::file::Footer;
use crate::formats::parquet::open::parquet_units;
use crate::formats::parquet::survey::parquet_survey;
use crate::formats::parquet::unit::Unit;
use crate::resolve::request::FileRequest;

/// A file format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFormat {
    Parquet,
    Avro,
    Orc,
}

/// Rows of a file that one thread decodes.
pub(crate) enum DataUnit {
    Parquet(Unit),
    Avro(AvroUnit),
    Orc(Box<OrcUnit>),
}

impl DataFormat {
    /// Return the format of a name in table metadata.
    ///
    /// # Errors
    /// `Unsupported` naming the file.
    pub(crate) fn of(name: &str, location: &str) -> Result<Self> {
        match name.to_ascii_uppercase().as_str() {
            "PARQUET" => Ok(Self::Parquet),
            "AVRO" => Ok(Self::Avro),
            "ORC" => Ok(Self::Orc),
            _ => Err(Error::unsupported_in(location, format!("reading {name} files"))),
        }
    }

    /// Open a file and cut the requested part into units, in file order.
    ///
    /// # Errors
    /// [`Error::Missing`]; `Corrupt` naming the file; errors of resolving columns.
    pub(crate) fn open(self, request: &FileRequest<'_>) -> Result<Vec<DataUnit>> {
        Ok(match self {
            Self::Parquet => parquet_units(request)?.into_iter().map(DataUnit::Parquet).collect(),
            Self::Avro => avro_units(request)?.into_iter().map(DataUnit::Avro).collect(),
            Self::Orc => {
                orc_units(request)?.into_iter().map(|unit| DataUnit::Orc(Box::new(unit))).collect()
            }
        })
    }

    /// Return the columns of a file by its own schema, with field ids if the file has any. Columns have the types that the
    /// file states, which an ORC file stores as other types.
    ///
    /// # Errors
    /// [`Error::Missing`]; `Corrupt` and `Unsupported` naming the file.
    pub(crate) fn schema(self, request: &FileRequest<'_>) -> Result<Schema> {
        Ok(match self {
            Self::Parquet => Footer::read(request)?.schema().clone(),
            Self::Avro => open(request, request.file()?)?.0.schema,
            Self::Orc => orc_schema(request)?,
        })
    }

    /// Report the parts of a file that a scan reads, without decoding them.
    ///
    /// # Errors
    /// The errors of [`DataFormat::open`].
    pub(crate) fn survey(self, request: &FileRequest<'_>) -> Result<Survey> {
        match self {
            Self::Parquet => parquet_survey(request),
            Self::Orc => orc_survey(request),
            Self::Avro => Ok(Survey::default()),
        }
    }
}

impl DataUnit {
    /// Request the first bytes that decoding reads, unless they are more than `most`. Return the number of bytes that were
    /// not requested before.
    pub(crate) fn prefetch(&self, most: usize) -> Option<usize> {
        match self {
            Self::Parquet(unit) => unit.begin(most),
            Self::Avro(_) | Self::Orc(_) => Some(0),
        }
    }

    /// Decode the rows that are neither deleted nor filtered out, and pass each batch to `emit` until it returns false.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn decode(
        &self,
        batch_size: BatchSize,
        limit: Option<usize>,
        emit: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        match self {
            Self::Parquet(unit) => unit.decode(batch_size, limit, emit),
            Self::Avro(unit) => unit.decode(batch_size.rows, limit, emit),
            Self::Orc(unit) => unit.decode(batch_size.rows, limit, emit),
        }
    }
    /// Decode all rows as they are stored, which fails for damaged bytes alone.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn decode_as_stored(&self) -> Result<()> {
        match self {
            Self::Parquet(_) => Ok(()),
            Self::Avro(unit) => unit.decode_as_stored(BatchSize::PASSING.rows),
            Self::Orc(unit) => unit.decode_as_stored(),
        }
    }
}

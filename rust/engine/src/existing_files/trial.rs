//! Columns of an existing file decoded once, as a scan decodes them, where the statistics do not decide that they fit.

use icefloe_format::Error as FormatError;
use icefloe_format::spec::Schema;

use super::doubts::Doubt;
use super::opened_file::OpenedFile;
use crate::error::{Error, Result};
use crate::formats::batch_size::BatchSize;
use crate::formats::data_format::{DataFormat, DataUnit};
use crate::formats::parquet::file::{Footer, arrow_error, guarded};
use crate::formats::parquet::open::{parquet_facts, units_of};
use crate::resolve::columns::BatchPlan;
use crate::resolve::file_columns::FileColumn;
use crate::resolve::request::FileRequest;
use crate::store::FileIo;
use crate::table::TableContext;

/// An open file and the table that it is to become a file of.
pub(super) struct Trial<'a> {
    pub(super) io: &'a FileIo,
    pub(super) context: &'a TableContext,
    pub(super) file: &'a OpenedFile,
    pub(super) location: &'a str,
    pub(super) columns: &'a [FileColumn],
}

impl Trial<'_> {
    /// Decode the fields in doubt one after the other, batch by batch.
    ///
    /// # Errors
    /// `Mismatch` naming a field whose values do not fit; the errors of reading the file.
    pub(super) fn check(&self, doubts: &[Doubt]) -> Result<()> {
        doubts.iter().try_for_each(|doubt| self.check_one(doubt))
    }

    fn check_one(&self, doubt: &Doubt) -> Result<()> {
        let projection = Schema::new(0, vec![doubt.column.clone()], vec![]);
        let whole = (self.location, -1);
        let request = FileRequest::whole((self.io, self.context), whole, &projection);
        let units = self.units(&request)?;
        let mut each = units.iter();
        let decoded =
            each.try_for_each(|unit| unit.decode(BatchSize::PASSING, None, &mut |_| true));
        match decoded {
            Err(Error::InFile { source: FormatError::Corrupt { .. }, .. }) => {}
            other => return other,
        }
        if !doubt.fails_as_stored {
            self.decode_as_stored(&request, &units)?;
        }
        Err(doubt.mismatch().into())
    }

    fn units(&self, request: &FileRequest<'_>) -> Result<Vec<DataUnit>> {
        match self.file {
            OpenedFile::Parquet(footer) => {
                let units = units_of(request, footer, self.columns)?;
                Ok(units.into_iter().map(DataUnit::Parquet).collect())
            }
            OpenedFile::Orc(_) => DataFormat::Orc.open(request),
            OpenedFile::Avro(_) => DataFormat::Avro.open(request),
        }
    }

    /// Decode the columns of a request to the types that the file suggests, which fails for damaged bytes only.
    fn decode_as_stored(&self, request: &FileRequest<'_>, units: &[DataUnit]) -> Result<()> {
        match self.file {
            OpenedFile::Parquet(footer) => self.decode_parquet(request, footer),
            OpenedFile::Orc(_) | OpenedFile::Avro(_) => {
                units.iter().try_for_each(DataUnit::decode_as_stored)
            }
        }
    }

    fn decode_parquet(&self, request: &FileRequest<'_>, footer: &Footer) -> Result<()> {
        let facts = parquet_facts(request, footer, self.columns);
        let plan = BatchPlan::new(request.projection, &facts, true)?;
        guarded(self.location, || {
            let mut batches = footer.decoder(&plan.leaves, BatchSize::PASSING)?;
            batches.try_for_each(|batch| match batch {
                Ok(_) => Ok(()),
                Err(error) => Err(arrow_error(self.location, error)),
            })
        })
    }
}

//! Columns of an existing file decoded once, as a scan decodes them, where the footer does not decide that they fit.

use icefloe_format::Error as FormatError;
use icefloe_format::spec::Schema;

use super::doubts::Doubt;
use crate::error::{Error, Result};
use crate::formats::batch_size::BatchSize;
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
    pub(super) footer: &'a Footer,
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
        let (location, context) = (self.footer.location.as_str(), self.context);
        let request = FileRequest::whole((self.io, context), (location, -1), &projection);
        let decoded = units_of(&request, self.footer, self.columns).and_then(|units| {
            let mut units = units.into_iter();
            units.try_for_each(|unit| unit.decode(BatchSize::PASSING, None, &mut |_| true))
        });
        match decoded {
            Err(Error::InFile { source: FormatError::Corrupt { .. }, .. }) => {}
            other => return other,
        }
        if !doubt.fails_as_stored {
            self.decode_as_stored(&request)?;
        }
        Err(doubt.mismatch().into())
    }

    /// Decode the columns of a request to the types that the file suggests, which fails for damaged bytes only.
    fn decode_as_stored(&self, request: &FileRequest<'_>) -> Result<()> {
        let facts = parquet_facts(request, self.footer, self.columns);
        let plan = BatchPlan::new(request.projection, &facts, true)?;
        guarded(&self.footer.location, || {
            let mut batches = self.footer.decoder(&plan.leaves, BatchSize::PASSING)?;
            batches.try_for_each(|batch| match batch {
                Ok(_) => Ok(()),
                Err(error) => Err(arrow_error(&self.footer.location, error)),
            })
        })
    }
}

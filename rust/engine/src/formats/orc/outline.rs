//! The columns, rows and statistics of an ORC file, by its end.

use arrow_schema::Schema;
use icefloe_format::orc::{FileStatistics, Stripe};

use super::file::with_ids;
use super::footer::OrcEnd;
use super::reader::orc_decoder;
use crate::error::Result;
use crate::resolve::request::FileRequest;

/// What an ORC file states at its end.
pub(crate) struct OrcOutline {
    /// The columns, with the ids of ORC types under the metadata key of Parquet's ids.
    pub(crate) schema: Schema,
    pub(crate) rows: u64,
    /// The length of the file in bytes.
    pub(crate) length: u64,
    /// The first bytes of the stripes.
    pub(crate) stripe_starts: Vec<u64>,
    pub(crate) statistics: FileStatistics,
}

impl OrcOutline {
    /// Read the end of a file.
    ///
    /// # Errors
    /// [`crate::Error::Missing`]; `Corrupt` and `Unsupported` naming the file.
    pub(crate) fn read(request: &FileRequest<'_>) -> Result<Self> {
        let location = request.location;
        let end = OrcEnd::read(request.file()?, location)?;
        let reader = orc_decoder(location)?.open(request.io, location)?;
        let stripes = end.footer.iter().flat_map(|footer| &footer.stripes);
        Ok(Self {
            schema: with_ids(&reader.schema()),
            rows: reader.rows(),
            length: end.file_length(),
            stripe_starts: stripes.map(Stripe::offset).collect(),
            statistics: end.file_statistics(location)?,
        })
    }
}

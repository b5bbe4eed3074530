//! The end of an ORC file, looked at before the decoder is given the file.

use std::ops::Range;

use bytes::Bytes;
use icefloe_format::Error as FormatError;
use icefloe_format::orc::{Footer, POSTSCRIPT_BYTES, Postscript, StripeStatistics};
use parquet::file::reader::Length;

use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};

/// What postscript and footer say.
pub(crate) struct OrcEnd {
    file: DataFile,
    postscript: Postscript,
    /// `None` where it cannot be looked at.
    pub(crate) footer: Option<Footer>,
}

impl OrcEnd {
    /// Check postscript and footer, since the decoder may end the process on those that are damaged.
    ///
    /// # Errors
    /// `Corrupt` and `Unsupported` naming the file; [`Error::Storage`].
    pub(crate) fn read(file: DataFile, location: &str) -> Result<Self> {
        let refused = |source| Error::in_file(location, source);
        let length = file.len();
        let start = length.saturating_sub(POSTSCRIPT_BYTES as u64);
        let postscript =
            Postscript::parse(&bytes(&file, start..length, location)?, length).map_err(refused)?;
        let footer = bytes(&file, postscript.footer(), location)?;
        let footer = Footer::parse(&footer, &postscript).map_err(refused)?;
        Ok(Self { file, postscript, footer })
    }

    /// What the file says of the values of its stripes. Statistics that nobody understands say nothing: the
    /// rows are all there without them.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub(crate) fn statistics(&self, location: &str) -> Result<Option<StripeStatistics>> {
        let Some(footer) = &self.footer else { return Ok(None) };
        let metadata = bytes(&self.file, self.postscript.metadata(), location)?;
        match StripeStatistics::of(&metadata, &self.postscript, footer) {
            Err(FormatError::Corrupt { .. }) => Ok(None),
            found => found.map_err(|source| Error::in_file(location, source)),
        }
    }
}

fn bytes(file: &DataFile, range: Range<u64>, location: &str) -> Result<Bytes> {
    let count = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    file.range(location, range.start, count)
}

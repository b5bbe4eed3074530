//! The end of an ORC file, checked before the decoder opens the file.

use std::ops::Range;

use bytes::Bytes;
use icefloe_format::Error as FormatError;
use icefloe_format::orc::{FileStatistics, Footer, POSTSCRIPT_BYTES, Postscript, StripeStatistics};
use parquet::file::reader::Length;

use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};

/// The postscript and footer of a file.
pub(crate) struct OrcEnd {
    file: DataFile,
    postscript: Postscript,
    /// `None` for a footer in an unsupported compression.
    pub(crate) footer: Option<Footer>,
}

impl OrcEnd {
    /// Read and check postscript and footer, since the decoder may crash the process on damaged ones.
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

    /// Return the length of the file in bytes.
    pub(crate) fn file_length(&self) -> u64 {
        self.file.len()
    }

    /// Return the statistics of the columns in the whole file; empty if they cannot be parsed, since the rows do not
    /// depend on them.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub(crate) fn file_statistics(&self, location: &str) -> Result<FileStatistics> {
        let Some(footer) = &self.footer else { return Ok(FileStatistics::default()) };
        let message = bytes(&self.file, self.postscript.footer(), location)?;
        match FileStatistics::parse(&message, &self.postscript, footer) {
            Err(FormatError::Corrupt { .. }) => Ok(FileStatistics::default()),
            found => found.map_err(|source| Error::in_file(location, source)),
        }
    }

    /// Return the statistics of the stripes; `None` if they cannot be parsed, since the rows do not depend on them.
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

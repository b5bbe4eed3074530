//! The end of an ORC file, looked at before the decoder is given the file.

use std::ops::Range;

use bytes::Bytes;
use icefloe_format::orc::{POSTSCRIPT_BYTES, Postscript, check_footer};
use parquet::file::reader::{ChunkReader, Length};

use super::avro_blocks::source_error;
use super::source::DataFile;
use crate::error::{Error, Result};

/// Check postscript and footer, since the decoder may end the process on those that are damaged.
///
/// # Errors
/// `Corrupt` and `Unsupported` naming the file; [`Error::Storage`].
pub(super) fn check_end(file: &DataFile, location: &str) -> Result<()> {
    let refused = |source| Error::in_file(location, source);
    let length = file.len();
    let start = length.saturating_sub(POSTSCRIPT_BYTES as u64);
    let postscript =
        Postscript::parse(&bytes(file, start..length, location)?, length).map_err(refused)?;
    check_footer(&bytes(file, postscript.footer(), location)?, &postscript).map_err(refused)
}

fn bytes(file: &DataFile, range: Range<u64>, location: &str) -> Result<Bytes> {
    let count = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    file.get_bytes(range.start, count).map_err(|error| source_error(location, error))
}

//! The format of a file by its magic bytes.

use icefloe_format::Error as FormatError;
use parquet::file::reader::Length;

use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};
use crate::write::FileFormat;

const BYTES: usize = 4;
const FORMATS: &str = "a Parquet, ORC or Avro file";

/// Return the format of an open file; it must be `wanted` if that is a format.
///
/// # Errors
/// `Corrupt` naming the file if it has the magic bytes of no format; `InvalidArgument` if it has another format's.
pub(super) fn format_of(
    file: &DataFile,
    location: &str,
    wanted: Option<FileFormat>,
) -> Result<FileFormat> {
    let length = file.len();
    let whole = length >= BYTES as u64;
    let read = |start| file.range(location, start, BYTES);
    // The end of a remote file has been read already.
    let by_end = if whole { at_end(&read(length - BYTES as u64)?) } else { None };
    let found = match by_end {
        None if whole => at_start(&read(0)?),
        found => found,
    };
    match (found, wanted) {
        (Some(found), Some(wanted)) if found != wanted => {
            let reason = format!("expected {}, got {}", named(wanted), named(found));
            Err(FormatError::invalid("file", reason).into())
        }
        // The wanted format's own reader reports the damage.
        (_, Some(wanted)) => Ok(wanted),
        (Some(found), None) => Ok(found),
        (None, None) => {
            let start = if whole { read(0)? } else { file.range(location, 0, size(length))? };
            let start = start.escape_ascii();
            let reason = format!("expected {FORMATS}, got one that starts with '{start}'");
            Err(Error::corrupt_file(location, "the file", reason))
        }
    }
}

fn at_end(bytes: &[u8]) -> Option<FileFormat> {
    match bytes {
        // Files with an encrypted footer end with PARE.
        b"PAR1" | b"PARE" => Some(FileFormat::Parquet),
        // The length of the postscript follows.
        [b'O', b'R', b'C', _] => Some(FileFormat::Orc),
        _ => None,
    }
}

fn at_start(bytes: &[u8]) -> Option<FileFormat> {
    match bytes {
        b"Obj\x01" => Some(FileFormat::Avro),
        b"PAR1" | b"PARE" => Some(FileFormat::Parquet),
        [b'O', b'R', b'C', _] => Some(FileFormat::Orc),
        _ => None,
    }
}

fn named(format: FileFormat) -> &'static str {
    match format {
        FileFormat::Parquet => "a Parquet file",
        FileFormat::Avro => "an Avro file",
        FileFormat::Orc => "an ORC file",
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

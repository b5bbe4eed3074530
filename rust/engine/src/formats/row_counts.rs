//! The rows that a file holds, checked against the rows that metadata states.

use parquet::file::metadata::ParquetMetaData;

use crate::error::{Error, Result};
use crate::formats::parquet::file::WHAT;

/// Compare the rows of a whole file, deleted ones included, with `record_count` of its manifest entry, which is
/// unknown if negative.
///
/// # Errors
/// `Corrupt` naming the file and both counts.
pub(crate) fn check_record_count(
    location: &str,
    what: &str,
    found: i64,
    record_count: i64,
) -> Result<()> {
    if record_count < 0 || found == record_count {
        return Ok(());
    }
    let reason = format!("it holds {found} rows, the table's metadata says {record_count}");
    Err(Error::corrupt_file(location, what, reason))
}

/// Compare the rows of a Parquet file's row groups, which are the rows that a scan reads, with the total of the
/// footer, and the total with `record_count`.
///
/// # Errors
/// `Corrupt` naming the file and both counts.
pub(crate) fn check_footer(
    location: &str,
    metadata: &ParquetMetaData,
    record_count: i64,
) -> Result<()> {
    let total = metadata.file_metadata().num_rows();
    check_record_count(location, WHAT, total, record_count)?;
    let groups = metadata.row_groups().iter().map(|group| group.num_rows());
    let found = groups.fold(0_i64, i64::saturating_add);
    if found == total {
        return Ok(());
    }
    let reason = format!("its row groups hold {found} rows, the total of its footer is {total}");
    Err(Error::corrupt_file(location, WHAT, reason))
}

/// Compare the rows decoded of a row group with the rows to expect of it.
///
/// # Errors
/// `Corrupt` naming the file and both counts.
pub(crate) fn check_row_group(
    location: &str,
    row_group: usize,
    found: u64,
    expected: u64,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let reason = format!("row group {row_group} holds {found} rows, its footer says {expected}");
    Err(Error::corrupt_file(location, WHAT, reason))
}

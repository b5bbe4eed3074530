//! Data files that lose some of their rows.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;
use icefloe_format::Error as FormatError;

use super::plain_column::plain_column;
use crate::error::Result;

/// The column of the row of a data file in a batch of files.
pub(super) const FILE_ROW: &str = "__file_row";
/// The column of the positions of rows in their data files.
const POSITION: &str = "_pos";

/// A data file and the rows that it loses.
#[derive(Debug, Clone)]
pub(super) struct ChangedFile {
    /// The row of the file in its batch.
    pub(super) number: usize,
    pub(super) location: String,
    pub(super) spec_id: i32,
    /// The partition tuple as a JSON array.
    pub(super) partition: String,
    pub(super) record_count: i64,
    /// Whether delete files apply to the file.
    pub(super) has_deletes: bool,
    /// Ascending positions.
    pub(super) removed: ScalarBuffer<i64>,
}

/// Return the files of a batch that lose rows. `files` has `file_path`, `spec_id`, `partition`, `record_count` and
/// `has_deletes`; `removed` has the row in `files` and the position of each row, sorted by both.
///
/// # Errors
/// `Mismatch` for other columns, `InvalidArgument` for a row that is not in `files`.
pub(super) fn changed_files(
    files: &RecordBatch,
    removed: &RecordBatch,
) -> Result<Vec<ChangedFile>> {
    let paths = plain_column(files, "file_path", &DataType::Utf8)?;
    let spec_ids = plain_column(files, "spec_id", &DataType::Int32)?;
    let partitions = plain_column(files, "partition", &DataType::Utf8)?;
    let counts = plain_column(files, "record_count", &DataType::Int64)?;
    let has_deletes = plain_column(files, "has_deletes", &DataType::Boolean)?;
    let (paths, partitions) = (paths.as_string::<i32>(), partitions.as_string::<i32>());
    let (spec_ids, counts) =
        (spec_ids.as_primitive::<Int32Type>(), counts.as_primitive::<Int64Type>());
    runs(removed)?
        .into_iter()
        .map(|(number, removed)| {
            let number = usize::try_from(number).ok().filter(|number| *number < files.num_rows());
            let number = number.ok_or_else(|| {
                let reason = format!("expected rows of {} files", files.num_rows());
                FormatError::invalid("removed", reason)
            })?;
            Ok(ChangedFile {
                number,
                location: paths.value(number).to_owned(),
                spec_id: spec_ids.value(number),
                partition: partitions.value(number).to_owned(),
                record_count: counts.value(number),
                has_deletes: has_deletes.as_boolean().value(number),
                removed,
            })
        })
        .collect()
}

/// Return the positions of each file.
fn runs(removed: &RecordBatch) -> Result<Vec<(i32, ScalarBuffer<i64>)>> {
    let numbers = plain_column(removed, FILE_ROW, &DataType::Int32)?;
    let positions = plain_column(removed, POSITION, &DataType::Int64)?;
    let (numbers, positions) =
        (numbers.as_primitive::<Int32Type>(), positions.as_primitive::<Int64Type>());
    let mut start = 0;
    let runs = numbers.values().chunk_by(|one, other| one == other).map(|run| {
        let of_file = positions.values().slice(start, run.len());
        start += run.len();
        (run.first().copied().unwrap_or_default(), of_file)
    });
    Ok(runs.collect())
}

//! The one data file that a position delete file is about, where it says so.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};

use crate::error::Result;
use crate::predicate::stored_bounds;

/// The field id of `file_path` in position delete files.
const DELETE_FILE_PATH_ID: i32 = 2_147_483_546;

/// For each file: `referenced_data_file` where it is set, else the path that is both bounds of
/// the `file_path` column, else none.
///
/// # Errors
/// `InvalidArgument` where a statistics column is no map of bounds.
pub(super) fn referenced_paths(deletes: &RecordBatch) -> Result<Vec<Option<String>>> {
    let named = deletes
        .column_by_name("referenced_data_file")
        .and_then(|column| column.as_string_opt::<i32>());
    let lower = stored_bounds(deletes, "lower_bounds", DELETE_FILE_PATH_ID)?;
    let upper = stored_bounds(deletes, "upper_bounds", DELETE_FILE_PATH_ID)?;
    let path = |row: usize| {
        if let Some(named) = named.filter(|named| named.is_valid(row)) {
            return Some(named.value(row).to_owned());
        }
        let (lower, upper) = (lower.get(row)?.as_ref()?, upper.get(row)?.as_ref()?);
        if lower != upper {
            return None;
        }
        std::str::from_utf8(lower).ok().map(str::to_owned)
    };
    Ok((0..deletes.num_rows()).map(path).collect())
}

//! The statistics that a file has of its columns, whatever its format.

use icefloe_format::spec::{Datum, PrimitiveType};

use crate::resolve::file_columns::FileColumn;

/// The statistics of a file. A count or bound that the file does not state is `None`.
pub(super) trait FileStatistics {
    /// Return the number of rows.
    fn rows(&self) -> i64;

    /// Return whether the Java reference records counts and a size of a column.
    fn has_counts(&self, column: &FileColumn, is_repeated: bool) -> bool;

    /// Return whether the Java reference records the sizes of columns within lists and maps.
    fn has_nested_sizes(&self) -> bool {
        false
    }

    /// Return the bytes of a column on disk.
    fn size(&self, column: &FileColumn) -> Option<i64>;

    /// Return the number of values, nulls included, of a column that no list or map is around.
    fn value_count(&self, column: &FileColumn) -> Option<i64>;

    /// Return the number of nulls of a column, or of a struct around the column, that no list or map is around.
    fn null_count(&self, column: &FileColumn) -> Option<i64>;

    /// Return the number of NaNs.
    fn nan_count(&self, _: &FileColumn) -> Option<i64> {
        None
    }

    /// Return a value that is not greater and a value that is not less than all values; `None` if all values are null.
    fn bounds(&self, column: &FileColumn, wanted: &PrimitiveType) -> Option<(Datum, Datum)>;

    /// Return whether the bounds of a column are two of its values.
    fn has_exact_bounds(&self, column: &FileColumn) -> bool;

    /// Return whether the bounds of a column are wider than the values because the format does not determine them.
    fn has_wide_bounds(&self, _: &FileColumn) -> bool {
        false
    }

    /// Return whether a column of bytes is known to be UTF-8.
    fn is_text(&self, _: &FileColumn) -> bool {
        false
    }

    /// Return whether the keys of a map may be null.
    fn may_have_null_keys(&self, _: &FileColumn) -> bool {
        false
    }

    /// Return whether a column of times, of which a second has `units`, has a bound outside a day.
    fn has_times_outside_a_day(&self, _: &FileColumn, _: i64) -> bool {
        false
    }

    /// Return whether timestamps with and without zone are different values in the format.
    fn has_local_timestamps(&self) -> bool {
        false
    }
}

/// The statistics of a file that has none, such as an Avro file: its number of rows.
pub(super) struct RowsAlone(pub(super) i64);

impl FileStatistics for RowsAlone {
    fn rows(&self) -> i64 {
        self.0
    }

    fn has_counts(&self, _: &FileColumn, _: bool) -> bool {
        false
    }

    fn size(&self, _: &FileColumn) -> Option<i64> {
        None
    }

    fn value_count(&self, _: &FileColumn) -> Option<i64> {
        None
    }

    fn null_count(&self, _: &FileColumn) -> Option<i64> {
        None
    }

    fn bounds(&self, _: &FileColumn, _: &PrimitiveType) -> Option<(Datum, Datum)> {
        None
    }

    fn has_exact_bounds(&self, _: &FileColumn) -> bool {
        false
    }
}

//! Versions of files in an inventory report.

use arrow_array::{Array, BooleanArray, Int64Array, StringArray};

use super::identity::{Identity, Prefixes};

/// The newest version of each file of a report, found from 32 bytes for each row.
///
/// A report of a bucket that keeps versions has a row for each version of a file.
#[derive(Debug, Default)]
pub struct NewestVersions {
    prefixes: Prefixes,
    /// File, time of its modification, and number of the row.
    versions: Vec<(Identity, i64, usize)>,
}

impl NewestVersions {
    /// Add rows: locations, and the times of the last modification in any unit. Neither has nulls.
    pub fn add(&mut self, locations: &StringArray, modified: &Int64Array) {
        let first = self.versions.len();
        let files = self.prefixes.identities((0..locations.len()).map(|row| locations.value(row)));
        let rows = files.zip(modified.values()).enumerate();
        self.versions.extend(rows.map(|(row, (file, time))| (file, *time, first + row)));
    }

    /// Return for each row whether it is the newest of its file; of equally new rows it is the last one.
    #[must_use]
    pub fn finish(mut self) -> BooleanArray {
        self.versions.sort_unstable();
        let mut newest = vec![false; self.versions.len()];
        for group in self.versions.chunk_by(|one, other| one.0 == other.0) {
            if let Some((_, _, row)) = group.last() {
                newest[*row] = true;
            }
        }
        BooleanArray::from(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_the_newest_rows_of_a_file_is_found() {
        let mut versions = NewestVersions::default();
        let first = StringArray::from(vec!["s3://b/a", "s3://b/c", "s3://b/d"]);
        versions.add(&first, &Int64Array::from(vec![5, 9, 1]));
        let second = StringArray::from(vec!["s3a://b//a", "s3://b/c", "s3://b/d"]);
        versions.add(&second, &Int64Array::from(vec![6, 8, 1]));
        let expected = vec![false, true, false, true, false, true];
        assert_eq!(versions.finish(), BooleanArray::from(expected));
    }

    #[test]
    fn a_report_without_rows_has_no_versions() {
        assert_eq!(NewestVersions::default().finish().len(), 0);
    }
}

//! Facts about data files, from the statistics columns of a data file or entry batch.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, MapArray, RecordBatch};

use super::bounds::decode_bounds;
use super::map_places::Places;
use super::stats::{ColumnCounts, ColumnFacts, ColumnStats, is_floating};
use super::tree::BoundLeaf;
use crate::error::{Error, Result};
use crate::spec::PrimitiveType;

/// Statistics of the files of a batch. A column that the batch lacks is unknown for all files.
#[derive(Debug, Clone)]
pub struct FileStats<'a> {
    files: Cow<'a, RecordBatch>,
}

const RECORDS: &str = "record_count";
/// What is looked at.
const COLUMNS: [&str; 6] = [
    RECORDS,
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
];

impl<'a> FileStats<'a> {
    /// Statistics of the files of a data file or entry batch.
    pub fn new(files: &'a RecordBatch) -> Self {
        Self { files: Cow::Borrowed(files) }
    }

    fn counts(&self, name: &str, field_id: i32) -> Result<Option<Int64Array>> {
        let Some(map) = stats_map(&self.files, name)? else { return Ok(None) };
        let values = map.values().as_primitive_opt::<Int64Type>();
        let values = values.ok_or_else(|| unexpected(name))?;
        let places = Places::of(map, field_id).ok_or_else(|| unexpected(name))?;
        Ok(Some(places.longs(values)))
    }

    fn bounds(
        &self,
        name: &str,
        field_id: i32,
        field_type: &PrimitiveType,
    ) -> Result<Option<arrow_array::ArrayRef>> {
        let Some(map) = stats_map(&self.files, name)? else { return Ok(None) };
        let values = map.values().as_binary_opt::<i32>().ok_or_else(|| unexpected(name))?;
        let places = Places::of(map, field_id).ok_or_else(|| unexpected(name))?;
        let bytes = places.iter().map(|place| place.map(|place| values.value(place)));
        decode_bounds(field_type, bytes).map(Some)
    }
}

impl ColumnStats for FileStats<'_> {
    fn entries(&self) -> usize {
        self.files.num_rows()
    }

    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts> {
        file_facts(self, leaf.field_id, &leaf.field_type, leaf.nested)
    }

    fn slice(&self, start: usize, entries: usize) -> Option<Box<dyn ColumnStats>> {
        let schema = self.files.schema_ref();
        let wanted: Vec<usize> =
            COLUMNS.iter().filter_map(|name| schema.index_of(name).ok()).collect();
        // Of no column at all the number of rows would be lost.
        let columns = self.files.project(&wanted).ok().filter(|_| !wanted.is_empty())?;
        Some(Box::new(FileStats { files: Cow::Owned(columns.slice(start, entries)) }))
    }
}

/// The facts of one field for each file.
pub(crate) fn file_facts(
    stats: &FileStats<'_>,
    field_id: i32,
    field_type: &PrimitiveType,
    nested: bool,
) -> Result<ColumnFacts> {
    let records = stats.files.column_by_name(RECORDS);
    // Writers differ on whether rows whose struct is null count as nulls of its fields.
    let count = |name| if nested { Ok(None) } else { stats.counts(name, field_id) };
    let counts = ColumnCounts {
        records: records.and_then(|column| column.as_primitive_opt::<Int64Type>()).cloned(),
        values: count("value_counts")?,
        nulls: count("null_value_counts")?,
        nans: if is_floating(field_type) { count("nan_value_counts")? } else { None },
    };
    let lower = stats.bounds("lower_bounds", field_id, field_type)?;
    let upper = stats.bounds("upper_bounds", field_id, field_type)?;
    ColumnFacts::from_counts(field_type, stats.entries(), &counts, lower, upper)
}

/// The undecoded bound of a field for each file; none for all where the batch lacks the column.
///
/// # Errors
/// `InvalidArgument` where the column is no map of bounds.
pub fn stored_bounds(
    files: &RecordBatch,
    name: &str,
    field_id: i32,
) -> Result<Vec<Option<Vec<u8>>>> {
    let Some(map) = stats_map(files, name)? else { return Ok(vec![None; files.num_rows()]) };
    let values = map.values().as_binary_opt::<i32>().ok_or_else(|| unexpected(name))?;
    let places = Places::of(map, field_id).ok_or_else(|| unexpected(name))?;
    Ok(places.iter().map(|place| place.map(|place| values.value(place).to_vec())).collect())
}

fn stats_map<'a>(files: &'a RecordBatch, name: &str) -> Result<Option<&'a MapArray>> {
    match files.column_by_name(name) {
        Some(column) => column.as_map_opt().map(Some).ok_or_else(|| unexpected(name)),
        None => Ok(None),
    }
}

fn unexpected(name: &str) -> Error {
    Error::invalid(format!("column {name}"), "it is not a map of statistics by field id")
}

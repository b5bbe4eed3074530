//! Facts about data files, from the statistics columns of a data file or entry batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int64Array, MapArray, RecordBatch};

use super::bounds::decode_bounds;
use super::stats::{ColumnCounts, ColumnFacts, ColumnStats, is_floating};
use super::tree::BoundLeaf;
use crate::error::{Error, Result};
use crate::spec::PrimitiveType;

/// Statistics of the files of a batch. A column that the batch lacks is unknown for all files.
#[derive(Debug, Clone, Copy)]
pub struct FileStats<'a> {
    files: &'a RecordBatch,
}

impl<'a> FileStats<'a> {
    /// Statistics of the files of a data file or entry batch.
    pub fn new(files: &'a RecordBatch) -> Self {
        Self { files }
    }

    fn counts(&self, name: &str, field_id: i32) -> Result<Option<Int64Array>> {
        let Some(map) = self.map(name)? else { return Ok(None) };
        let values = map.values().as_primitive_opt::<Int64Type>();
        let values = values.ok_or_else(|| unexpected(name))?;
        let places = places(map, field_id, name)?;
        Ok(Some(places.map(|place| place.map(|place| values.value(place))).collect()))
    }

    fn bounds(
        &self,
        name: &str,
        field_id: i32,
        field_type: &PrimitiveType,
    ) -> Result<Option<arrow_array::ArrayRef>> {
        let Some(map) = self.map(name)? else { return Ok(None) };
        let values = map.values().as_binary_opt::<i32>().ok_or_else(|| unexpected(name))?;
        let places = places(map, field_id, name)?;
        let bytes = places.map(|place| place.map(|place| values.value(place)));
        decode_bounds(field_type, bytes).map(Some)
    }

    fn map(&self, name: &str) -> Result<Option<&'a MapArray>> {
        stats_map(self.files, name)
    }
}

impl ColumnStats for FileStats<'_> {
    fn entries(&self) -> usize {
        self.files.num_rows()
    }

    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts> {
        file_facts(self, leaf.field_id, &leaf.field_type, leaf.nested)
    }
}

/// The facts of one field for each file.
pub(crate) fn file_facts(
    stats: &FileStats<'_>,
    field_id: i32,
    field_type: &PrimitiveType,
    nested: bool,
) -> Result<ColumnFacts> {
    let records = stats.files.column_by_name("record_count");
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
pub(crate) fn stored_bounds(
    files: &RecordBatch,
    name: &str,
    field_id: i32,
) -> Result<Vec<Option<Vec<u8>>>> {
    let Some(map) = stats_map(files, name)? else { return Ok(vec![None; files.num_rows()]) };
    let values = map.values().as_binary_opt::<i32>().ok_or_else(|| unexpected(name))?;
    let places = places(map, field_id, name)?;
    Ok(places.map(|place| place.map(|place| values.value(place).to_vec())).collect())
}

fn stats_map<'a>(files: &'a RecordBatch, name: &str) -> Result<Option<&'a MapArray>> {
    match files.column_by_name(name) {
        Some(column) => column.as_map_opt().map(Some).ok_or_else(|| unexpected(name)),
        None => Ok(None),
    }
}

/// Where each file's map has the value of a field. Files of a table mostly have the same fields, so
/// the place in the map before is looked at first.
fn places<'a>(
    map: &'a MapArray,
    field_id: i32,
    name: &str,
) -> Result<impl Iterator<Item = Option<usize>> + 'a> {
    let keys = map.keys().as_primitive_opt::<Int32Type>().ok_or_else(|| unexpected(name))?;
    let (keys, values, valid) = (keys.values(), map.values(), map.nulls());
    let mut likely = 0;
    Ok(map.value_offsets().windows(2).enumerate().map(move |(file, ends)| {
        let [start, end] = ends else { return None };
        let start = usize::try_from(*start).ok()?;
        let fields = keys.get(start..usize::try_from(*end).ok()?)?;
        if fields.get(likely) != Some(&field_id) {
            likely = fields.iter().position(|key| *key == field_id)?;
        }
        let place = start + likely;
        let known = valid.is_none_or(|valid| valid.is_valid(file)) && values.is_valid(place);
        known.then_some(place)
    }))
}

fn unexpected(name: &str) -> Error {
    Error::invalid(format!("column {name}"), "it is not a map of statistics by field id")
}

//! Facts about data files from the statistics columns of a batch of data files or entries.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int64Array, MapArray, RecordBatch};

use super::stats::{ColumnCounts, ColumnFacts, ColumnStats, decode_bounds, is_floating};
use super::tree::BoundLeaf;
use crate::error::{Error, Result};
use crate::spec::PrimitiveType;

/// Statistics of the files of a batch. A missing column means unknown statistics for all files.
#[derive(Debug, Clone)]
pub struct FileStats<'a> {
    files: Cow<'a, RecordBatch>,
}

const RECORDS: &str = "record_count";
/// The columns of statistics.
const COLUMNS: [&str; 6] = [
    RECORDS,
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
];

impl<'a> FileStats<'a> {
    /// Create statistics from the columns of a batch of data files or entries.
    pub fn new(files: &'a RecordBatch) -> Self {
        Self { files: Cow::Borrowed(files) }
    }

    fn counts(&self, name: &str, field_id: i32) -> Result<Option<Int64Array>> {
        let Some(map) = stats_map(&self.files, name)? else { return Ok(None) };
        let values = map.values().as_primitive_opt::<Int64Type>();
        let values = values.ok_or_else(|| unexpected(name))?;
        let indices = ValueIndices::of(map, field_id).ok_or_else(|| unexpected(name))?;
        Ok(Some(indices.longs(values)))
    }

    fn bounds(
        &self,
        name: &str,
        field_id: i32,
        field_type: &PrimitiveType,
    ) -> Result<Option<arrow_array::ArrayRef>> {
        let Some(map) = stats_map(&self.files, name)? else { return Ok(None) };
        let values = map.values().as_binary_opt::<i32>().ok_or_else(|| unexpected(name))?;
        let indices = ValueIndices::of(map, field_id).ok_or_else(|| unexpected(name))?;
        let bytes = indices.iter().map(|index| index.map(|index| values.value(index)));
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
        // A batch without columns would lose the number of rows.
        let columns = self.files.project(&wanted).ok().filter(|_| !wanted.is_empty())?;
        Some(Box::new(FileStats { files: Cow::Owned(columns.slice(start, entries)) }))
    }
}

/// Return the facts about one field for each file.
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

/// Return the encoded bound of a field for each file; `None` for all files if the batch has no such column.
///
/// # Errors
/// `InvalidArgument` where the column is not a map of bounds.
pub fn stored_bounds(
    files: &RecordBatch,
    name: &str,
    field_id: i32,
) -> Result<Vec<Option<Vec<u8>>>> {
    let Some(map) = stats_map(files, name)? else { return Ok(vec![None; files.num_rows()]) };
    let values = map.values().as_binary_opt::<i32>().ok_or_else(|| unexpected(name))?;
    let indices = ValueIndices::of(map, field_id).ok_or_else(|| unexpected(name))?;
    Ok(indices.iter().map(|index| index.map(|index| values.value(index).to_vec())).collect())
}

fn stats_map<'a>(files: &'a RecordBatch, name: &str) -> Result<Option<&'a MapArray>> {
    match files.column_by_name(name) {
        Some(column) => column.as_map_opt().map(Some).ok_or_else(|| unexpected(name)),
        None => Ok(None),
    }
}

fn unexpected(name: &str) -> Error {
    Error::invalid(
        format!("column {name}"),
        "the type does not fit; expected a map from int to long or binary",
    )
}

/// The index of one key's value in the values of a map array, for each map.
enum ValueIndices {
    /// All maps have the same keys, as usual for the maps of one table: the first index and the number of keys.
    Even { first: usize, keys: usize, maps: usize },
    /// `None` where a map does not have the key, or has null for it.
    Each(Vec<Option<usize>>),
}

impl ValueIndices {
    /// Find the values of a key; `None` where the keys are not 32-bit integers.
    pub(super) fn of(map: &MapArray, key: i32) -> Option<Self> {
        let keys: &[i32] = map.keys().as_primitive_opt::<Int32Type>()?.values();
        let even = if map.null_count() == 0 && map.values().null_count() == 0 {
            even(map.value_offsets(), keys, key)
        } else {
            None
        };
        Some(even.unwrap_or_else(|| Self::Each(each(map, keys, key))))
    }

    /// Return the indices in the order of the maps.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        let maps = match self {
            Self::Even { maps, .. } => *maps,
            Self::Each(indices) => indices.len(),
        };
        (0..maps).map(move |map| match self {
            Self::Even { first, keys, .. } => Some(first + map * keys),
            Self::Each(indices) => indices.get(map).copied().flatten(),
        })
    }

    /// Return the counts at the indices.
    pub(super) fn longs(&self, values: &Int64Array) -> Int64Array {
        match self {
            Self::Even { first, keys, maps } => {
                let values = values.values().get(*first..).unwrap_or_default();
                let found: Vec<i64> = values.iter().step_by(*keys).take(*maps).copied().collect();
                Int64Array::new(found.into(), None)
            }
            Self::Each(indices) => {
                indices.iter().map(|index| index.map(|index| values.value(index))).collect()
            }
        }
    }
}

fn even(offsets: &[i32], keys: &[i32], key: i32) -> Option<ValueIndices> {
    let (start, second) = (*offsets.first()?, *offsets.get(1)?);
    let width = second - start;
    let equal = offsets.windows(2).fold(true, |equal, ends| match ends {
        [start, end] => equal & (end.wrapping_sub(*start) == width),
        _ => equal,
    });
    let (start, width) = (usize::try_from(start).ok()?, usize::try_from(width).ok()?);
    let position = keys.get(start..start + width)?.iter().position(|found| *found == key)?;
    let (first, maps) = (start + position, offsets.len() - 1);
    let mut same = keys.get(first..)?.iter().step_by(width).take(maps);
    (equal && same.len() == maps && same.all(|found| *found == key)).then_some(ValueIndices::Even {
        first,
        keys: width,
        maps,
    })
}

fn each(map: &MapArray, keys: &[i32], key: i32) -> Vec<Option<usize>> {
    let (values, valid) = (map.values(), map.nulls());
    let mut likely = 0;
    let index = |(map, ends): (usize, &[i32])| {
        let [start, end] = ends else { return None };
        let start = usize::try_from(*start).ok()?;
        let found = keys.get(start..usize::try_from(*end).ok()?)?;
        // Maps of a column mostly have their keys at the same positions.
        if found.get(likely) != Some(&key) {
            likely = found.iter().position(|found| *found == key)?;
        }
        let known =
            valid.is_none_or(|valid| valid.is_valid(map)) && values.is_valid(start + likely);
        known.then_some(start + likely)
    };
    map.value_offsets().windows(2).enumerate().map(index).collect()
}

//! Facts about data files, from the statistics columns of a data file or entry batch.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int64Array, MapArray, RecordBatch};

use super::stats::{ColumnCounts, ColumnFacts, ColumnStats, decode_bounds, is_floating};
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

/// Places in the values below a map array, one for each map.
enum Places {
    /// All maps have the same keys, as files of one table mostly do: the first place and how many
    /// keys there are.
    Even { first: usize, keys: usize, maps: usize },
    /// None where a map lacks the key, or has a null for it.
    Each(Vec<Option<usize>>),
}

impl Places {
    /// The places of a key's values; `None` where keys are no 32-bit integers.
    pub(super) fn of(map: &MapArray, key: i32) -> Option<Self> {
        let keys: &[i32] = map.keys().as_primitive_opt::<Int32Type>()?.values();
        let even = if map.null_count() == 0 && map.values().null_count() == 0 {
            even(map.value_offsets(), keys, key)
        } else {
            None
        };
        Some(even.unwrap_or_else(|| Self::Each(each(map, keys, key))))
    }

    /// The places, in the order of the maps.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        let maps = match self {
            Self::Even { maps, .. } => *maps,
            Self::Each(places) => places.len(),
        };
        (0..maps).map(move |map| match self {
            Self::Even { first, keys, .. } => Some(first + map * keys),
            Self::Each(places) => places.get(map).copied().flatten(),
        })
    }

    /// The counts at the places.
    pub(super) fn longs(&self, values: &Int64Array) -> Int64Array {
        match self {
            Self::Even { first, keys, maps } => {
                let values = values.values().get(*first..).unwrap_or_default();
                let found: Vec<i64> = values.iter().step_by(*keys).take(*maps).copied().collect();
                Int64Array::new(found.into(), None)
            }
            Self::Each(places) => {
                places.iter().map(|place| place.map(|place| values.value(place))).collect()
            }
        }
    }
}

fn even(offsets: &[i32], keys: &[i32], key: i32) -> Option<Places> {
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
    (equal && same.len() == maps && same.all(|found| *found == key)).then_some(Places::Even {
        first,
        keys: width,
        maps,
    })
}

fn each(map: &MapArray, keys: &[i32], key: i32) -> Vec<Option<usize>> {
    let (values, valid) = (map.values(), map.nulls());
    let mut likely = 0;
    let place = |(map, ends): (usize, &[i32])| {
        let [start, end] = ends else { return None };
        let start = usize::try_from(*start).ok()?;
        let found = keys.get(start..usize::try_from(*end).ok()?)?;
        // Maps of a column mostly have their keys at the same places.
        if found.get(likely) != Some(&key) {
            likely = found.iter().position(|found| *found == key)?;
        }
        let known =
            valid.is_none_or(|valid| valid.is_valid(map)) && values.is_valid(start + likely);
        known.then_some(start + likely)
    };
    map.value_offsets().windows(2).enumerate().map(place).collect()
}

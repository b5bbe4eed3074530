//! Delete files grouped by what they can apply to: one data file, one partition or the whole table. Each group is one
//! contiguous range in the index's order.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, PrimitiveArray, RecordBatch, StringArray};
use hashbrown::{Equivalent, HashMap};

use super::delete_runs::too_many;
use super::table_facts::TableFacts;
use crate::error::{Error, Result};
use crate::predicate::stored_bounds;

const POSITION_DELETES: i32 = 1;
const EQUALITY_DELETES: i32 = 2;

/// Groups of delete files, by the key that a lookup uses.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) by_path: HashMap<String, u32>,
    pub(super) by_partition: HashMap<PartitionKey, PartitionGroups>,
    pub(super) global: Option<u32>,
    /// The range of each group in `order`.
    pub(super) spans: Vec<Range<usize>>,
    /// Whether each group holds equality deletes.
    pub(super) is_equality: Vec<bool>,
    /// Rows of the batch of delete files, by group and ascending sequence number.
    pub(super) order: Vec<u32>,
    /// Sequence numbers in the same order.
    pub(super) sequence_numbers: Vec<i64>,
}

/// A spec and the JSON text of a tuple.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PartitionKey {
    spec_id: i32,
    tuple: String,
}

/// A borrowed [`PartitionKey`] for lookups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PartitionRef<'a> {
    pub(super) spec_id: i32,
    pub(super) tuple: &'a str,
}

/// The groups of one partition.
#[derive(Debug, Default)]
pub(super) struct PartitionGroups {
    pub(super) positions: Option<u32>,
    pub(super) equality: Option<u32>,
}

impl Equivalent<PartitionKey> for PartitionRef<'_> {
    fn equivalent(&self, key: &PartitionKey) -> bool {
        self.spec_id == key.spec_id && self.tuple == key.tuple
    }
}

impl From<&PartitionRef<'_>> for PartitionKey {
    fn from(partition: &PartitionRef<'_>) -> Self {
        Self { spec_id: partition.spec_id, tuple: partition.tuple.to_owned() }
    }
}

impl Groups {
    pub(super) fn new(deletes: &RecordBatch, table: &dyn TableFacts) -> Result<Self> {
        let files = Files::of(deletes)?;
        let formats = text_column(deletes, "file_format")?;
        let contents = number_column::<Int32Type>(deletes, "content")?;
        let paths = referenced_paths(deletes)?;
        let mut groups = Self::default();
        let mut placed: Vec<(u32, i64, u32)> = Vec::with_capacity(deletes.num_rows());
        for (row, path) in paths.into_iter().enumerate() {
            if formats.value(row).eq_ignore_ascii_case("puffin") {
                return Err(Error::unsupported("deletion vectors"));
            }
            let content = contents.value(row);
            let is_global =
                content == EQUALITY_DELETES && table.is_unpartitioned(files.partition(row).spec_id);
            let group = groups.number(content, path, files.partition(row), is_global)?;
            let row_number = u32::try_from(row).ok().filter(|row| *row < i32::MAX.cast_unsigned());
            placed.push((group, files.sequence_number(row)?, row_number.ok_or_else(too_many)?));
        }
        placed.sort_unstable();
        groups.spans = vec![0..0; groups.is_equality.len()];
        for (place, (group, sequence, row)) in placed.into_iter().enumerate() {
            if let Some(span) = groups.spans.get_mut(group as usize) {
                span.start = if span.end == 0 { place } else { span.start };
                span.end = place + 1;
            }
            groups.sequence_numbers.push(sequence);
            groups.order.push(row);
        }
        Ok(groups)
    }

    /// Return the number of a delete file's group, which is created if it does not exist.
    fn number(
        &mut self,
        content: i32,
        path: Option<String>,
        partition: PartitionRef<'_>,
        is_global: bool,
    ) -> Result<u32> {
        let next = u32::try_from(self.is_equality.len()).map_err(|_| too_many())?;
        let group = match (content, path) {
            (POSITION_DELETES, Some(path)) => *self.by_path.entry(path).or_insert(next),
            (EQUALITY_DELETES, _) if is_global => *self.global.get_or_insert(next),
            (POSITION_DELETES | EQUALITY_DELETES, _) => {
                let of_partition = self.by_partition.entry_ref(&partition).or_default();
                *match content {
                    POSITION_DELETES => of_partition.positions.get_or_insert(next),
                    _ => of_partition.equality.get_or_insert(next),
                }
            }
            (other, _) => {
                let reason = format!(
                    "the content is invalid; expected 1 (position deletes) or 2 (equality deletes), got {other}"
                );
                return Err(Error::invalid("delete files", reason));
            }
        };
        if group == next {
            self.is_equality.push(content == EQUALITY_DELETES);
        }
        Ok(group)
    }
}

/// The columns of an entry batch that determine a file's groups.
pub(super) struct Files {
    sequence_numbers: PrimitiveArray<Int64Type>,
    spec_ids: PrimitiveArray<Int32Type>,
    partitions: StringArray,
}

impl Files {
    pub(super) fn of(batch: &RecordBatch) -> Result<Self> {
        Ok(Self {
            sequence_numbers: number_column(batch, "sequence_number")?,
            spec_ids: number_column(batch, "spec_id")?,
            partitions: text_column(batch, "partition")?,
        })
    }

    pub(super) fn sequence_number(&self, row: usize) -> Result<i64> {
        if self.sequence_numbers.is_null(row) {
            return Err(Error::invalid("sequence_number", "is null for a live file"));
        }
        Ok(self.sequence_numbers.value(row))
    }

    pub(super) fn partition(&self, row: usize) -> PartitionRef<'_> {
        PartitionRef { spec_id: self.spec_ids.value(row), tuple: self.partitions.value(row) }
    }
}

fn number_column<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
) -> Result<PrimitiveArray<T>> {
    let column = batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<T>());
    column.cloned().ok_or_else(|| absent(name))
}

pub(super) fn text_column(batch: &RecordBatch, name: &str) -> Result<StringArray> {
    let column = batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    column.cloned().ok_or_else(|| absent(name))
}

fn absent(name: &str) -> Error {
    Error::invalid("entry columns", format!("{name} is missing or has another type"))
}

/// The reserved field id of `file_path` in position delete files.
const DELETE_FILE_PATH_ID: i32 = 2_147_483_546;

/// Return the one data file that each position delete file refers to, if any: `referenced_data_file`, or else the path
/// that equals both bounds of the `file_path` column.
///
/// # Errors
/// `InvalidArgument` where a statistics column is not a map of bounds.
pub fn referenced_paths(deletes: &RecordBatch) -> Result<Vec<Option<String>>> {
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

//! Which delete files apply to which data files.
//!
//! A delete file applies by sequence number, and then by scope: its one data file, its partition
//! (spec and tuple), or the whole table. A lookup is one hash and one binary search; among many
//! equality deletes of one scope, those whose bounds overlap are found by an interval search.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, ListArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use hashbrown::{Equivalent, HashMap};

use super::overlap::{Overlap, Pairs};
use super::ranges::Ranges;
use super::scope::referenced_paths;
use crate::error::{Error, Result};
use crate::spec::PrimitiveType;

const POSITION_DELETES: i32 = 1;
const EQUALITY_DELETES: i32 = 2;
/// So few delete files are compared one by one.
const FEW: usize = 12;

/// What the index must know of the table.
pub trait TableFacts {
    /// Whether a spec has no fields or only void ones: its equality deletes are global.
    fn is_unpartitioned(&self, spec_id: i32) -> bool;

    /// The type of a field in any of the table's schemas, and whether it lies inside a struct.
    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)>;
}

/// Delete files by what they can apply to.
#[derive(Debug)]
pub struct DeleteIndex {
    by_path: HashMap<String, Deletes>,
    by_partition: HashMap<PartitionKey, PartitionDeletes>,
    global: EqualityDeletes,
    overlap: Overlap,
}

/// A spec and the JSON text of a tuple.
#[derive(Debug, PartialEq, Eq, Hash)]
struct PartitionKey {
    spec_id: i32,
    tuple: String,
}

/// A [`PartitionKey`] that is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PartitionRef<'a> {
    spec_id: i32,
    tuple: &'a str,
}

/// Delete files of one partition.
#[derive(Debug, Default)]
struct PartitionDeletes {
    positions: Deletes,
    equality: EqualityDeletes,
}

/// Equality delete files of one scope.
#[derive(Debug, Default)]
struct EqualityDeletes {
    deletes: Deletes,
    /// The same by their bounds, where there are more than a few.
    ranges: Option<Ranges>,
}

/// Rows of the deletes batch by ascending data sequence number.
#[derive(Debug, Default)]
struct Deletes {
    sequence_numbers: Vec<i64>,
    rows: Vec<i32>,
}

impl DeleteIndex {
    /// Index the live delete files of a scan: entry columns with sequence numbers filled in.
    /// Without the bounds columns, equality deletes are paired by sequence and partition alone.
    ///
    /// # Errors
    /// `InvalidArgument` where a column is absent or a sequence number is null, `Corrupt` where
    /// statistics cannot be decoded, `Unsupported` for deletion vectors.
    pub fn new(deletes: &RecordBatch, table: &dyn TableFacts) -> Result<Self> {
        let files = Files::of(deletes)?;
        let formats = text_column(deletes, "file_format")?;
        let contents = number_column::<Int32Type>(deletes, "content")?;
        let paths = referenced_paths(deletes)?;
        let mut index = Self {
            by_path: HashMap::new(),
            by_partition: HashMap::new(),
            global: EqualityDeletes::default(),
            overlap: Overlap::new(deletes, table)?,
        };
        // In the order of sequence numbers, so that each group is in it too.
        for row in files.rows_by_sequence_number()? {
            if formats.value(row).eq_ignore_ascii_case("puffin") {
                return Err(Error::unsupported("a deletion vector"));
            }
            let group = match (contents.value(row), paths.get(row).and_then(Option::as_deref)) {
                (POSITION_DELETES, Some(path)) => index.by_path.entry_ref(path).or_default(),
                (POSITION_DELETES, None) => &mut index.partition(&files, row).positions,
                (EQUALITY_DELETES, _) if table.is_unpartitioned(files.spec_ids.value(row)) => {
                    &mut index.global.deletes
                }
                (EQUALITY_DELETES, _) => &mut index.partition(&files, row).equality.deletes,
                (other, _) => {
                    let reason = format!("content {other} is not that of a delete file");
                    return Err(Error::invalid("delete files", reason));
                }
            };
            group.sequence_numbers.push(files.sequence_number(row)?);
            group.rows.push(i32::try_from(row).map_err(|_| too_many())?);
        }
        let Self { by_partition, global, overlap, .. } = &mut index;
        for partition in by_partition.values_mut() {
            partition.equality.index(overlap);
        }
        global.index(overlap);
        Ok(index)
    }

    fn partition(&mut self, files: &Files, row: usize) -> &mut PartitionDeletes {
        let PartitionRef { spec_id, tuple } = files.partition(row);
        let key = PartitionKey { spec_id, tuple: tuple.to_owned() };
        self.by_partition.entry(key).or_default()
    }

    /// Whether there is no delete file.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
            && self.by_partition.is_empty()
            && self.global.deletes.rows.is_empty()
    }

    /// For each data file (entry columns), the ascending rows of the deletes batch that apply to
    /// it: `list<int32>`, empty where none does.
    ///
    /// # Errors
    /// Those of [`DeleteIndex::new`]; `InvalidArgument` for more pairs than a list can count.
    pub fn applying(&self, data: &RecordBatch) -> Result<ListArray> {
        let files = Files::of(data)?;
        let paths = text_column(data, "file_path")?;
        let pairs = self.overlap.with(data)?;
        let mut rows: Vec<i32> = Vec::new();
        let mut ends: Vec<i32> = Vec::with_capacity(data.num_rows() + 1);
        ends.push(0);
        // Files of one partition are often neighbours.
        let mut last: Option<(PartitionRef<'_>, Option<&PartitionDeletes>)> = None;
        for file in 0..data.num_rows() {
            let start = rows.len();
            let sequence = files.sequence_number(file)?;
            if !self.by_path.is_empty()
                && let Some(deletes) = self.by_path.get(paths.value(file))
            {
                rows.extend_from_slice(deletes.from(sequence));
            }
            if !self.by_partition.is_empty() {
                let key = files.partition(file);
                let known = last.filter(|(known, _)| *known == key).map(|(_, deletes)| deletes);
                let deletes = known.unwrap_or_else(|| self.by_partition.get(&key));
                last = Some((key, deletes));
                if let Some(deletes) = deletes {
                    rows.extend_from_slice(deletes.positions.from(sequence));
                    deletes.equality.applying(file, sequence, &pairs, &mut rows);
                }
            }
            self.global.applying(file, sequence, &pairs, &mut rows);
            rows[start..].sort_unstable();
            ends.push(i32::try_from(rows.len()).map_err(|_| too_many())?);
        }
        let item = Arc::new(Field::new("item", DataType::Int32, true));
        let rows = Arc::new(Int32Array::from(rows));
        ListArray::try_new(item, OffsetBuffer::new(ends.into()), rows, None)
            .map_err(|error| Error::invalid("delete files", error.to_string()))
    }
}

impl Deletes {
    /// Position deletes apply to files of their own commit too.
    fn from(&self, sequence: i64) -> &[i32] {
        let start = self.sequence_numbers.partition_point(|found| *found < sequence);
        self.rows.get(start..).unwrap_or_default()
    }

    /// Equality deletes apply to older files only.
    fn after(&self, sequence: i64) -> &[i32] {
        let start = self.sequence_numbers.partition_point(|found| *found <= sequence);
        self.rows.get(start..).unwrap_or_default()
    }
}

impl EqualityDeletes {
    fn index(&mut self, overlap: &Overlap) {
        if self.deletes.rows.len() > FEW {
            self.ranges = Ranges::new(&self.deletes.rows, &self.deletes.sequence_numbers, overlap);
        }
    }

    fn applying(&self, file: usize, sequence: i64, pairs: &Pairs<'_>, rows: &mut Vec<i32>) {
        let newer = self.deletes.after(sequence);
        let may = |row: i32| pairs.may(file, row.cast_unsigned() as usize);
        if newer.len() > FEW
            && let Some(ranges) = &self.ranges
        {
            let mut take = |(newest, row): (i64, i32)| {
                if newest > sequence && may(row) {
                    rows.push(row);
                }
            };
            if ranges.overlapping(file, pairs, &mut take) {
                return;
            }
        }
        rows.extend(newer.iter().copied().filter(|row| may(*row)));
    }
}

impl Equivalent<PartitionKey> for PartitionRef<'_> {
    fn equivalent(&self, key: &PartitionKey) -> bool {
        self.spec_id == key.spec_id && self.tuple == key.tuple
    }
}

/// The columns by which a file is placed.
struct Files {
    sequence_numbers: PrimitiveArray<Int64Type>,
    spec_ids: PrimitiveArray<Int32Type>,
    partitions: StringArray,
}

impl Files {
    fn of(batch: &RecordBatch) -> Result<Self> {
        Ok(Self {
            sequence_numbers: number_column(batch, "sequence_number")?,
            spec_ids: number_column(batch, "spec_id")?,
            partitions: text_column(batch, "partition")?,
        })
    }

    fn sequence_number(&self, row: usize) -> Result<i64> {
        if self.sequence_numbers.is_null(row) {
            return Err(Error::invalid("sequence_number", "a live file has none"));
        }
        Ok(self.sequence_numbers.value(row))
    }

    fn partition(&self, row: usize) -> PartitionRef<'_> {
        PartitionRef { spec_id: self.spec_ids.value(row), tuple: self.partitions.value(row) }
    }

    fn rows_by_sequence_number(&self) -> Result<Vec<usize>> {
        let mut rows: Vec<(i64, usize)> = Vec::with_capacity(self.spec_ids.len());
        for row in 0..self.spec_ids.len() {
            rows.push((self.sequence_number(row)?, row));
        }
        rows.sort_unstable();
        Ok(rows.into_iter().map(|(_, row)| row).collect())
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
    Error::invalid("entry columns", format!("{name} is absent or of another type"))
}

fn too_many() -> Error {
    Error::invalid("delete files", "there are more than a 32-bit index can count")
}

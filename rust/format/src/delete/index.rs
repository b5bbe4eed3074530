//! Which delete files apply to which data files.
//!
//! A delete file applies by sequence number, and then by scope: its one data file, its partition
//! (spec and tuple), or the whole table. Every lookup is one hash and one binary search.

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, ListArray, PrimitiveArray, RecordBatch, StringArray};
use hashbrown::HashMap;

use super::overlap::Overlap;
use super::scope::referenced_paths;
use crate::error::{Error, Result};
use crate::spec::PrimitiveType;

const POSITION_DELETES: i32 = 1;
const EQUALITY_DELETES: i32 = 2;

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
    positions_by_partition: HashMap<PartitionKey, Deletes>,
    equality_by_partition: HashMap<PartitionKey, Deletes>,
    equality_global: Deletes,
    overlap: Overlap,
}

/// A spec and the JSON text of a tuple.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PartitionKey {
    spec_id: i32,
    tuple: String,
}

/// Rows of the deletes batch by ascending data sequence number.
#[derive(Debug, Default)]
struct Deletes(Vec<(i64, usize)>);

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
            positions_by_partition: HashMap::new(),
            equality_by_partition: HashMap::new(),
            equality_global: Deletes::default(),
            overlap: Overlap::new(deletes, table)?,
        };
        for row in 0..deletes.num_rows() {
            if formats.value(row).eq_ignore_ascii_case("puffin") {
                return Err(Error::unsupported("a deletion vector"));
            }
            let sequence = files.sequence_number(row)?;
            let group = match (contents.value(row), paths.get(row).cloned().flatten()) {
                (POSITION_DELETES, Some(path)) => index.by_path.entry(path).or_default(),
                (POSITION_DELETES, None) => {
                    index.positions_by_partition.entry(files.partition(row)).or_default()
                }
                (EQUALITY_DELETES, _) if table.is_unpartitioned(files.spec_ids.value(row)) => {
                    &mut index.equality_global
                }
                (EQUALITY_DELETES, _) => {
                    index.equality_by_partition.entry(files.partition(row)).or_default()
                }
                (other, _) => {
                    let reason = format!("content {other} is not that of a delete file");
                    return Err(Error::invalid("delete files", reason));
                }
            };
            group.0.push((sequence, row));
        }
        index.sort();
        Ok(index)
    }

    /// Whether there is no delete file.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
            && self.positions_by_partition.is_empty()
            && self.equality_by_partition.is_empty()
            && self.equality_global.0.is_empty()
    }

    /// For each data file (entry columns), the ascending rows of the deletes batch that apply to
    /// it: `list<int32>`, empty where none does.
    ///
    /// # Errors
    /// Those of [`DeleteIndex::new`].
    pub fn applying(&self, data: &RecordBatch) -> Result<ListArray> {
        let files = Files::of(data)?;
        let paths = text_column(data, "file_path")?;
        let overlap = self.overlap.with(data)?;
        let mut lists = ListBuilder::new(Int32Builder::new());
        let mut rows: Vec<usize> = Vec::new();
        for file in 0..data.num_rows() {
            rows.clear();
            let sequence = files.sequence_number(file)?;
            if let Some(deletes) = self.by_path.get(paths.value(file)) {
                rows.extend(deletes.from(sequence));
            }
            let scopes =
                !(self.positions_by_partition.is_empty() && self.equality_by_partition.is_empty());
            let partition = scopes.then(|| files.partition(file));
            if let Some(partition) = &partition {
                if let Some(deletes) = self.positions_by_partition.get(partition) {
                    rows.extend(deletes.from(sequence));
                }
                if let Some(deletes) = self.equality_by_partition.get(partition) {
                    rows.extend(deletes.after(sequence).filter(|row| overlap.may(file, *row)));
                }
            }
            rows.extend(self.equality_global.after(sequence).filter(|row| overlap.may(file, *row)));
            rows.sort_unstable();
            for row in &rows {
                let row = i32::try_from(*row).map_err(|_| too_many())?;
                lists.values().append_value(row);
            }
            lists.append(true);
        }
        Ok(lists.finish())
    }

    fn sort(&mut self) {
        let groups = self.by_path.values_mut();
        let groups = groups.chain(self.positions_by_partition.values_mut());
        for group in groups.chain(self.equality_by_partition.values_mut()) {
            group.0.sort_unstable();
        }
        self.equality_global.0.sort_unstable();
    }
}

impl Deletes {
    /// Position deletes apply to files of their own commit too.
    fn from(&self, sequence: i64) -> impl Iterator<Item = usize> + '_ {
        let start = self.0.partition_point(|(found, _)| *found < sequence);
        self.0.iter().skip(start).map(|(_, row)| *row)
    }

    /// Equality deletes apply to older files only.
    fn after(&self, sequence: i64) -> impl Iterator<Item = usize> + '_ {
        let start = self.0.partition_point(|(found, _)| *found <= sequence);
        self.0.iter().skip(start).map(|(_, row)| *row)
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

    fn partition(&self, row: usize) -> PartitionKey {
        PartitionKey {
            spec_id: self.spec_ids.value(row),
            tuple: self.partitions.value(row).to_owned(),
        }
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

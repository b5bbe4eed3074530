//! The delete files that apply to each data file, as runs of rows in the batch of delete files.
//!
//! Delete files of one scope are adjacent and ordered by sequence number, so delete files that are newer than a data file form
//! one run: a thousand data files of a partition do not repeat its thousand delete files.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, ListArray, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields};

use crate::error::{Error, Result};

/// Return the Arrow type of a column of runs: `list<struct<first: int32, count: int32>>`.
pub fn delete_runs_type() -> DataType {
    DataType::List(item())
}

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(fields()), true))
}

fn fields() -> Fields {
    let int = |name| Field::new(name, DataType::Int32, true);
    Fields::from(vec![int("first"), int("count")])
}

/// Runs of rows of the batch of delete files for each data file, ascending and disjoint.
#[derive(Debug, Default)]
pub struct DeleteRuns {
    first: Vec<i32>,
    count: Vec<i32>,
    /// The end of each file's runs.
    ends: Vec<i32>,
}

impl DeleteRuns {
    /// Create empty runs for a number of files.
    pub fn none(files: usize) -> Self {
        Self { ends: vec![0; files], ..Self::default() }
    }

    /// Read the runs from a column of [`delete_runs_type`].
    pub fn of(column: &ListArray) -> Self {
        let mut found = Self::with_capacity(column.len());
        for file in 0..column.len() {
            for (first, count) in delete_runs(column, file) {
                found.first.push(first);
                found.count.push(count);
            }
            // The column's offsets have this type too.
            found.ends.push((found.first.len() as u32).cast_signed());
        }
        found
    }

    pub(super) fn with_capacity(files: usize) -> Self {
        Self { ends: Vec::with_capacity(files), ..Self::default() }
    }

    /// Add the runs of one file, which may be adjacent and in any order.
    ///
    /// # Errors
    /// `InvalidArgument` for 2^31 runs or more.
    pub fn push(&mut self, runs: &mut [(u32, u32)]) -> Result<()> {
        if runs.len() > 1 {
            runs.sort_unstable();
        }
        let start = self.first.len();
        for (first, count) in runs.iter().filter(|(_, count)| *count > 0) {
            let (first, count) = (first.cast_signed(), count.cast_signed());
            let touched = match (self.first.get(start..), self.count.last_mut()) {
                (Some([.., last]), Some(known)) if *last + *known == first => Some(known),
                _ => None,
            };
            match touched {
                Some(known) => *known += count,
                None => {
                    self.first.push(first);
                    self.count.push(count);
                }
            }
        }
        self.ends.push(i32::try_from(self.first.len()).map_err(|_| too_many())?);
        Ok(())
    }

    /// Remove the rows that are in no run. Returns the runs over the remaining rows, and those rows. `rows` is the number
    /// of all rows.
    pub fn compact(mut self, rows: usize) -> (Self, Vec<u32>) {
        let covered = if self.first.len() < rows / 8 { self.merged() } else { self.counted(rows) };
        let mut used = Vec::new();
        let mut moved = Vec::with_capacity(covered.len());
        for range in &covered {
            moved.push((range.start, used.len() as u32));
            used.extend(range.clone());
        }
        for first in &mut self.first {
            let row = first.cast_unsigned();
            let next = moved.partition_point(|(start, _)| *start <= row);
            if let Some((start, number)) = next.checked_sub(1).and_then(|at| moved.get(at)) {
                *first = (row - start + number).cast_signed();
            }
        }
        (self, used)
    }

    fn ranges(&self) -> impl Iterator<Item = Range<u32>> {
        let both = self.first.iter().zip(&self.count);
        both.map(|(first, count)| {
            first.cast_unsigned()..first.saturating_add(*count).cast_unsigned()
        })
    }

    /// Return the ranges of rows that runs cover, by sorting: for few runs.
    fn merged(&self) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = self.ranges().collect();
        runs.sort_unstable_by_key(|run| (run.start, run.end));
        let mut covered: Vec<Range<u32>> = Vec::new();
        for run in runs {
            match covered.last_mut() {
                Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
                _ => covered.push(run),
            }
        }
        covered
    }

    /// Return the ranges of rows that runs cover, by counting per row: for many runs.
    fn counted(&self, rows: usize) -> Vec<Range<u32>> {
        let mut changes = vec![0_i64; rows + 1];
        for run in self.ranges() {
            for (at, change) in [(run.start, 1), (run.end, -1)] {
                if let Some(slot) = changes.get_mut(at as usize) {
                    *slot += change;
                }
            }
        }
        let mut covered: Vec<Range<u32>> = Vec::new();
        let mut open = 0;
        for (row, change) in (0..).zip(changes) {
            let was_open = open > 0;
            open += change;
            match (was_open, open > 0, covered.last_mut()) {
                (false, true, _) => covered.push(row..row),
                (true, false, Some(last)) => last.end = row,
                _ => {}
            }
        }
        covered
    }

    /// Convert to a column of [`delete_runs_type`].
    ///
    /// # Errors
    /// None in practice: the offsets are consistent.
    pub fn into_array(self) -> Result<ListArray> {
        let numbers = |values: Vec<i32>| Arc::new(Int32Array::from(values)) as ArrayRef;
        let columns = vec![numbers(self.first), numbers(self.count)];
        let invalid =
            |error: arrow_schema::ArrowError| Error::invalid("delete files", error.to_string());
        let runs = StructArray::try_new(fields(), columns, None).map_err(invalid)?;
        let mut offsets = vec![0];
        offsets.extend(self.ends);
        ListArray::try_new(item(), OffsetBuffer::new(offsets.into()), Arc::new(runs), None)
            .map_err(invalid)
    }
}

/// Return the runs of one row of a column of [`delete_runs_type`] as pairs of first row and count; none for null.
pub fn delete_runs(column: &ListArray, row: usize) -> Vec<(i32, i32)> {
    if column.is_null(row) {
        return vec![];
    }
    let offsets = column.value_offsets();
    let both = column.values().as_struct_opt().and_then(|runs| {
        let number = |name| {
            let values = runs.column_by_name(name)?.as_primitive_opt::<Int32Type>()?;
            Some(values.values())
        };
        Some((number("first")?, number("count")?))
    });
    let (Some((first, count)), Some([start, end])) = (both, offsets.get(row..row + 2)) else {
        return vec![];
    };
    let runs = start.cast_unsigned() as usize..end.cast_unsigned() as usize;
    let (first, count) = (first.get(runs.clone()), count.get(runs));
    let (first, count) = (first.unwrap_or_default(), count.unwrap_or_default());
    first.iter().copied().zip(count.iter().copied()).collect()
}

pub(super) fn too_many() -> Error {
    Error::invalid("delete files", "there are too many; expected fewer than 2^31")
}

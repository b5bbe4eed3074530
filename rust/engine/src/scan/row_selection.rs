//! Rows of a scan's data files, selected or excluded by position.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use icefloe_format::Error as FormatError;
use roaring::RoaringTreemap;

use crate::error::Result;

/// Positions in the files of a scan's tasks, and whether the scan returns the rows at them or all others.
#[derive(Debug, Clone)]
pub struct RowSelection {
    positions: HashMap<usize, Arc<RoaringTreemap>>,
    keep: bool,
}

/// The rows of one task that a selection leaves.
pub(super) enum SelectedRows {
    All,
    Nothing,
    Without(Arc<RoaringTreemap>),
}

impl RowSelection {
    /// Return the rows of a batch, in any order: the number of the task (int32), and the position in its file (int64) or the
    /// first position (int64) and the count (int64) of a run of rows. `keep` returns these rows only, its opposite all others.
    ///
    /// # Errors
    /// `InvalidArgument` for other columns, nulls or negative values.
    pub fn from_batch(batch: &RecordBatch, keep: bool) -> Result<Self> {
        let longs = |column: &ArrayRef| column.as_primitive_opt::<Int64Type>().cloned();
        let (tasks, firsts, counts) = match batch.columns() {
            [tasks, positions] => (tasks, longs(positions), None),
            [tasks, firsts, counts] => {
                (tasks, longs(firsts), Some(longs(counts).ok_or_else(wrong)?))
            }
            _ => return Err(wrong().into()),
        };
        if batch.columns().iter().any(|column| column.null_count() > 0) {
            return Err(wrong().into());
        }
        let tasks = tasks.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?;
        let firsts = firsts.ok_or_else(wrong)?;
        let mut sets: HashMap<usize, RoaringTreemap> = HashMap::new();
        let mut start = 0;
        for of_task in tasks.values().chunk_by(|one, other| one == other) {
            let Some(task) = of_task.first().and_then(|task| usize::try_from(*task).ok()) else {
                return Err(wrong().into());
            };
            let set = sets.entry(task).or_default();
            let firsts = firsts.slice(start, of_task.len());
            match &counts {
                None => insert_positions(set, firsts.values())?,
                Some(counts) => {
                    insert_runs(set, firsts.values(), counts.slice(start, of_task.len()).values())?;
                }
            }
            start += of_task.len();
        }
        let positions = sets.into_iter().map(|(task, set)| (task, Arc::new(set))).collect();
        Ok(Self { positions, keep })
    }

    /// Return the rows of a task whose file has `rows` rows.
    ///
    /// # Errors
    /// `InvalidArgument` where the selected rows are few of an unknown number.
    pub(super) fn of_task(&self, task: usize, rows: i64) -> Result<SelectedRows> {
        match (self.positions.get(&task), self.keep) {
            (None, true) => Ok(SelectedRows::Nothing),
            (None, false) => Ok(SelectedRows::All),
            (Some(positions), false) => Ok(SelectedRows::Without(Arc::clone(positions))),
            (Some(positions), true) => {
                let rows = u64::try_from(rows).map_err(|_| {
                    let reason = "expected the record count of a file with selected rows, got none";
                    FormatError::invalid("files", reason)
                })?;
                let mut others = RoaringTreemap::new();
                others.insert_range(0..rows);
                others -= positions.as_ref();
                Ok(SelectedRows::Without(Arc::new(others)))
            }
        }
    }
}

fn insert_positions(set: &mut RoaringTreemap, positions: &[i64]) -> Result<()> {
    let positions: Result<Vec<u64>, _> = positions.iter().map(|&pos| u64::try_from(pos)).collect();
    let positions = positions.map_err(|_| wrong())?;
    // Appending skips the search for the last position, which a bitmap does for each single one.
    if set.append(positions.iter().copied()).is_err() {
        set.extend(positions);
    }
    Ok(())
}

fn insert_runs(set: &mut RoaringTreemap, firsts: &[i64], counts: &[i64]) -> Result<()> {
    for (first, count) in firsts.iter().zip(counts) {
        let (Ok(first), Ok(count)) = (u64::try_from(*first), u64::try_from(*count)) else {
            return Err(wrong().into());
        };
        set.insert_range(first..first.saturating_add(count));
    }
    Ok(())
}

fn wrong() -> FormatError {
    let reason = "expected task numbers (int) and positions or runs of rows (long), of 0 or more and not null";
    FormatError::invalid("rows", reason)
}

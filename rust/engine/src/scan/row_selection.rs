//! Rows of a scan's data files, selected or excluded by position.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
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
    /// Return the rows of a batch: the number of the task (int32), and the position in its file (int64), in any order.
    /// `keep` returns these rows only, its opposite all others.
    ///
    /// # Errors
    /// `InvalidArgument` for other columns, nulls or negative values.
    pub fn from_batch(batch: &RecordBatch, keep: bool) -> Result<Self> {
        let wrong = || {
            let reason =
                "expected task numbers (int) and positions (long), of 0 or more and not null";
            FormatError::invalid("rows", reason)
        };
        let [tasks, positions] = batch.columns() else { return Err(wrong().into()) };
        if tasks.null_count() + positions.null_count() > 0 {
            return Err(wrong().into());
        }
        let tasks = tasks.as_primitive_opt::<Int32Type>().ok_or_else(wrong)?;
        let positions = positions.as_primitive_opt::<Int64Type>().ok_or_else(wrong)?;
        let mut sets: HashMap<usize, RoaringTreemap> = HashMap::new();
        let mut start = 0;
        for run in tasks.values().chunk_by(|one, other| one == other) {
            let Some(task) = run.first().and_then(|task| usize::try_from(*task).ok()) else {
                return Err(wrong().into());
            };
            let set = sets.entry(task).or_default();
            let of_task = positions.values().iter().skip(start).take(run.len());
            let of_task: Result<Vec<u64>, _> = of_task.map(|&pos| u64::try_from(pos)).collect();
            let of_task = of_task.map_err(|_| wrong())?;
            // Appending skips the search for the last position, which a bitmap does for each single one.
            if set.append(of_task.iter().copied()).is_err() {
                set.extend(of_task);
            }
            start += run.len();
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

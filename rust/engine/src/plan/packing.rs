//! Tasks packed into groups of about equal weight.

use std::collections::VecDeque;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, Int64Array, RecordBatch, UInt32Array};
use arrow_select::take::take_record_batch;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::delete_runs;

use super::columns::invalid;
use super::deletes::own_deletes;
use crate::error::Result;

/// The target and limits of packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// Target weight of a group in bytes.
    pub target_size: u64,
    /// The most groups that are open at once. A task is added to the first open group with room for it.
    pub lookback: usize,
    /// The weight of opening a file, in bytes.
    pub open_file_cost: u64,
}

/// Cut a plan into groups of tasks, each with its own deletes. The weight of a task is the bytes of the task and its
/// deletes, and at least the cost of opening the files.
///
/// # Errors
/// `InvalidArgument` for a target or lookback of 0, and for batches that are not of a plan.
pub fn pack(
    files: &RecordBatch,
    deletes: &RecordBatch,
    packing: Packing,
) -> Result<Vec<(RecordBatch, RecordBatch)>> {
    if packing.target_size == 0 || packing.lookback == 0 {
        return Err(FormatError::invalid(
            "packing",
            "expected a target and a lookback of 1 or more",
        )
        .into());
    }
    let weights = weights(files, deletes, packing.open_file_cost)?;
    let groups = groups(&weights, packing).into_iter().map(|rows| {
        let files = take_record_batch(files, &UInt32Array::from(rows)).map_err(invalid)?;
        own_deletes(&files, deletes)
    });
    groups.collect()
}

fn weights(files: &RecordBatch, deletes: &RecordBatch, open_file_cost: u64) -> Result<Vec<u64>> {
    let lengths = longs(files, "length")?;
    let sizes = longs(deletes, "file_size_in_bytes")?;
    let mut before = vec![0_u64];
    for size in sizes.values() {
        before.push(before.last().unwrap_or(&0).saturating_add(size.unsigned_abs()));
    }
    let size = |(first, count): &(i32, i32)| {
        let at = |row: i32| before.get(usize::try_from(row).ok()?).copied();
        at(first.saturating_add(*count)).zip(at(*first)).map_or(0, |(end, start)| end - start)
    };
    let runs = files.column_by_name("deletes").and_then(|column| column.as_list_opt::<i32>());
    let runs =
        runs.ok_or_else(|| FormatError::invalid("files", "expected deletes as runs of rows"))?;
    let weight = |row: usize| {
        let runs = delete_runs(runs, row);
        let bytes =
            runs.iter().map(size).fold(lengths.value(row).unsigned_abs(), u64::saturating_add);
        let opened = runs.iter().map(|(_, count)| u64::from(count.unsigned_abs())).sum::<u64>() + 1;
        bytes.max(opened.saturating_mul(open_file_cost))
    };
    Ok((0..files.num_rows()).map(weight).collect())
}

/// Return the rows of each group, ascending. When no more groups may be open, the fullest one is closed.
fn groups(weights: &[u64], packing: Packing) -> Vec<Vec<u32>> {
    let mut complete = Vec::new();
    let mut open: VecDeque<(u64, Vec<u32>)> = VecDeque::new();
    for (row, weight) in (0..).zip(weights) {
        let room =
            |(used, _): &&mut (u64, Vec<u32>)| used.saturating_add(*weight) <= packing.target_size;
        if let Some((used, rows)) = open.iter_mut().find(room) {
            *used += weight;
            rows.push(row);
            continue;
        }
        open.push_back((*weight, vec![row]));
        if open.len() > packing.lookback {
            let fullest = (0..open.len())
                .max_by_key(|at| (open.get(*at).map(|group| group.0), usize::MAX - at));
            complete.extend(fullest.and_then(|at| open.remove(at)).map(|(_, rows)| rows));
        }
    }
    complete.extend(open.into_iter().map(|(_, rows)| rows));
    complete
}

fn longs<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a Int64Array> {
    let column = batch.column_by_name(name).and_then(|it| it.as_primitive_opt::<Int64Type>());
    let absent = || FormatError::invalid("packing", format!("expected an int64 column {name}"));
    Ok(column.filter(|column| column.null_count() == 0).ok_or_else(absent)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(weights: &[u64], target_size: u64, lookback: usize) -> Vec<Vec<u32>> {
        groups(weights, Packing { target_size, lookback, open_file_cost: 0 })
    }

    #[test]
    fn task_is_added_to_the_first_open_group_with_room() {
        assert_eq!(packed(&[6, 6, 4, 4, 9], 10, 10), [vec![0, 2], vec![1, 3], vec![4]]);
    }

    #[test]
    fn heavier_open_group_is_complete_when_a_lighter_group_starts() {
        let found = packed(&[6, 6, 4, 4, 9], 10, 1);
        assert_eq!(found, [vec![0], vec![1, 2], vec![4], vec![3]]);
    }

    #[test]
    fn fullest_group_is_complete_when_too_many_are_open() {
        assert_eq!(packed(&[5, 9, 8, 4], 10, 2), [vec![1], vec![0, 3], vec![2]]);
    }

    #[test]
    fn task_above_the_target_is_a_group() {
        assert_eq!(packed(&[1, 30, 1], 10, 5), [vec![0, 2], vec![1]]);
    }
}

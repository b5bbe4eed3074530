//! Sorted runs merged into one sorted sequence of batches.

use std::cmp::Ordering;

use arrow_array::RecordBatch;

use super::loser_tree::LoserTree;
use super::row_order::{RowKeys, RowOrder};
use super::sort::gather;
use super::sorted_run::{Run, RunReader};
use crate::error::Result;

/// A run and its next row.
struct Cursor {
    reader: RunReader,
    /// Position of the current batch in the batches of the merge.
    batch: usize,
    keys: RowKeys,
    row: usize,
}

/// Merges runs; of rows with equal keys those of earlier runs are first.
pub(super) struct MergedRuns {
    cursors: Cursors,
    tree: LoserTree,
    /// The batches that pending rows or cursors refer to.
    batches: Vec<RecordBatch>,
    batch_rows: usize,
}

/// The cursors of all runs, `None` for a run that has ended.
#[derive(Default)]
struct Cursors {
    cursors: Vec<Option<Cursor>>,
    /// The first bytes of each cursor's next key; the highest number for a run that has ended.
    prefixes: Vec<u128>,
}

impl Cursors {
    fn set(&mut self, run: usize, cursor: Option<Cursor>) {
        self.prefixes[run] = cursor.as_ref().map_or(u128::MAX, |cursor| cursor.keys.prefix(0));
        self.cursors[run] = cursor;
    }

    /// Whether the next row of one run comes before that of another.
    fn less(&self, left: usize, right: usize) -> bool {
        match self.prefixes[left].cmp(&self.prefixes[right]) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => match (&self.cursors[left], &self.cursors[right]) {
                (Some(one), Some(other)) => {
                    let keys = one.keys.key(one.row).cmp(other.keys.key(other.row));
                    keys.then(left.cmp(&right)).is_lt()
                }
                (one, other) => (one.is_none(), left) < (other.is_none(), right),
            },
        }
    }
}

impl MergedRuns {
    /// Merge runs into batches of `batch_rows` rows.
    pub(super) fn new(runs: Vec<Run>, order: &RowOrder, batch_rows: usize) -> Result<Self> {
        let (mut cursors, mut batches) = (Cursors::default(), vec![]);
        for run in runs {
            let cursor = advance(run.open(order)?, order, &mut batches)?;
            let position = cursors.cursors.len();
            cursors.cursors.push(None);
            cursors.prefixes.push(u128::MAX);
            cursors.set(position, cursor);
        }
        let tree = LoserTree::new(cursors.cursors.len(), |left, right| cursors.less(left, right));
        Ok(Self { cursors, tree, batches, batch_rows })
    }

    /// The next rows and the first bytes of their keys, `None` after the last.
    pub(super) fn next_batch(
        &mut self,
        order: &RowOrder,
    ) -> Result<Option<(RecordBatch, Vec<u128>)>> {
        self.forget_consumed();
        let mut rows = Vec::with_capacity(self.batch_rows);
        let mut keys = Vec::with_capacity(self.batch_rows);
        while rows.len() < self.batch_rows {
            let Some(least) = self.tree.least() else { break };
            let Some(Some(cursor)) = self.cursors.cursors.get_mut(least) else { break };
            rows.push((cursor.batch, cursor.row));
            keys.push(self.cursors.prefixes[least]);
            cursor.row += 1;
            if cursor.row < cursor.keys.len() {
                self.cursors.prefixes[least] = cursor.keys.prefix(cursor.row);
            } else if let Some(ended) = self.cursors.cursors[least].take() {
                let next = advance(ended.reader, order, &mut self.batches)?;
                self.cursors.set(least, next);
            }
            let cursors = &self.cursors;
            self.tree.replay(|left, right| cursors.less(left, right));
        }
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some((gather(&self.batches, &rows)?, keys)))
    }

    /// Drop batches whose rows were all emitted.
    fn forget_consumed(&mut self) {
        let mut held = Vec::with_capacity(self.cursors.cursors.len());
        for cursor in self.cursors.cursors.iter_mut().flatten() {
            held.push(self.batches[cursor.batch].clone());
            cursor.batch = held.len() - 1;
        }
        self.batches = held;
    }
}

/// The cursor at the next batch of a run, `None` after the last.
fn advance(
    mut reader: RunReader,
    order: &RowOrder,
    batches: &mut Vec<RecordBatch>,
) -> Result<Option<Cursor>> {
    while let Some((batch, keys)) = reader.next_batch(order)? {
        if batch.num_rows() > 0 {
            batches.push(batch);
            return Ok(Some(Cursor { reader, batch: batches.len() - 1, keys, row: 0 }));
        }
    }
    Ok(None)
}

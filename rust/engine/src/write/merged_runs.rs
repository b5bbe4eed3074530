//! Sorted runs merged into one sorted sequence of batches.

use std::cmp::Ordering;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;

use super::loser_tree::LoserTree;
use super::row_order::{RowKeys, RowOrder};
use super::run_memory::RunMemory;
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
    held: Held,
    batch_rows: usize,
}

/// The batches that pending rows or cursors refer to.
#[derive(Default)]
struct Held {
    batches: Vec<RecordBatch>,
    /// The memory of each batch.
    bytes: Vec<Buffer>,
    memory: RunMemory,
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

    /// Return whether the next row of one run comes before that of another.
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
        let (mut cursors, mut held) = (Cursors::default(), Held::default());
        for run in runs {
            let cursor = held.advance(run.open(order), order)?;
            let position = cursors.cursors.len();
            cursors.cursors.push(None);
            cursors.prefixes.push(u128::MAX);
            cursors.set(position, cursor);
        }
        let tree = LoserTree::new(cursors.cursors.len(), |left, right| cursors.less(left, right));
        Ok(Self { cursors, tree, held, batch_rows })
    }

    /// Return the next rows and the first bytes of their keys, `None` after the last.
    pub(super) fn next_batch(
        &mut self,
        order: &RowOrder,
    ) -> Result<Option<(RecordBatch, Vec<u128>)>> {
        self.held.forget_consumed(&mut self.cursors);
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
                let next = self.held.advance(ended.reader, order)?;
                self.cursors.set(least, next);
            }
            let cursors = &self.cursors;
            self.tree.replay(|left, right| cursors.less(left, right));
        }
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some((gather(&self.held.batches, &rows)?, keys)))
    }
}

impl Held {
    /// Return the cursor at the next batch of a run, `None` after the last.
    fn advance(&mut self, mut reader: RunReader, order: &RowOrder) -> Result<Option<Cursor>> {
        while let Some(next) = reader.next_batch(order, &mut self.memory)? {
            if next.rows.num_rows() > 0 {
                self.batches.push(next.rows);
                self.bytes.push(next.bytes);
                let batch = self.batches.len() - 1;
                return Ok(Some(Cursor { reader, batch, keys: next.keys, row: 0 }));
            }
        }
        Ok(None)
    }

    /// Drop batches whose rows were all emitted, and use their memory again.
    fn forget_consumed(&mut self, cursors: &mut Cursors) {
        let mut held = Self { memory: std::mem::take(&mut self.memory), ..Self::default() };
        for cursor in cursors.cursors.iter_mut().flatten() {
            held.batches.push(self.batches[cursor.batch].clone());
            held.bytes.push(self.bytes[cursor.batch].clone());
            cursor.batch = held.batches.len() - 1;
        }
        let before = std::mem::replace(self, held);
        drop(before.batches);
        before.bytes.into_iter().for_each(|bytes| self.memory.reclaim(bytes));
    }
}

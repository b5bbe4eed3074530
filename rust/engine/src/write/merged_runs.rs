//! Sorted runs merged into one sorted sequence of batches.

use arrow_array::RecordBatch;

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
    cursors: Vec<Option<Cursor>>,
    /// The first bytes of each cursor's next key; the highest number for a run that has ended.
    prefixes: Vec<u128>,
    /// The batches that pending rows or cursors refer to.
    batches: Vec<RecordBatch>,
    batch_rows: usize,
}

impl MergedRuns {
    /// Merge runs into batches of `batch_rows` rows.
    pub(super) fn new(runs: Vec<Run>, order: &RowOrder, batch_rows: usize) -> Result<Self> {
        let (cursors, prefixes) = (vec![], vec![]);
        let mut merged = Self { cursors, prefixes, batches: vec![], batch_rows };
        for run in runs {
            let cursor = merged.advance(run.open()?, order)?;
            merged.prefixes.push(cursor.as_ref().map_or(u128::MAX, |cursor| cursor.keys.prefix(0)));
            merged.cursors.push(cursor);
        }
        Ok(merged)
    }

    /// The next rows, `None` after the last.
    pub(super) fn next_batch(&mut self, order: &RowOrder) -> Result<Option<RecordBatch>> {
        self.forget_consumed();
        let mut rows = Vec::with_capacity(self.batch_rows);
        while rows.len() < self.batch_rows {
            let Some(least) = self.least() else { break };
            let Some(Some(cursor)) = self.cursors.get_mut(least) else { break };
            rows.push((cursor.batch, cursor.row));
            cursor.row += 1;
            if cursor.row < cursor.keys.len() {
                self.prefixes[least] = cursor.keys.prefix(cursor.row);
            } else if let Some(ended) = self.cursors[least].take() {
                let next = self.advance(ended.reader, order)?;
                self.prefixes[least] =
                    next.as_ref().map_or(u128::MAX, |cursor| cursor.keys.prefix(0));
                self.cursors[least] = next;
            }
        }
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(gather(&self.batches, &rows)?))
    }

    /// The run with the least next row.
    fn least(&self) -> Option<usize> {
        let mut found: Option<usize> = None;
        for (position, prefix) in self.prefixes.iter().enumerate() {
            let Some(Some(cursor)) = self.cursors.get(position) else { continue };
            let is_less = match found.and_then(|best| self.cursors[best].as_ref().zip(Some(best))) {
                None => true,
                Some((best, at)) => match prefix.cmp(&self.prefixes[at]) {
                    std::cmp::Ordering::Equal => {
                        cursor.keys.key(cursor.row) < best.keys.key(best.row)
                    }
                    order => order.is_lt(),
                },
            };
            if is_less {
                found = Some(position);
            }
        }
        found
    }

    /// The cursor at the next batch of a run, `None` after the last.
    fn advance(&mut self, mut reader: RunReader, order: &RowOrder) -> Result<Option<Cursor>> {
        while let Some(batch) = reader.next_batch()? {
            if batch.num_rows() > 0 {
                let keys = order.keys(&batch)?;
                self.batches.push(batch);
                return Ok(Some(Cursor { reader, batch: self.batches.len() - 1, keys, row: 0 }));
            }
        }
        Ok(None)
    }

    /// Drop batches whose rows were all emitted.
    fn forget_consumed(&mut self) {
        let mut held = Vec::with_capacity(self.cursors.len());
        for cursor in self.cursors.iter_mut().flatten() {
            held.push(self.batches[cursor.batch].clone());
            cursor.batch = held.len() - 1;
        }
        self.batches = held;
    }
}

//! Sorting a stream of any size: runs are sorted in memory, spilled over the memory limit, and merged.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::merged_runs::MergedRuns;
use super::row_order::{RowKeys, RowOrder};
use super::sort::gather;
use super::sorted_run::{Run, RunWriter};
use super::task::unreadable;
use crate::error::Result;

/// The most runs that are merged at once; more runs are merged in several passes.
const FAN_IN: usize = 32;
/// The most rows of a batch.
const MAX_BATCH_ROWS: usize = 8192;
const MIN_BATCH_ROWS: usize = 64;

/// A stream whose rows are sorted when the first batch is requested.
pub struct SortedRows {
    schema: SchemaRef,
    order: RowOrder,
    memory_bytes: usize,
    state: State,
}

enum State {
    Unsorted(Box<dyn RecordBatchReader + Send>),
    InMemory(InMemory),
    Merging(MergedRuns),
    Ended,
}

impl SortedRows {
    /// The rows of `data` in an order; rows with equal keys keep their order. `memory_bytes` bounds the rows in memory, apart
    /// from one batch of `data`.
    pub fn new(
        data: Box<dyn RecordBatchReader + Send>,
        order: RowOrder,
        memory_bytes: usize,
    ) -> Self {
        Self { schema: data.schema(), order, memory_bytes, state: State::Unsorted(data) }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if let State::Unsorted(_) = &self.state
            && let State::Unsorted(data) = std::mem::replace(&mut self.state, State::Ended)
        {
            self.state = self.sort(data)?;
        }
        match &mut self.state {
            State::InMemory(rows) => rows.next_batch(),
            State::Merging(runs) => runs.next_batch(&self.order),
            State::Unsorted(_) | State::Ended => Ok(None),
        }
    }

    fn sort(&self, data: Box<dyn RecordBatchReader + Send>) -> Result<State> {
        let mut waiting = Waiting::default();
        let mut spilled = Spilled::default();
        for batch in data {
            let batch = batch.map_err(unreadable)?;
            if batch.num_rows() == 0 {
                continue;
            }
            let keys = self.order.keys(&batch)?;
            waiting.add(batch, keys);
            // Gathering the sorted rows takes as much again for one batch, writing for one buffer.
            if waiting.bytes >= self.memory_bytes / 4 * 3 {
                let rows = waiting.batch_rows(self.memory_bytes);
                let run = self.write_run(std::mem::take(&mut waiting).sorted(rows))?;
                spilled.add(run, self, rows)?;
            }
        }
        let rows = waiting.batch_rows(self.memory_bytes);
        let last = waiting.sorted(rows);
        if spilled.is_empty() {
            return Ok(State::InMemory(last));
        }
        let run = self.write_run(last)?;
        spilled.add(run, self, rows)?;
        let runs = spilled.into_runs(self, rows)?;
        Ok(State::Merging(MergedRuns::new(runs, &self.order, rows)?))
    }

    fn write_run(&self, mut rows: InMemory) -> Result<Run> {
        let mut writer = RunWriter::new(&self.schema)?;
        while let Some(batch) = rows.next_batch()? {
            writer.write(&batch)?;
        }
        writer.finish()
    }

    fn merge(&self, runs: Vec<Run>, batch_rows: usize) -> Result<Run> {
        let mut merged = MergedRuns::new(runs, &self.order, batch_rows)?;
        let mut writer = RunWriter::new(&self.schema)?;
        while let Some(batch) = merged.next_batch(&self.order)? {
            writer.write(&batch)?;
        }
        writer.finish()
    }
}

impl Iterator for SortedRows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        if next.is_err() {
            self.state = State::Ended;
        }
        next.map_err(|error| ArrowError::from_external_error(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for SortedRows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Rows that wait to be sorted.
#[derive(Default)]
struct Waiting {
    batches: Vec<RecordBatch>,
    keys: Vec<RowKeys>,
    rows: usize,
    bytes: usize,
}

impl Waiting {
    fn add(&mut self, batch: RecordBatch, keys: RowKeys) {
        let positions = batch.num_rows() * size_of::<(u128, u32, u32)>();
        self.bytes += batch.get_array_memory_size() + keys.memory_bytes() + positions;
        self.rows += batch.num_rows();
        self.batches.push(batch);
        self.keys.push(keys);
    }

    /// Rows of a batch that leaves room for a batch of each run of a merge.
    fn batch_rows(&self, memory_bytes: usize) -> usize {
        let row_bytes = (self.bytes / self.rows.max(1)).max(1);
        (memory_bytes / (4 * FAN_IN * row_bytes)).clamp(MIN_BATCH_ROWS, MAX_BATCH_ROWS)
    }

    fn sorted(self, batch_rows: usize) -> InMemory {
        let mut order: Vec<(u128, u32, u32)> = Vec::with_capacity(self.rows);
        for (batch, keys) in (0_u32..).zip(&self.keys) {
            let rows = (0_u32..).zip(0..keys.len());
            order.extend(rows.map(|(number, row)| (keys.prefix(row), batch, number)));
        }
        let key = |batch: u32, row: u32| {
            let keys = self.keys.get(index(batch));
            keys.map_or(&[][..], |keys| keys.key(index(row)))
        };
        order.sort_unstable_by(|left, right| {
            let prefixes = left.0.cmp(&right.0);
            prefixes
                .then_with(|| key(left.1, left.2).cmp(key(right.1, right.2)))
                .then_with(|| (left.1, left.2).cmp(&(right.1, right.2)))
        });
        let order = order.into_iter().map(|(_, batch, row)| (batch, row)).collect();
        InMemory { batches: self.batches, order, next: 0, batch_rows }
    }
}

/// Sorted rows in memory.
struct InMemory {
    batches: Vec<RecordBatch>,
    order: Vec<(u32, u32)>,
    next: usize,
    batch_rows: usize,
}

impl InMemory {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let end = self.order.len().min(self.next + self.batch_rows);
        let rows = self.order.get(self.next..end).unwrap_or_default();
        if rows.is_empty() {
            return Ok(None);
        }
        let rows: Vec<_> = rows.iter().map(|(batch, row)| (index(*batch), index(*row))).collect();
        self.next = end;
        Ok(Some(gather(&self.batches, &rows)?))
    }
}

/// Runs by level: a run of level `n` was merged from `FAN_IN` runs of level `n - 1`.
#[derive(Default)]
struct Spilled {
    levels: Vec<Vec<Run>>,
}

impl Spilled {
    fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    fn add(&mut self, run: Run, rows: &SortedRows, batch_rows: usize) -> Result<()> {
        let mut run = run;
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(vec![]);
            }
            self.levels[level].push(run);
            if self.levels[level].len() < FAN_IN {
                break;
            }
            run = rows.merge(std::mem::take(&mut self.levels[level]), batch_rows)?;
        }
        Ok(())
    }

    /// At most `FAN_IN` runs, those with earlier rows first.
    fn into_runs(self, rows: &SortedRows, batch_rows: usize) -> Result<Vec<Run>> {
        let mut runs: Vec<Run> = self.levels.into_iter().rev().flatten().collect();
        while runs.len() > FAN_IN {
            let rest = runs.split_off(runs.len() - FAN_IN);
            runs.push(rows.merge(rest, batch_rows)?);
        }
        Ok(runs)
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

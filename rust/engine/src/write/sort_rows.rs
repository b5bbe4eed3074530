//! Sorting a stream of any size: runs are sorted in memory, spilled over the memory limit, and merged.
//!
//! A run is sorted and written while the next one is read, and a batch is merged while the one before it is used.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::background::Background;
use super::memory_rows::{MemoryRows, Waiting};
use super::merged_runs::MergedRuns;
use super::row_order::RowOrder;
use super::sorted_run::{Run, RunWriter};
use super::task::unreadable;
use crate::error::Result;

/// The most runs that are merged at once; more runs are merged in several passes.
const FAN_IN: usize = 96;
/// The batches of sorted rows that the memory limit holds.
const SORTED_BATCHES: usize = 16;
/// The parts of a run in which its columns are gathered. In a part of many rows the values of one column are read from the
/// processor's cache, but the part is a copy of its rows.
const RUN_PARTS: usize = 2;
const MOST_GATHERED_ROWS: usize = 65_536;
/// The part of the memory limit that holds the rows of a run.
const RUN_SHARE: usize = 5;
const TASK: &str = "sort rows";

/// A stream whose rows are sorted when the first batch is requested.
pub struct SortedRows {
    schema: SchemaRef,
    order: Arc<RowOrder>,
    memory_bytes: usize,
    state: State,
}

enum State {
    Unsorted(Box<dyn RecordBatchReader + Send>),
    Sorted(Background<(Sorted, Option<RecordBatch>)>),
    Ended,
}

/// Sorted rows that are read batch by batch.
enum Sorted {
    InMemory(MemoryRows),
    Merging(MergedRuns),
}

impl Sorted {
    fn next_batch(&mut self, order: &RowOrder) -> Result<Option<RecordBatch>> {
        match self {
            Self::InMemory(rows) => Ok(rows.next_batch()?.map(|(batch, _)| batch)),
            Self::Merging(runs) => Ok(runs.next_batch(order)?.map(|(batch, _)| batch)),
        }
    }

    /// Begin to make the next batch.
    fn ahead(mut self, order: &Arc<RowOrder>) -> Result<State> {
        let order = Arc::clone(order);
        let next = move || self.next_batch(&order).map(|batch| (self, batch));
        Background::start(TASK, next).map(State::Sorted)
    }
}

impl SortedRows {
    /// Return the rows of `data` in an order; rows with equal keys keep their order. `memory_bytes` bounds the rows in
    /// memory, apart from one batch of `data`.
    pub fn new(
        data: Box<dyn RecordBatchReader + Send>,
        order: RowOrder,
        memory_bytes: usize,
    ) -> Self {
        let (schema, order) = (data.schema(), Arc::new(order));
        Self { schema, order, memory_bytes, state: State::Unsorted(data) }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let task = match std::mem::replace(&mut self.state, State::Ended) {
            State::Unsorted(data) => match self.sort(data)?.ahead(&self.order)? {
                State::Sorted(task) => task,
                State::Unsorted(_) | State::Ended => return Ok(None),
            },
            State::Sorted(task) => task,
            State::Ended => return Ok(None),
        };
        let (rows, batch) = task.finish()?;
        if batch.is_some() {
            self.state = rows.ahead(&self.order)?;
        }
        Ok(batch)
    }

    fn sort(&self, data: Box<dyn RecordBatchReader + Send>) -> Result<Sorted> {
        let mut waiting = Waiting::default();
        let mut runs = Runs::new(&self.schema, &self.order);
        for batch in data {
            let batch = batch.map_err(unreadable)?;
            if batch.num_rows() == 0 {
                continue;
            }
            let keys = self.order.keys(&batch)?;
            waiting.add(batch, keys);
            // One run waits while another one is sorted; gathering the sorted rows, writing and the batches of `data` that
            // were read ahead take the rest.
            if waiting.bytes() >= self.memory_bytes / RUN_SHARE {
                runs.write(std::mem::take(&mut waiting), self.memory_bytes)?;
            }
        }
        if runs.are_none() {
            let rows = waiting.batch_rows(self.memory_bytes, SORTED_BATCHES);
            return Ok(Sorted::InMemory(waiting.sorted(rows)));
        }
        if !waiting.is_empty() {
            runs.write(waiting, self.memory_bytes)?;
        }
        runs.merged().map(Sorted::Merging)
    }
}

impl Iterator for SortedRows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        next.map_err(|error| ArrowError::from_external_error(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for SortedRows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Spilled runs by level: a run of level `n` was merged from `FAN_IN` runs of level `n - 1`. The runs of a level share a
/// file, which goes when they are merged.
struct Runs {
    schema: SchemaRef,
    order: Arc<RowOrder>,
    levels: Vec<Vec<Run>>,
    /// The run that is being sorted and written.
    writing: Option<Background<Run>>,
    /// Rows of the batches of a run.
    batch_rows: usize,
    /// Rows of the batches of all sorted rows. The writer decides on dictionaries by the first batch.
    merged_rows: usize,
}

impl Runs {
    fn new(schema: &SchemaRef, order: &Arc<RowOrder>) -> Self {
        let (schema, order) = (Arc::clone(schema), Arc::clone(order));
        Self { schema, order, levels: vec![], writing: None, batch_rows: 1, merged_rows: 1 }
    }

    fn are_none(&self) -> bool {
        self.levels.is_empty() && self.writing.is_none()
    }

    /// Begin to sort and write a run, once the run before is written.
    fn write(&mut self, rows: Waiting, memory_bytes: usize) -> Result<()> {
        self.finish_writing()?;
        // A merge holds a batch of each run, and in the worst case another one of rows that it has emitted.
        self.batch_rows = rows.batch_rows(memory_bytes / 4, FAN_IN);
        self.merged_rows = rows.batch_rows(memory_bytes, SORTED_BATCHES);
        let batch_rows = self.batch_rows;
        let gathered_rows = rows.len().div_ceil(RUN_PARTS).clamp(batch_rows, MOST_GATHERED_ROWS);
        let mut writer = RunWriter::new(&self.schema, &self.order, self.last_of(0))?;
        let work = move || {
            let mut rows = rows.sorted(gathered_rows);
            while let Some((batch, keys)) = rows.next_part()? {
                for (part, keys) in keys.chunks(batch_rows).enumerate() {
                    writer.write(&batch.slice(part * batch_rows, keys.len()), keys.to_vec())?;
                }
            }
            Ok(writer.finish())
        };
        self.writing = Some(Background::start(TASK, work)?);
        Ok(())
    }

    fn finish_writing(&mut self) -> Result<()> {
        let Some(writing) = self.writing.take() else { return Ok(()) };
        let mut run = writing.finish()?;
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(vec![]);
            }
            self.levels[level].push(run);
            if self.levels[level].len() < FAN_IN {
                break;
            }
            let full = std::mem::take(&mut self.levels[level]);
            run = self.merge(full, self.last_of(level + 1))?;
        }
        Ok(())
    }

    /// Return the last run of a level.
    fn last_of(&self, level: usize) -> Option<&Run> {
        self.levels.get(level).and_then(|runs| runs.last())
    }

    /// Merge runs into one, in the file of `last` or a new one.
    fn merge(&self, runs: Vec<Run>, last: Option<&Run>) -> Result<Run> {
        let mut merged = MergedRuns::new(runs, &self.order, self.batch_rows)?;
        let mut writer = RunWriter::new(&self.schema, &self.order, last)?;
        while let Some((batch, keys)) = merged.next_batch(&self.order)? {
            writer.write(&batch, keys)?;
        }
        Ok(writer.finish())
    }

    /// Merge all runs, those with earlier rows first.
    fn merged(mut self) -> Result<MergedRuns> {
        self.finish_writing()?;
        let levels = std::mem::take(&mut self.levels);
        let mut runs: Vec<Run> = levels.into_iter().rev().flatten().collect();
        while runs.len() > FAN_IN {
            // The last runs are the smallest. Merging one run more than are too many leaves `FAN_IN` runs.
            let count = FAN_IN.min(runs.len() - FAN_IN + 1);
            let rest = runs.split_off(runs.len() - count);
            runs.push(self.merge(rest, None)?);
        }
        MergedRuns::new(runs, &self.order, self.merged_rows)
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{ArrayRef, Int64Array};
    use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};

    use super::*;

    const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
        {"id":1,"name":"a","required":true,"type":"long"}]}"#;
    const BY_A: &str = r#"{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"}]}"#;

    fn by_a() -> RowOrder {
        let schema = Schema::from_json(SCHEMA).unwrap();
        let spec = PartitionSpec::from_json(r#"{"spec-id":0,"fields":[]}"#).unwrap();
        let order = SortOrder::from_json(BY_A).unwrap();
        RowOrder::new(&schema, &spec, Some(&order), None).unwrap()
    }

    /// Return a run of the numbers 0 to 999, in batches of 100, after the run `last` of a file.
    fn run(order: &RowOrder, last: Option<&Run>) -> Run {
        let numbers: Vec<i64> = (0..1_000).collect();
        let batch = |numbers: &[i64]| {
            let a: ArrayRef = Arc::new(Int64Array::from(numbers.to_vec()));
            RecordBatch::try_from_iter_with_nullable([("a", a, false)]).unwrap()
        };
        let mut writer = RunWriter::new(&batch(&[]).schema(), order, last).unwrap();
        for numbers in numbers.chunks(100) {
            let batch = batch(numbers);
            let keys = order.keys(&batch).unwrap();
            writer.write(&batch, keys.prefixes).unwrap();
        }
        writer.finish()
    }

    #[test]
    fn runs_of_a_level_share_a_file_and_are_merged_from_it() {
        let order = Arc::new(by_a());
        let mut last = run(&order, None);
        let mut runs = vec![];
        for _ in 0..2 {
            let next = run(&order, Some(&last));
            assert!(next.shares_file(&last));
            runs.push(std::mem::replace(&mut last, next));
        }
        runs.push(last);
        let mut merged = MergedRuns::new(runs, &order, 64).unwrap();
        let mut found: Vec<i64> = vec![];
        while let Some((batch, _)) = merged.next_batch(&order).unwrap() {
            found.extend(batch.column(0).as_primitive::<Int64Type>().values());
        }
        assert!(found.iter().copied().eq((0..3_000).map(|row| row / 3)));
    }

    #[test]
    fn run_that_cannot_be_read_ends_the_rows_with_an_error() {
        let order = Arc::new(by_a());
        let (whole, cut) = (run(&order, None), run(&order, None));
        cut.cut(10_000);
        let merged = MergedRuns::new(vec![whole, cut], &order, 64).unwrap();
        let schema = Arc::new(arrow_schema::Schema::empty());
        let state = Sorted::Merging(merged).ahead(&order).unwrap();
        let mut rows = SortedRows { schema, order, memory_bytes: 1, state };
        assert_eq!(rows.next().unwrap().unwrap().num_rows(), 64);
        let error = rows.by_ref().find_map(Result::err).unwrap().to_string();
        assert!(error.contains("temporary file"), "{error}");
        assert!(rows.next().is_none());
    }
}

//! Decoding of the rows of a row group, column by column, with row filters.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{ArrowError, Field, Fields, Schema};
use arrow_select::filter::{filter, prep_null_mask_filter};
use parquet::errors::{ParquetError, Result};

use super::column::{Cursor, Mask};
use super::group::FlatGroup;
use crate::bytes::data_file::DataFile;
use crate::resolve::columns::BatchPlan;
use crate::resolve::row_filter::RowTest;

/// Maximum columns that are decoded batch by batch, with an open page for each column. More columns are decoded one
/// after the other.
pub(crate) const FEW_COLUMNS: usize = 16;
/// Runs that start fewer rows apart on average are decoded together with the rows between them, and filtered
/// afterwards.
const NEAR_ROWS: u64 = 32;

/// A decoder of rows of a row group, on one thread.
pub(crate) struct FlatRows<'a> {
    pub(crate) group: &'a FlatGroup,
    pub(crate) source: &'a DataFile,
    pub(crate) output: &'a BatchPlan,
    pub(crate) tests: &'a [RowTest],
    /// Ordinal in the file of the row group's first row.
    pub(crate) first_row: u64,
}

/// The rows of one batch.
struct Rows {
    /// Ascending, non-adjacent and non-empty ranges.
    runs: Vec<Range<u64>>,
    /// The rows as a mask over the range from the first to the last row, if the runs start close together.
    mask: Option<Mask>,
    /// Columns that have been decoded for row filters, by leaf.
    known: BTreeMap<usize, ArrayRef>,
}

type Cursors = BTreeMap<usize, Box<dyn Cursor>>;

impl FlatRows<'_> {
    /// Decode ascending runs of rows and pass them to `take` in batches of at most `batch_rows` rows before row
    /// filters. Decoding ends when `take` returns false.
    ///
    /// # Errors
    /// `General` for damaged pages, and the errors of storage, of row filters and of `take`.
    pub(crate) fn decode<E: From<crate::Error>>(
        &self,
        runs: &[Range<u64>],
        batch_rows: usize,
        failed: &dyn Fn(ParquetError) -> E,
        take: &mut dyn FnMut(RecordBatch) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut batches = Batches { runs: runs.iter().cloned().collect(), rows: batch_rows as u64 };
        let is_wide = self.output.leaves.len() > FEW_COLUMNS;
        let together = if is_wide { usize::MAX } else { 1 };
        let mut cursors = Cursors::new();
        loop {
            let mut tested = Vec::new();
            let mut batch = batches.next();
            while let Some(runs) = batch {
                tested.extend(self.tested(&mut cursors, Rows::new(runs), failed)?);
                batch = if tested.len() < together { batches.next() } else { None };
            }
            if tested.is_empty() {
                return Ok(());
            }
            let mut columns: Vec<Vec<ArrayRef>> = tested.iter().map(|_| Vec::new()).collect();
            for leaf in self.output.leaves.iter().copied() {
                for (rows, columns) in tested.iter_mut().zip(&mut columns) {
                    columns.push(self.column(&mut cursors, leaf, rows).map_err(failed)?);
                }
                if is_wide {
                    cursors.remove(&leaf);
                }
            }
            for (rows, columns) in tested.into_iter().zip(columns) {
                let decoded = self.batch(columns, &rows, self.output).map_err(failed)?;
                drop(rows);
                if !take(decoded)? {
                    return Ok(());
                }
            }
        }
    }

    /// Return the rows that pass all row filters; `None` if no row passes.
    fn tested<E: From<crate::Error>>(
        &self,
        cursors: &mut Cursors,
        mut rows: Rows,
        failed: &dyn Fn(ParquetError) -> E,
    ) -> Result<Option<Rows>, E> {
        for test in self.tests {
            let leaves: &BTreeSet<usize> = &test.columns().leaves;
            for leaf in leaves.iter().copied() {
                let array = self.column(cursors, leaf, &mut rows).map_err(failed)?;
                rows.known.insert(leaf, array);
            }
            let columns = leaves.iter().filter_map(|leaf| rows.known.get(leaf).cloned()).collect();
            let decoded = self.batch(columns, &rows, test.columns()).map_err(failed)?;
            let passed = test.kept(&decoded)?;
            rows = rows.filtered(&passed).map_err(failed)?;
            if rows.runs.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(rows))
    }

    /// Decode one column of `rows`.
    fn column(&self, cursors: &mut Cursors, leaf: usize, rows: &mut Rows) -> Result<ArrayRef> {
        if let Some(known) = rows.known.get(&leaf) {
            return Ok(Arc::clone(known));
        }
        let cursor = match cursors.entry(leaf) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let cursor = self.group.cursor(leaf);
                let none = || ParquetError::General(format!("no column {leaf}"));
                entry.insert(cursor.ok_or_else(none)?)
            }
        };
        match &rows.mask {
            Some(mask) => cursor.read(&[rows.span()], Some(mask), self.source),
            None => cursor.read(&rows.runs, None, self.source),
        }
    }

    /// Return decoded columns as a batch, followed by row numbers if `plan` needs them.
    fn batch(
        &self,
        mut columns: Vec<ArrayRef>,
        rows: &Rows,
        plan: &BatchPlan,
    ) -> Result<RecordBatch> {
        if plan.needs_positions() {
            let numbers = rows.runs.iter().flat_map(|run| run.clone());
            let numbers = numbers.map(|row| (self.first_row + row).cast_signed());
            columns.push(Arc::new(Int64Array::from_iter_values(numbers)));
        }
        let field = |column: &ArrayRef| Field::new("", column.data_type().clone(), true);
        let fields: Fields = columns.iter().map(field).collect();
        let options =
            RecordBatchOptions::new().with_row_count(Some(usize::try_from(rows.count())?));
        let schema = Arc::new(Schema::new(fields));
        RecordBatch::try_new_with_options(schema, columns, &options).map_err(arrow)
    }
}

impl Rows {
    fn new(runs: Vec<Range<u64>>) -> Self {
        let mut rows = Self { runs, mask: None, known: BTreeMap::new() };
        let span = rows.span();
        if rows.runs.len() > 1 && (span.end - span.start) / (rows.runs.len() as u64) < NEAR_ROWS {
            rows.mask = Some(Mask::new(rows.mask_of(&span)));
        }
        rows
    }

    fn span(&self) -> Range<u64> {
        let (first, last) = (self.runs.first(), self.runs.last());
        first.zip(last).map_or(0..0, |(first, last)| first.start..last.end)
    }

    fn count(&self) -> u64 {
        self.runs.iter().map(|run| run.end - run.start).sum()
    }

    fn mask_of(&self, span: &Range<u64>) -> BooleanBuffer {
        let mut mask = BooleanBufferBuilder::new((span.end - span.start) as usize);
        let mut next = span.start;
        for run in &self.runs {
            mask.append_n((run.start - next) as usize, false);
            mask.append_n((run.end - run.start) as usize, true);
            next = run.end;
        }
        mask.finish()
    }

    /// Return the rows whose value in `passed` is true.
    fn filtered(self, passed: &BooleanArray) -> Result<Self> {
        let passed = match passed.null_count() {
            0 => passed.clone(),
            _ => prep_null_mask_filter(passed),
        };
        if passed.true_count() == passed.len() {
            return Ok(self);
        }
        let mut runs: Vec<Range<u64>> = Vec::new();
        let mut before = 0;
        for run in &self.runs {
            let count = (run.end - run.start) as usize;
            for (start, end) in passed.values().slice(before, count).set_slices() {
                let (start, end) = (run.start + start as u64, run.start + end as u64);
                match runs.last_mut().filter(|last| last.end == start) {
                    Some(last) => last.end = end,
                    None => runs.push(start..end),
                }
            }
            before += count;
        }
        let mut rows = Self::new(runs);
        for (leaf, array) in self.known {
            rows.known.insert(leaf, filter(&array, &passed).map_err(arrow)?);
        }
        Ok(rows)
    }
}

/// An iterator over runs of rows in batches of at most `rows` rows, at least 1.
struct Batches {
    runs: VecDeque<Range<u64>>,
    rows: u64,
}

impl Iterator for Batches {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut batch, mut left) = (Vec::new(), self.rows);
        while let Some(run) = self.runs.pop_front() {
            let end = run.end.min(run.start.saturating_add(left));
            left -= end - run.start;
            batch.push(run.start..end);
            if end < run.end {
                self.runs.push_front(end..run.end);
            }
            if left == 0 {
                break;
            }
        }
        (!batch.is_empty()).then_some(batch)
    }
}

fn arrow(error: ArrowError) -> ParquetError {
    ParquetError::ArrowError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_filled_to_the_row_limit() {
        assert_eq!(Batches { runs: VecDeque::new(), rows: 3 }.count(), 0);
        let runs = VecDeque::from([0..2, 5..9, 12..13]);
        let found: Vec<_> = Batches { runs, rows: 3 }.collect();
        let [first, second, third] = found.as_slice() else { unreachable!() };
        assert_eq!(first.as_slice(), [0..2, 5..6]);
        assert_eq!((second.len(), &second[0]), (1, &(6..9)));
        assert_eq!((third.len(), &third[0]), (1, &(12..13)));
    }

    #[test]
    fn rows_that_pass_are_runs() {
        let rows = Rows::new(vec![10..14, 100..104]);
        assert!(rows.mask.is_none());
        let passed = BooleanArray::from(vec![true, true, false, true, true, false, false, true]);
        let rows = rows.filtered(&passed).unwrap();
        assert_eq!(rows.runs, [10..12, 13..14, 100..101, 103..104]);
        assert_eq!(rows.count(), 5);
        assert_eq!(rows.mask.unwrap().count(), 5);
    }
}

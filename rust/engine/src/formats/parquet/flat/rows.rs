//! Decoding of the rows of a row group, column by column, with row filters.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{ArrowError, Field, Fields, Schema};
use arrow_select::filter::prep_null_mask_filter;
use parquet::errors::{ParquetError, Result};

use super::column::{Cursor, Mask};
use super::group::FlatGroup;
use crate::bytes::data_file::DataFile;
use crate::resolve::columns::BatchPlan;
use crate::resolve::key_filters::KeyFilter;
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
    /// The equality deletes whose keys the row group may hold.
    pub(crate) keys: &'a [&'a KeyFilter],
    /// Ordinal in the file of the row group's first row.
    pub(crate) first_row: u64,
}

/// The rows of one batch.
struct Rows {
    /// Ascending, non-adjacent and non-empty ranges to decode.
    runs: Vec<Range<u64>>,
    /// The rows of the batch as a mask over the rows of all runs; `None` for all of them.
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

    /// Return the rows that pass all row filters and have no deleted key; `None` if no such row is left.
    fn tested<E: From<crate::Error>>(
        &self,
        cursors: &mut Cursors,
        mut rows: Rows,
        failed: &dyn Fn(ParquetError) -> E,
    ) -> Result<Option<Rows>, E> {
        for test in self.tests {
            let decoded = self.decoded(cursors, &mut rows, test.columns()).map_err(failed)?;
            let passed = test.passing(&decoded)?;
            let passed = match passed.null_count() {
                0 => passed,
                _ => prep_null_mask_filter(&passed),
            };
            rows = rows.filtered(passed.values()).map_err(failed)?;
            if rows.runs.is_empty() {
                return Ok(None);
            }
        }
        for test in self.keys {
            let decoded = self.decoded(cursors, &mut rows, test.alone()).map_err(failed)?;
            let Some(deleted) = test.deleted(&decoded)? else { continue };
            rows = rows.filtered(&!&deleted).map_err(failed)?;
            if rows.runs.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(rows))
    }

    /// Decode the columns of a plan, which are kept for later plans.
    fn decoded(
        &self,
        cursors: &mut Cursors,
        rows: &mut Rows,
        plan: &BatchPlan,
    ) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(plan.leaves.len());
        for leaf in plan.leaves.iter().copied() {
            let array = self.column(cursors, leaf, rows)?;
            rows.known.insert(leaf, Arc::clone(&array));
            columns.push(array);
        }
        self.batch(columns, rows, plan)
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
        cursor.read(&rows.runs, rows.mask.as_ref(), self.source)
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
            let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
            columns.push(match &rows.mask {
                Some(mask) => mask.apply(&numbers)?,
                None => numbers,
            });
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
        let span =
            runs.first().zip(runs.last()).map_or(0..0, |(first, last)| first.start..last.end);
        if runs.len() > 1 && (span.end - span.start) / (runs.len() as u64) < NEAR_ROWS {
            let mask = Some(Mask::new(mask_of(&runs, &span)));
            return Self { runs: vec![span], mask, known: BTreeMap::new() };
        }
        Self { runs, mask: None, known: BTreeMap::new() }
    }

    fn count(&self) -> u64 {
        match &self.mask {
            Some(mask) => mask.count() as u64,
            None => self.runs.iter().map(|run| run.end - run.start).sum(),
        }
    }

    /// Return the rows whose bit in `passed` is set.
    fn filtered(self, passed: &BooleanBuffer) -> Result<Self> {
        let count = passed.count_set_bits();
        if count == passed.len() {
            return Ok(self);
        }
        let kept = match &self.mask {
            Some(mask) => mask.of_kept(passed),
            None => passed.clone(),
        };
        let mut rows = match self.runs.as_slice() {
            [run] if count > 0 && is_scattered(&kept) => Self::masked(run, &kept),
            runs => Self::new(set_runs(runs, &kept)),
        };
        let passed = Mask::new(passed.clone());
        for (leaf, array) in self.known {
            rows.known.insert(leaf, passed.apply(&array)?);
        }
        Ok(rows)
    }

    /// Return the rows of a run whose bit in `kept` is set, as a mask from the first to the last of them.
    fn masked(run: &Range<u64>, kept: &BooleanBuffer) -> Self {
        let first = kept.set_indices().next().unwrap_or(0);
        let end = (first..kept.len()).rfind(|row| kept.value(*row)).map_or(first, |row| row + 1);
        let start = run.start + first as u64;
        let span = start..start + (end - first) as u64;
        let mask = Some(Mask::new(kept.slice(first, end - first)));
        Self { runs: vec![span], mask, known: BTreeMap::new() }
    }
}

/// Return ascending runs as a mask over their span.
fn mask_of(runs: &[Range<u64>], span: &Range<u64>) -> BooleanBuffer {
    let mut mask = BooleanBufferBuilder::new((span.end - span.start) as usize);
    let mut next = span.start;
    for run in runs {
        mask.append_n((run.start - next) as usize, false);
        mask.append_n((run.end - run.start) as usize, true);
        next = run.end;
    }
    mask.finish()
}

/// Return the set rows of a mask over the rows of all runs as runs.
fn set_runs(runs: &[Range<u64>], kept: &BooleanBuffer) -> Vec<Range<u64>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let mut before = 0;
    for run in runs {
        let count = (run.end - run.start) as usize;
        for (start, end) in kept.slice(before, count).set_slices() {
            let (start, end) = (run.start + start as u64, run.start + end as u64);
            match found.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = end,
                None => found.push(start..end),
            }
        }
        before += count;
    }
    found
}

/// Whether the runs of set bits start close together on average.
fn is_scattered(kept: &BooleanBuffer) -> bool {
    let mut before = 0;
    let starts = kept.bit_chunks().iter_padded().map(|word| {
        let starts = word & !(word << 1 | before);
        before = word >> 63;
        u64::from(starts.count_ones())
    });
    kept.len() as u64 / starts.sum::<u64>().max(1) < NEAR_ROWS
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
        let passed = [true, true, false, true, true, false, false, true];
        let rows = rows.filtered(&BooleanBuffer::from_iter(passed)).unwrap();
        assert_eq!(rows.runs.as_slice(), std::slice::from_ref(&(10..104)));
        assert_eq!(rows.count(), 5);
        let kept = rows.mask.as_ref().unwrap().of_kept(&BooleanBuffer::new_set(5));
        let found: Vec<_> = kept.set_indices().map(|row| row + 10).collect();
        assert_eq!(found, [10, 11, 13, 100, 103]);
    }

    #[test]
    fn filters_of_every_density_leave_the_same_rows_in_any_order() {
        let rows_of = |rows: &Rows| {
            let all: Vec<u64> = rows.runs.iter().flat_map(|run| run.clone()).collect();
            let Some(mask) = &rows.mask else { return all };
            let kept = mask.of_kept(&BooleanBuffer::new_set(mask.count()));
            kept.set_indices().map(|row| all[row]).collect()
        };
        let one = 7..500;
        for starts in [vec![one], vec![0..100, 101..180, 181..700], vec![3..9, 9_000..9_100]] {
            for steps in [[1, 3], [2, 3], [40, 2], [97, 200], [2, 97], [1, 1_000_000]] {
                let mut rows = Rows::new(starts.clone());
                let mut expected = rows_of(&rows);
                assert_eq!(
                    expected.len() as u64,
                    starts.iter().map(|run| run.end - run.start).sum::<u64>()
                );
                for step in steps {
                    let passed = BooleanBuffer::collect_bool(expected.len(), |row| row % step == 0);
                    let column = |rows: &[u64]| {
                        let values = rows.iter().map(|row| row.cast_signed());
                        Arc::new(Int64Array::from_iter_values(values)) as ArrayRef
                    };
                    rows.known.insert(0, column(&expected));
                    rows = rows.filtered(&passed).unwrap();
                    expected = passed.set_indices().map(|row| expected[row]).collect();
                    assert_eq!(rows_of(&rows), expected);
                    assert_eq!(rows.count(), expected.len() as u64);
                    assert_eq!(rows.known[&0].as_ref(), column(&expected).as_ref());
                }
            }
        }
    }
}

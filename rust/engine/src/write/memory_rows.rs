//! Rows in memory: collected, then sorted.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_row::Rows;
use arrow_schema::{ArrowError, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::batch_bytes::batch_bytes;
use super::row_order::{RowKeys, key_of};
use super::sort::gather;
use crate::error::{Error, Result};

const MIN_BATCH_ROWS: usize = 64;
const MAX_BATCH_ROWS: usize = 8192;
/// The most bytes of rows whose columns are concatenated: offsets of strings have 32 bits.
const MAX_CONCATENATED_BYTES: usize = 1 << 30;

/// The first bytes of a row's key, and the row. Places order by key, then as the rows came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    // Two numbers of 64 bits take a quarter less memory here than one of 128, which is aligned.
    high: u64,
    low: u64,
    batch: u32,
    row: u32,
}

impl Place {
    fn new(key: u128, batch: u32, row: u32) -> Self {
        Self { high: (key >> 64) as u64, low: key as u64, batch, row }
    }

    fn key(&self) -> u128 {
        (u128::from(self.high) << 64) | u128::from(self.low)
    }
}

/// Rows that wait to be sorted.
#[derive(Default)]
pub(super) struct Waiting {
    batches: Vec<RecordBatch>,
    /// The keys of each batch that are longer than the number in a place.
    keys: Vec<Option<Rows>>,
    places: Vec<Place>,
    bytes: usize,
}

impl Waiting {
    /// Add a batch and the keys of its rows.
    pub(super) fn add(&mut self, batch: RecordBatch, keys: RowKeys) {
        let RowKeys { prefixes, rows } = keys;
        let number = u32::try_from(self.batches.len()).unwrap_or(u32::MAX);
        let places = (0_u32..).zip(prefixes);
        self.places.extend(places.map(|(row, key)| Place::new(key, number, row)));
        let places = batch.num_rows() * size_of::<Place>();
        self.bytes += batch_bytes(&batch) + rows.as_ref().map_or(0, Rows::size) + places;
        self.batches.push(batch);
        self.keys.push(rows);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Return the count of rows.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Return the bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Return the rows of a batch, so that `batches` of them take at most `bytes`.
    pub(super) fn batch_rows(&self, bytes: usize, batches: usize) -> usize {
        let row_bytes = (self.bytes / self.places.len().max(1)).max(1);
        (bytes / (batches * row_bytes)).clamp(MIN_BATCH_ROWS, MAX_BATCH_ROWS)
    }

    /// Return the rows in order, in batches of `batch_rows`.
    pub(super) fn sorted(self, batch_rows: usize) -> MemoryRows {
        let Self { batches, keys, mut places, bytes } = self;
        if keys.iter().all(Option::is_none) {
            places.sort_unstable();
        } else {
            let key = |place: &Place| {
                let rows = keys.get(index(place.batch)).and_then(Option::as_ref);
                rows.map_or(&[][..], |rows| key_of(rows, index(place.row)))
            };
            places.sort_unstable_by(|left, right| {
                let prefixes = (left.high, left.low).cmp(&(right.high, right.low));
                prefixes.then_with(|| key(left).cmp(key(right))).then_with(|| left.cmp(right))
            });
        }
        MemoryRows { batches, places, bytes, next: 0, batch_rows }
    }
}

/// Sorted rows in memory.
pub(super) struct MemoryRows {
    batches: Vec<RecordBatch>,
    places: Vec<Place>,
    bytes: usize,
    next: usize,
    batch_rows: usize,
}

impl MemoryRows {
    /// Return the next rows and the first bytes of their keys, `None` after the last.
    pub(super) fn next_batch(&mut self) -> Result<Option<(RecordBatch, Vec<u128>)>> {
        let Some(places) = self.next_places() else { return Ok(None) };
        let batch = interleaved(&self.batches, places)?;
        let keys = places.iter().map(Place::key).collect();
        self.next += batch.num_rows();
        Ok(Some((batch, keys)))
    }

    /// As [`Self::next_batch`], for batches with a large part of all rows: reads each column from one array that fits into
    /// the processor's cache.
    pub(super) fn next_part(&mut self) -> Result<Option<(RecordBatch, Vec<u128>)>> {
        if self.bytes > MAX_CONCATENATED_BYTES {
            return self.next_batch();
        }
        let Some(places) = self.next_places() else { return Ok(None) };
        let batch = taken(&self.batches, places);
        let batch = batch.map_err(|error| Error::internal("sort rows", error))?;
        let keys = places.iter().map(Place::key).collect();
        self.next += batch.num_rows();
        Ok(Some((batch, keys)))
    }

    fn next_places(&self) -> Option<&[Place]> {
        let end = self.places.len().min(self.next + self.batch_rows);
        self.places.get(self.next..end).filter(|places| !places.is_empty())
    }
}

fn interleaved(batches: &[RecordBatch], places: &[Place]) -> Result<RecordBatch> {
    let rows = places.iter().map(|place| (index(place.batch), index(place.row)));
    Ok(gather(batches, &rows.collect::<Vec<_>>())?)
}

fn taken(batches: &[RecordBatch], places: &[Place]) -> Result<RecordBatch, ArrowError> {
    let starts: Vec<usize> = batches
        .iter()
        .scan(0, |rows, batch| Some(std::mem::replace(rows, *rows + batch.num_rows())))
        .collect();
    let row = |place: &Place| {
        let start = starts.get(index(place.batch)).copied().unwrap_or(usize::MAX);
        u32::try_from(start.saturating_add(index(place.row))).unwrap_or(u32::MAX)
    };
    let rows = UInt32Array::from_iter_values(places.iter().map(row));
    let schema = batches.first().map_or_else(|| Arc::new(Schema::empty()), RecordBatch::schema);
    let column = |position: usize| {
        let parts: Vec<&dyn Array> =
            batches.iter().map(|batch| batch.column(position).as_ref()).collect();
        take(&concat(&parts)?, &rows, None)
    };
    let columns = (0..schema.fields().len()).map(column).collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array};

    use super::*;

    #[test]
    fn slices_of_a_batch_count_their_own_rows() {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
        let whole = RecordBatch::try_from_iter([("id", column)]).unwrap();
        let bytes_of = |rows: usize| {
            let mut waiting = Waiting::default();
            for start in (0..whole.num_rows()).step_by(rows) {
                let keys = RowKeys { prefixes: vec![0; rows], rows: None };
                waiting.add(whole.slice(start, rows), keys);
            }
            waiting.bytes()
        };
        assert_eq!(bytes_of(1_000), bytes_of(100_000));
    }
}

//! Rows in memory: collected, then sorted.

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_row::Rows;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::interleave::interleave;
use icefloe_format::Error as FormatError;

use super::place::{Place, sort_places};
use super::row_order::{RowKeys, key_of};
use crate::error::Result;

const MIN_BATCH_ROWS: usize = 64;
const MAX_BATCH_ROWS: usize = 8192;
/// Bytes of rows that are gathered at once: offsets of strings have 32 bits.
const GATHERED_BYTES: usize = 1 << 30;

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
        self.bytes += batch.get_array_memory_size() + rows.as_ref().map_or(0, Rows::size) + places;
        self.batches.push(batch);
        self.keys.push(rows);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Rows of a batch, so that `batches` of them take at most `bytes`.
    pub(super) fn batch_rows(&self, bytes: usize, batches: usize) -> usize {
        let row_bytes = (self.bytes / self.places.len().max(1)).max(1);
        (bytes / (batches * row_bytes)).clamp(MIN_BATCH_ROWS, MAX_BATCH_ROWS)
    }

    /// The rows in order, in batches of `batch_rows`.
    pub(super) fn sorted(self, batch_rows: usize) -> MemoryRows {
        let Self { batches, keys, mut places, bytes } = self;
        if keys.iter().all(Option::is_none) {
            sort_places(&mut places);
        } else {
            let key = |place: &Place| {
                let rows = keys.get(index(place.batch)).and_then(Option::as_ref);
                rows.map_or(&[][..], |rows| key_of(rows, index(place.row)))
            };
            places.sort_unstable_by(|left, right| {
                let prefixes = left.key().cmp(&right.key());
                prefixes.then_with(|| key(left).cmp(key(right))).then_with(|| left.cmp(right))
            });
        }
        let chunks = bytes / GATHERED_BYTES + 1;
        let chunk_rows = places.len().div_ceil(chunks);
        let gathered = None;
        MemoryRows {
            columns: columns_of(batches),
            places,
            chunk_rows,
            gathered,
            next: 0,
            batch_rows,
        }
    }
}

/// Sorted rows in memory.
pub(super) struct MemoryRows {
    columns: Option<Columns>,
    places: Vec<Place>,
    chunk_rows: usize,
    /// Rows from a position on.
    gathered: Option<(usize, RecordBatch)>,
    next: usize,
    batch_rows: usize,
}

/// The arrays of each column, one from each batch.
struct Columns {
    schema: SchemaRef,
    arrays: Vec<Vec<ArrayRef>>,
}

fn columns_of(batches: Vec<RecordBatch>) -> Option<Columns> {
    let schema = batches.first()?.schema();
    let mut arrays = vec![Vec::with_capacity(batches.len()); schema.fields().len()];
    for batch in batches {
        for (of_column, array) in arrays.iter_mut().zip(batch.columns()) {
            of_column.push(array.clone());
        }
    }
    Some(Columns { schema, arrays })
}

impl MemoryRows {
    /// The next rows and the first bytes of their keys, `None` after the last.
    pub(super) fn next_batch(&mut self) -> Result<Option<(RecordBatch, Vec<u128>)>> {
        if self.next == self.places.len() {
            return Ok(None);
        }
        let (start, rows) = match self.gathered.take() {
            Some((start, rows)) if self.next < start + rows.num_rows() => (start, rows),
            _ => (self.next, self.gather()?),
        };
        let count = self.batch_rows.min(start + rows.num_rows() - self.next);
        let keys = self.places[self.next..self.next + count].iter().map(Place::key).collect();
        let batch = rows.slice(self.next - start, count);
        self.gathered = Some((start, rows));
        self.next += count;
        Ok(Some((batch, keys)))
    }

    /// Gather the next chunk, one column after the other: one column fits into the processor's cache. The last chunk drops
    /// each column as soon as it is gathered.
    fn gather(&mut self) -> Result<RecordBatch> {
        let end = self.places.len().min(self.next + self.chunk_rows);
        let places = &self.places[self.next..end];
        let rows: Vec<_> =
            places.iter().map(|place| (index(place.batch), index(place.row))).collect();
        let Some(Columns { schema, arrays }) = self.columns.take() else {
            return Err(FormatError::invalid("data", "expected a batch, got none").into());
        };
        let is_last = end == self.places.len();
        let (mut columns, mut rest) = (Vec::with_capacity(arrays.len()), vec![]);
        for arrays in arrays {
            let parts: Vec<_> = arrays.iter().map(AsRef::as_ref).collect();
            columns.push(interleave(&parts, &rows).map_err(refused)?);
            if !is_last {
                rest.push(arrays);
            }
        }
        if !is_last {
            self.columns = Some(Columns { schema: schema.clone(), arrays: rest });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        Ok(RecordBatch::try_new_with_options(schema, columns, &options).map_err(refused)?)
    }
}

fn refused(error: ArrowError) -> FormatError {
    FormatError::invalid("data", error.to_string())
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

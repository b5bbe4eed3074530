//! Columns of a row group without nesting, and cursors over their rows.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_select::filter::{FilterBuilder, FilterPredicate};
use parquet::errors::{ParquetError, Result};

use super::chunk_pages::{ChunkPages, Mark, PageSlot};
use super::encoded::Encoded;
use super::page::PageData;
use super::validity::{Levels, Validity};
use super::value_type::{Page, ValueType};
use crate::bytes::data_file::DataFile;
use crate::resolve::keep::keep;

/// A column of a row group. Threads that decode parts of the row group share its dictionary and the pages that hold
/// rows of several parts.
pub(crate) trait FlatColumn: Send + Sync {
    /// Return a cursor before the first row.
    fn cursor(self: Arc<Self>) -> Box<dyn Cursor>;
}

/// One thread's position in a column.
pub(crate) trait Cursor {
    /// Decode ascending runs of rows at or after the cursor, and return the rows whose bit in `mask` is set. The mask
    /// covers the rows of all runs.
    ///
    /// # Errors
    /// `General` for a damaged page, `NYI` for an unsupported encoding, and errors of storage.
    fn read(
        &mut self,
        runs: &[Range<u64>],
        mask: Option<&Mask>,
        source: &DataFile,
    ) -> Result<ArrayRef>;
}

/// A selection of decoded rows, one bit per row.
pub(crate) struct Mask {
    kept: BooleanBuffer,
    /// The same selection as a filter for complete arrays.
    filter: OnceCell<FilterPredicate>,
}

impl Mask {
    pub(crate) fn new(kept: BooleanBuffer) -> Self {
        Self { kept, filter: OnceCell::new() }
    }

    /// Return the number of selected rows.
    pub(crate) fn count(&self) -> usize {
        self.kept.count_set_bits()
    }

    /// Return the selection of the rows whose bit in `passed` is set, which has one bit for each selected row.
    pub(crate) fn of_kept(&self, passed: &BooleanBuffer) -> BooleanBuffer {
        let mut words = Vec::with_capacity(self.kept.len().div_ceil(64));
        let mut next = 0;
        for word in self.kept.bit_chunks().iter_padded() {
            let mut left = word;
            let mut selected = 0;
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                if next < passed.len() && passed.value(next) {
                    selected |= bit;
                }
                next += 1;
            }
            words.push(selected);
        }
        BooleanBuffer::new(Buffer::from_vec(words), 0, self.kept.len())
    }

    /// Return the selected rows of an array.
    ///
    /// # Errors
    /// `ArrowError` for an array of another length.
    pub(crate) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let filter = self.filter.get_or_init(|| {
            FilterBuilder::new(&BooleanArray::new(self.kept.clone(), None)).optimize().build()
        });
        keep(array, &self.kept, filter).map_err(|error| ParquetError::ArrowError(error.to_string()))
    }
}

/// A column whose values are decoded by `V`.
pub(crate) struct TypedColumn<V: ValueType> {
    values: V,
    pages: ChunkPages,
    dictionary: Mutex<Option<Arc<V::Dictionary>>>,
}

impl<V: ValueType> TypedColumn<V> {
    pub(crate) fn new(values: V, pages: ChunkPages) -> Self {
        Self { values, pages, dictionary: Mutex::default() }
    }

    fn dictionary(&self, source: &DataFile) -> Result<Arc<V::Dictionary>> {
        // The lock is held while the dictionary is decoded, so that one thread decodes it and the others wait.
        let mut known = self.dictionary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dictionary) = &*known {
            return Ok(Arc::clone(dictionary));
        }
        let (bytes, entries) = self.pages.dictionary(source)?;
        let dictionary = Arc::new(self.values.dictionary(&bytes, entries)?);
        *known = Some(Arc::clone(&dictionary));
        Ok(dictionary)
    }
}

impl<V: ValueType> FlatColumn for TypedColumn<V> {
    fn cursor(self: Arc<Self>) -> Box<dyn Cursor> {
        Box::new(TypedCursor { column: self, open: None, dictionary: None, keys: Vec::new() })
    }
}

struct TypedCursor<V: ValueType> {
    column: Arc<TypedColumn<V>>,
    open: Option<OpenPage>,
    dictionary: Option<Arc<V::Dictionary>>,
    keys: Vec<u32>,
}

/// A page at the position of a cursor.
struct OpenPage {
    slot: Arc<PageSlot>,
    page: Arc<PageData>,
    /// The next row to decode.
    row: u64,
    levels: Option<Levels>,
    encoded: Encoded,
}

impl<V: ValueType> Cursor for TypedCursor<V> {
    fn read(
        &mut self,
        runs: &[Range<u64>],
        mask: Option<&Mask>,
        source: &DataFile,
    ) -> Result<ArrayRef> {
        let rows: u64 = runs.iter().map(|run| run.end - run.start).sum();
        let mut values = self.column.values.values(usize::try_from(rows)?);
        let mut validity = Validity::default();
        for run in runs {
            let mut row = run.start;
            while row < run.end {
                self.seek(row, source)?;
                row = self.read_page(run.end, &mut values, &mut validity)?;
            }
        }
        let column = &self.column.values;
        match mask {
            // Removing rows from the values in place is cheaper than filtering into a second array.
            Some(mask) if validity.is_dense() && column.retain(&mut values, &mask.kept) => {
                column.finish(values, None)
            }
            Some(mask) => mask.apply(&column.finish(values, validity.finish())?),
            None => column.finish(values, validity.finish()),
        }
    }
}

impl<V: ValueType> TypedCursor<V> {
    /// Open the page of a row and advance to the row.
    fn seek(&mut self, row: u64, source: &DataFile) -> Result<()> {
        if !self.open.as_ref().is_some_and(|open| (open.row..open.slot.rows.end).contains(&row)) {
            self.close();
            let slot = self.column.pages.page_of(row, source)?;
            let page = self.column.pages.open(&slot, source)?;
            let open = self.opened(slot, page, row)?;
            if matches!(open.encoded, Encoded::Keys { .. }) && self.dictionary.is_none() {
                self.dictionary = Some(self.column.dictionary(source)?);
            }
            self.open = Some(open);
        }
        let (_, width) = self.column.values.physical();
        let Some(open) = &mut self.open else { return Ok(()) };
        let rows = usize::try_from(row - open.row)?;
        if rows > 0 {
            let bytes = &open.page.bytes;
            let values = match &mut open.levels {
                Some(levels) => levels.skip(bytes, rows)?,
                None => rows,
            };
            open.encoded.skip(bytes, width, values)?;
            open.row = row;
        }
        Ok(())
    }

    fn opened(&self, slot: Arc<PageSlot>, page: Arc<PageData>, row: u64) -> Result<OpenPage> {
        if let Some(Mark { row, levels, encoded }) = slot.mark_before(row) {
            return Ok(OpenPage { slot, page, row, levels, encoded });
        }
        let (physical, width) = self.column.values.physical();
        let encoded = Encoded::first(&page, physical, width)?;
        let levels = page.levels.clone().map(Levels::new).transpose()?;
        Ok(OpenPage { row: slot.rows.start, slot, page, levels, encoded })
    }

    /// Decode the remaining rows of the open page before `end`, and return the row after the last decoded row.
    fn read_page(
        &mut self,
        end: u64,
        values: &mut V::Values,
        validity: &mut Validity,
    ) -> Result<u64> {
        let column = &self.column;
        let Some(open) = &mut self.open else { return Ok(end) };
        let end = end.min(open.slot.rows.end);
        let rows = usize::try_from(end - open.row)?;
        let bytes = open.page.bytes.as_ref();
        let valid = match &mut open.levels {
            Some(levels) => levels.read(bytes, rows, validity)?,
            None => {
                validity.append_values(rows);
                rows
            }
        };
        if valid > 0 {
            let dictionary = match open.encoded {
                Encoded::Keys { .. } => self.dictionary.as_deref(),
                _ => None,
            };
            let page = Page { bytes, dictionary, keys: &mut self.keys };
            column.values.append(page, &mut open.encoded, valid, values)?;
        }
        if valid < rows {
            column.values.spread(validity, rows, valid, values);
        }
        open.row = end;
        Ok(end)
    }

    fn close(&mut self) {
        if let Some(OpenPage { slot, row, levels, encoded, .. }) = self.open.take() {
            let mark = (row < slot.rows.end).then_some(Mark { row, levels, encoded });
            self.column.pages.close(&slot, mark);
        }
    }
}

impl<V: ValueType> Drop for TypedCursor<V> {
    fn drop(&mut self) {
        self.close();
    }
}

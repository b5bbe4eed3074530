//! The pages of one column chunk, each decompressed once however many threads decode rows of it.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;

use super::encoded::Encoded;
use super::header::{PageHeader, PageKind};
use super::page::{PageData, damaged};
use super::validity::Levels;
use crate::bytes::data_file::DataFile;

/// Bytes in which most page headers end.
const HEADER_BYTES: u64 = 128;

/// The row group that pages belong to.
#[derive(Clone)]
pub(crate) struct RowGroup {
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) ordinal: usize,
    pub(crate) rows: u64,
    /// The parts of its rows that are decoded, each by one thread.
    pub(crate) parts: Arc<[Range<u64>]>,
    /// Whether a part may leave out all rows of a page, by a filter or by deletes.
    pub(crate) may_skip_pages: bool,
    /// Bytes of pages that may wait for another thread; other pages are decompressed again.
    pub(crate) kept_bytes: Arc<AtomicUsize>,
}

/// The pages of one column chunk.
pub(crate) struct ChunkPages {
    group: RowGroup,
    leaf: usize,
    table: Mutex<PageTable>,
}

/// The pages of a column chunk that are located.
#[derive(Default)]
struct PageTable {
    dictionary: Option<Range<u64>>,
    pages: Vec<Arc<PageSlot>>,
    /// The first pages whose row counts need no further check.
    checked: usize,
    /// What has not been searched for pages.
    rest: Range<u64>,
}

/// One data page.
pub(crate) struct PageSlot {
    /// Its header and what is after it.
    bytes: Range<u64>,
    /// The rows of the row group that it holds.
    pub(crate) rows: Range<u64>,
    state: Mutex<SlotState>,
}

struct SlotState {
    /// Parts that have not finished with the page.
    users: usize,
    page: Option<Arc<PageData>>,
    /// Where parts ended within the page.
    marks: Vec<Mark>,
    /// Whether the page's header states the number of its rows.
    is_checked: bool,
}

/// The position of a row in its page.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) row: u64,
    pub(crate) levels: Option<Levels>,
    pub(crate) encoded: Encoded,
}

impl ChunkPages {
    /// The pages of a leaf; `None` where there is no such column chunk or its offsets or length are negative, which the
    /// decoder of the parquet crate reports.
    pub(crate) fn new(group: RowGroup, leaf: usize) -> Option<Self> {
        let column = group.metadata.row_groups().get(group.ordinal)?.columns().get(leaf)?;
        let dictionary = column.dictionary_page_offset().unwrap_or(0);
        if dictionary.min(column.data_page_offset()).min(column.compressed_size()) < 0 {
            return None;
        }
        let (start, length) = column.byte_range();
        let rest = start..start.checked_add(length)?;
        let table =
            located(&group, leaf, &rest).unwrap_or(PageTable { rest, ..Default::default() });
        Some(Self { table: Mutex::new(table), group, leaf })
    }

    fn column(&self) -> Result<&ColumnChunkMetaData> {
        let group = self.group.metadata.row_groups().get(self.group.ordinal);
        group
            .and_then(|group| group.columns().get(self.leaf))
            .ok_or_else(|| ParquetError::General(format!("no column {}", self.leaf)))
    }

    fn table(&self) -> MutexGuard<'_, PageTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page that holds a row.
    ///
    /// # Errors
    /// Those of reading page headers; `General` where the pages hold other than the row group's rows.
    pub(crate) fn page_of(&self, row: u64, source: &DataFile) -> Result<Arc<PageSlot>> {
        let mut table = self.table();
        loop {
            let index = table.pages.partition_point(|page| page.rows.end <= row);
            if let Some(page) = table.pages.get(index).cloned() {
                self.check_skipped(&mut table, index, source)?;
                return Ok(page);
            }
            if !self.locate_next(&mut table, source)? {
                let found = table.pages.last().map_or(0, |page| page.rows.end);
                return Err(self.other_rows(found));
            }
            // The last row is followed by nothing.
            if table.pages.last().is_some_and(|page| page.rows.end == self.group.rows) {
                while self.locate_next(&mut table, source)? {}
            }
        }
    }

    /// Locate the next page; false where there is none.
    fn locate_next(&self, table: &mut PageTable, source: &DataFile) -> Result<bool> {
        if table.rest.is_empty() {
            return Ok(false);
        }
        let (header, length) = read_header(source, &table.rest)?;
        let end = [length as u64, header.compressed_bytes as u64]
            .iter()
            .try_fold(table.rest.start, |at, bytes| at.checked_add(*bytes))
            .filter(|end| *end <= table.rest.end)
            .ok_or_else(|| damaged("it reaches beyond the end of its column".into()))?;
        let bytes = table.rest.start..end;
        table.rest.start = end;
        match header.kind {
            PageKind::Dictionary => table.dictionary = Some(bytes),
            PageKind::Data | PageKind::DataV2 { .. } => {
                let start = table.pages.last().map_or(0, |page| page.rows.end);
                let rows = start..start.saturating_add(header.num_values);
                if rows.end > self.group.rows {
                    return Err(self.other_rows(rows.end));
                }
                if !rows.is_empty() {
                    table.pages.push(Arc::new(PageSlot::new(bytes, rows, &self.group.parts)));
                    table.checked = table.pages.len();
                }
            }
            PageKind::Other => {}
        }
        Ok(true)
    }

    /// Compare the row counts of skipped pages before a page with their headers: a wrong first row in the offset index
    /// would pair rows of different columns. Remote pages are not requested for it, and a header that cannot be read is no
    /// error, since no row of its page is wanted.
    fn check_skipped(&self, table: &mut PageTable, page: usize, source: &DataFile) -> Result<()> {
        if !matches!(source, DataFile::Local(_)) {
            return Ok(());
        }
        for slot in table.pages.iter().take(page).skip(table.checked) {
            let mut state = slot.state();
            if !state.is_checked && (state.users == 0 || self.group.may_skip_pages) {
                if let Ok((header, _)) = read_header(source, &slot.bytes) {
                    slot.check_rows(header.num_values)?;
                }
                state.is_checked = true;
            }
        }
        table.checked = table.checked.max(page);
        Ok(())
    }

    fn other_rows(&self, found: u64) -> ParquetError {
        let (group, expected) = (self.group.ordinal, self.group.rows);
        ParquetError::General(format!(
            "row group {group} holds {found} rows, its footer says {expected}"
        ))
    }

    /// A page, decompressed.
    ///
    /// # Errors
    /// Those of reading and decompressing it.
    pub(crate) fn open(&self, slot: &PageSlot, source: &DataFile) -> Result<Arc<PageData>> {
        let mut state = slot.state();
        if let Some(page) = &state.page {
            return Ok(Arc::clone(page));
        }
        let (header, page) = self.load(&slot.bytes, source)?;
        slot.check_rows(page.num_values)?;
        state.is_checked = true;
        if matches!(header.kind, PageKind::Dictionary | PageKind::Other) {
            return Err(damaged("expected a data page by the offset index".into()));
        }
        let page = Arc::new(page);
        let (size, left) = (page.bytes.len(), &self.group.kept_bytes);
        let relaxed = Ordering::Relaxed;
        if state.users > 1 && left.fetch_update(relaxed, relaxed, |it| it.checked_sub(size)).is_ok()
        {
            state.page = Some(Arc::clone(&page));
        }
        Ok(page)
    }

    /// A part has finished with a page, at `mark` if not at its end.
    pub(crate) fn close(&self, slot: &PageSlot, mark: Option<Mark>) {
        let mut state = slot.state();
        state.users = state.users.saturating_sub(1);
        state.marks.extend(mark);
        if state.users == 0 {
            state.marks.clear();
            if let Some(page) = state.page.take() {
                self.group.kept_bytes.fetch_add(page.bytes.len(), Ordering::Relaxed);
            }
        }
    }

    /// The dictionary page and its number of entries.
    ///
    /// # Errors
    /// Those of reading and decompressing it; `General` where there is none.
    pub(crate) fn dictionary(&self, source: &DataFile) -> Result<(Bytes, usize)> {
        let bytes = self.table().dictionary.clone();
        let none = || damaged("it holds keys of a dictionary that the column has not".into());
        let (header, page) = self.load(&bytes.ok_or_else(none)?, source)?;
        if header.kind != PageKind::Dictionary {
            return Err(none());
        }
        Ok((page.bytes, usize::try_from(page.num_values)?))
    }

    fn load(&self, range: &Range<u64>, source: &DataFile) -> Result<(PageHeader, PageData)> {
        let length = usize::try_from(range.end - range.start)?;
        let stored = source.get_bytes(range.start, length)?;
        let parsed = PageHeader::parse(&stored)?;
        let (header, header_bytes) =
            parsed.ok_or_else(|| damaged("its header is cut off".into()))?;
        let end = header_bytes.checked_add(header.compressed_bytes);
        let end = end.filter(|end| *end <= stored.len());
        let end =
            end.ok_or_else(|| damaged("it reaches beyond its end in the offset index".into()))?;
        let page = PageData::new(&header, &stored.slice(..end), header_bytes, self.column()?)?;
        Ok((header, page))
    }
}

impl PageSlot {
    fn new(bytes: Range<u64>, rows: Range<u64>, parts: &[Range<u64>]) -> Self {
        let users = parts.iter().filter(|part| part.start < rows.end && rows.start < part.end);
        let state =
            SlotState { users: users.count(), page: None, marks: Vec::new(), is_checked: false };
        Self { bytes, rows, state: Mutex::new(state) }
    }

    fn check_rows(&self, num_values: u64) -> Result<()> {
        let rows = self.rows.end - self.rows.start;
        if num_values == rows {
            return Ok(());
        }
        Err(damaged(format!("expected {rows} values by the offset index, got {num_values}")))
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nearest mark before or at a row.
    pub(crate) fn mark_before(&self, row: u64) -> Option<Mark> {
        let state = self.state();
        state.marks.iter().filter(|mark| mark.row <= row).max_by_key(|mark| mark.row).cloned()
    }
}

/// All pages of a column chunk by its offset index, where that has been read.
fn located(group: &RowGroup, leaf: usize, chunk: &Range<u64>) -> Option<PageTable> {
    let index = group.metadata.page_index()?.offset_index(group.ordinal, leaf)?;
    let locations = index.page_locations();
    let first = u64::try_from(locations.first()?.offset).ok()?;
    let ends = locations.iter().skip(1).map(|next| u64::try_from(next.first_row_index).ok());
    let pages = locations.iter().zip(ends.chain([Some(group.rows)])).map(|(page, end)| {
        let start = u64::try_from(page.offset).ok()?;
        let length = u64::try_from(page.compressed_page_size).ok()?;
        let rows = u64::try_from(page.first_row_index).ok()?..end?;
        Some(Arc::new(PageSlot::new(start..start.checked_add(length)?, rows, &group.parts)))
    });
    Some(PageTable {
        dictionary: (chunk.start < first).then_some(chunk.start..first),
        pages: pages.collect::<Option<_>>()?,
        checked: 0,
        rest: chunk.end..chunk.end,
    })
}

fn read_header(source: &DataFile, rest: &Range<u64>) -> Result<(PageHeader, usize)> {
    let most = rest.end - rest.start;
    let mut size = most.min(HEADER_BYTES);
    loop {
        let bytes = source.get_bytes(rest.start, usize::try_from(size)?)?;
        if let Some(parsed) = PageHeader::parse(&bytes)? {
            return Ok(parsed);
        }
        if size == most {
            return Err(damaged("its header is cut off".into()));
        }
        size = size.saturating_mul(8).min(most);
    }
}

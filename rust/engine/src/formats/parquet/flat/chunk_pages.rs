//! The pages of one column chunk. A page that holds rows of several parts is decompressed once for all of them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;

use super::encoded::Encoded;
use super::header::{PageHeader, PageKind, data_page_values};
use super::page::{PageData, damaged};
use super::validity::Levels;
use crate::bytes::data_file::DataFile;

/// Bytes of the first read of a page header; most headers are shorter.
const HEADER_BYTES: u64 = 128;
/// Bytes of a header up to the number of values, with sizes and counts of any length that a page of 64 MiB has.
const COUNT_BYTES: u64 = 24;

/// A row group and the parts that are decoded of it.
#[derive(Clone)]
pub(crate) struct RowGroup {
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) ordinal: usize,
    pub(crate) rows: u64,
    /// The ranges of rows that are decoded, each by one thread.
    pub(crate) parts: Arc<[Range<u64>]>,
    /// Whether a filter or deletes may exclude all rows of a page.
    pub(crate) may_skip_pages: bool,
    /// Bytes left for pages held for other threads. A page beyond them is decompressed again by each thread.
    pub(crate) kept_bytes: Arc<AtomicUsize>,
}

/// The pages of one column chunk.
pub(crate) struct ChunkPages {
    group: RowGroup,
    leaf: usize,
    table: Mutex<PageTable>,
}

/// The located pages of a column chunk.
#[derive(Default)]
struct PageTable {
    dictionary: Option<Range<u64>>,
    pages: Vec<Arc<PageSlot>>,
    /// Number of leading pages whose row counts need no further check.
    checked: usize,
    /// The byte range whose pages are not located yet.
    rest: Range<u64>,
}

/// A located data page, shared by the threads that decode its rows.
pub(crate) struct PageSlot {
    /// The byte range of the page's header and body.
    bytes: Range<u64>,
    /// The page's rows, by their ordinals within the row group.
    pub(crate) rows: Range<u64>,
    state: Mutex<SlotState>,
}

struct SlotState {
    /// Number of parts that still have to decode rows of the page.
    users: usize,
    page: Option<Arc<PageData>>,
    /// Decoder positions at the rows of the page where parts end.
    marks: Vec<Mark>,
    /// Whether the row count has been compared with the page's header.
    is_checked: bool,
}

/// The decoder's position at a row of a page.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) row: u64,
    pub(crate) levels: Option<Levels>,
    pub(crate) encoded: Encoded,
}

impl ChunkPages {
    /// Return the pages of a leaf. `None` for an absent column chunk and for negative offsets or lengths, which the
    /// decoder of the Parquet crate reports.
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

    /// Return the page that holds a row.
    ///
    /// # Errors
    /// The errors of reading page headers; `General` if the rows of the pages differ from the rows of the row group.
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
            // Locate the remaining pages after the last row: further rows are an error.
            if table.pages.last().is_some_and(|page| page.rows.end == self.group.rows) {
                while self.locate_next(&mut table, source)? {}
            }
        }
    }

    /// Locate the next page; return false at the end of the column chunk.
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
    /// would pair values of different rows. Remote pages are not requested for this check. An unreadable header is
    /// ignored, because no row of its page is selected.
    fn check_skipped(&self, table: &mut PageTable, page: usize, source: &DataFile) -> Result<()> {
        if !matches!(source, DataFile::Local(_)) {
            return Ok(());
        }
        for slot in table.pages.iter().take(page).skip(table.checked) {
            let mut state = slot.state();
            if !state.is_checked && (state.users == 0 || self.group.may_skip_pages) {
                if let Some(num_values) = read_count(source, &slot.bytes) {
                    slot.check_rows(num_values)?;
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

    /// Return the decompressed page of a slot.
    ///
    /// # Errors
    /// The errors of reading and decompressing the page.
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

    /// Release a page for one part. `mark` is the part's last position, if it is before the end of the page.
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

    /// Return the decompressed dictionary page and its number of entries.
    ///
    /// # Errors
    /// The errors of reading and decompressing the page; `General` for an absent dictionary page.
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

    /// Return the last mark at or before a row.
    pub(crate) fn mark_before(&self, row: u64) -> Option<Mark> {
        let state = self.state();
        state.marks.iter().filter(|mark| mark.row <= row).max_by_key(|mark| mark.row).cloned()
    }
}

/// Return all pages of a column chunk from its offset index. `None` without an offset index.
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

/// Return the number of values of a page. `None` for an unreadable header.
fn read_count(source: &DataFile, page: &Range<u64>) -> Option<u64> {
    let length = usize::try_from((page.end - page.start).min(COUNT_BYTES)).ok()?;
    let start = source.get_bytes(page.start, length).ok()?;
    let whole = || read_header(source, page).ok().map(|(header, _)| header.num_values);
    data_page_values(&start).or_else(whole)
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

//! Data pages of a column chunk that another file takes over byte by byte.

use std::ops::Range;

use bytes::Bytes;
use parquet::basic::{CompressionCodec, PageType};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::page_index::PageIndexProvider;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::ChunkReader;
use parquet::schema::types::ColumnDescPtr;

use super::page_statistics::PageStatistics;
use crate::bytes::data_file::DataFile;
use crate::bytes::page_sizes::page_sizes;

/// A column chunk whose pages can be copied.
pub(super) struct SourceChunk<'a> {
    metadata: &'a ColumnChunkMetaData,
    column_index: &'a ColumnIndexMetaData,
    offset_index: &'a OffsetIndexMetaData,
    rows: i64,
}

impl<'a> SourceChunk<'a> {
    /// Return the chunk of a column in a row group of `rows` rows. `None` if a file with these properties would store its
    /// values in another way, or if it is not flat, or has no page index.
    pub(super) fn new(
        metadata: &'a ColumnChunkMetaData,
        indexes: &'a dyn PageIndexProvider,
        (row_group, leaf): (usize, usize),
        (properties, rows): (&WriterProperties, i64),
    ) -> Option<Self> {
        let path = metadata.column_path();
        let column = metadata.column_descr();
        let column_index = indexes.column_index(row_group, leaf)?;
        let offset_index = indexes.offset_index(row_group, leaf)?;
        let is_flat =
            column.max_rep_level() == 0 && column.max_def_level() <= 1 && path.parts().len() == 1;
        let is_stored_alike = metadata.compression_codec()
            == CompressionCodec::from(properties.compression(path))
            && properties.statistics_enabled(path) == EnabledStatistics::Page
            && properties.bloom_filter_properties(path).is_none()
            && metadata.bloom_filter_offset().is_none()
            && (properties.dictionary_enabled(path) || metadata.dictionary_page_offset().is_none());
        let pages = offset_index.page_locations().len();
        let is_whole = metadata.num_values() == rows
            && u64::try_from(pages) == Ok(column_index.num_pages())
            && metadata.statistics().is_some();
        let chunk = Self { metadata, column_index, offset_index, rows };
        (is_flat && is_stored_alike && is_whole && chunk.is_contiguous()).then_some(chunk)
    }

    /// Return the first row of each page within the row group.
    pub(super) fn page_rows(&self) -> impl Iterator<Item = i64> {
        self.locations().iter().map(|page| page.first_row_index)
    }

    fn locations(&self) -> &'a [PageLocation] {
        self.offset_index.page_locations()
    }

    /// Return whether the dictionary page and the data pages follow one another within the chunk.
    fn is_contiguous(&self) -> bool {
        let (start, length) = self.metadata.byte_range();
        let mut end = i64::try_from(start).unwrap_or(i64::MAX);
        let first = self.locations().first().map_or(-1, |page| page.offset);
        if first != self.metadata.data_page_offset() {
            return false;
        }
        if self.metadata.dictionary_page_offset().is_some() {
            end = first.max(end);
        }
        let follow = self.locations().iter().all(|page| {
            let follows = page.offset == end && page.compressed_page_size > 0;
            end = end.saturating_add(i64::from(page.compressed_page_size));
            follows
        });
        follow && u64::try_from(end) == Ok(start.saturating_add(length))
    }

    /// Return the pages of a range of rows that begins and ends with pages.
    fn pages(&self, rows: &Range<i64>) -> Option<Range<usize>> {
        let starts = self.locations();
        let index = |row| starts.binary_search_by_key(&row, |page| page.first_row_index).ok();
        let end = if rows.end == self.rows { starts.len() } else { index(rows.end)? };
        Some(index(rows.start)?..end)
    }

    /// Return a copy of the pages of a range of rows, for a file with this column. `None` if the statistics of the pages
    /// do not say all that the statistics of the values would say.
    pub(super) fn copy(&self, rows: &Range<i64>, column: &ColumnDescPtr) -> Option<CopiedChunk> {
        let pages = self.pages(rows)?;
        let statistics =
            PageStatistics::new(self.column_index, self.metadata.column_descr(), pages.clone())?;
        let data = self.data(&pages)?;
        let dictionary = match self.metadata.dictionary_page_offset() {
            Some(offset) => unsigned(offset)?..unsigned(self.metadata.data_page_offset())?,
            None => data.start..data.start,
        };
        let first_page = i64::try_from(dictionary.end - dictionary.start).ok()?;
        let texts = self.offset_index.unencoded_byte_array_data_bytes();
        let texts = texts.and_then(|bytes| bytes.get(pages.clone()));
        let mut metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression_codec(self.metadata.compression_codec())
            .set_encodings_mask(*self.metadata.encodings_mask())
            .set_num_values(rows.end - rows.start)
            .set_total_compressed_size(first_page + i64::try_from(data.end - data.start).ok()?)
            .set_dictionary_page_offset((first_page > 0).then_some(0))
            .set_data_page_offset(first_page)
            .set_statistics(statistics.of_chunk()?)
            .set_unencoded_byte_array_data_bytes(texts.map(|bytes| bytes.iter().sum()));
        if let Some(encodings) = self.encodings(pages.len()) {
            metadata = metadata.set_page_encoding_stats(encodings);
        }
        let close = ColumnCloseResult {
            bytes_written: data.end - data.start,
            rows_written: u64::try_from(rows.end - rows.start).ok()?,
            metadata: metadata.build().ok()?,
            bloom_filter: None,
            column_index: Some(statistics.column_index().ok()?),
            offset_index: Some(self.offsets(pages, rows.end, (first_page, texts))?),
        };
        Some(CopiedChunk { dictionary, data, close })
    }

    /// Return the place of some data pages in the file.
    fn data(&self, pages: &Range<usize>) -> Option<Range<u64>> {
        let locations = self.locations().get(pages.clone())?;
        let (first, last) = (locations.first()?, locations.last()?);
        let end = last.offset.checked_add(i64::from(last.compressed_page_size))?;
        let data = unsigned(first.offset)?..unsigned(end)?;
        (data.start <= data.end).then_some(data)
    }

    /// Return the offset index of some data pages, of which the first is at `start` in the new chunk. `rows_end` is the
    /// row after the last page, and `texts` has the bytes of the texts of each page.
    fn offsets(
        &self,
        pages: Range<usize>,
        rows_end: i64,
        (start, texts): (i64, Option<&[i64]>),
    ) -> Option<OffsetIndexMetaData> {
        let locations = self.locations().get(pages)?;
        let shift = start - locations.first()?.offset;
        let ends = locations.iter().skip(1).map(|page| page.first_row_index).chain([rows_end]);
        let mut offsets = OffsetIndexBuilder::new();
        for (number, (page, end)) in locations.iter().zip(ends).enumerate() {
            offsets.append_row_count(end - page.first_row_index);
            offsets.append_offset_and_size(page.offset + shift, page.compressed_page_size);
            let bytes = texts.and_then(|bytes| bytes.get(number).copied());
            offsets.append_unencoded_byte_array_data_bytes(bytes);
        }
        Some(offsets.build())
    }

    /// Return the encodings of some data pages, if all pages of the chunk have the same.
    fn encodings(&self, pages: usize) -> Option<Vec<PageEncodingStats>> {
        let stated = self.metadata.page_encoding_stats()?;
        let of_data = stated.iter().filter(|stats| stats.page_type != PageType::DICTIONARY_PAGE);
        if of_data.count() != 1 {
            return None;
        }
        let count = i32::try_from(pages).ok()?;
        let counted = stated.iter().map(|stats| match stats.page_type {
            PageType::DICTIONARY_PAGE => stats.clone(),
            _ => PageEncodingStats { count, ..stats.clone() },
        });
        Some(counted.collect())
    }
}

/// Pages of a column chunk in another file, and their description as a chunk.
#[derive(Debug)]
pub(super) struct CopiedChunk {
    dictionary: Range<u64>,
    data: Range<u64>,
    close: ColumnCloseResult,
}

impl CopiedChunk {
    /// Return the bytes of the pages.
    pub(super) fn len(&self) -> u64 {
        (self.dictionary.end - self.dictionary.start) + (self.data.end - self.data.start)
    }

    /// Read the pages; return them with their description, whose offsets start at the first page.
    ///
    /// # Errors
    /// The errors of reading the file, and `General` for bytes that are not pages.
    pub(super) fn read(self, file: &DataFile) -> Result<(Bytes, ColumnCloseResult)> {
        let Self { dictionary, data, mut close } = self;
        let read = |range: &Range<u64>| {
            file.get_bytes(range.start, usize::try_from(range.end - range.start)?)
        };
        let bytes = if dictionary.end == data.start {
            read(&(dictionary.start..data.end))?
        } else if dictionary.is_empty() {
            read(&data)?
        } else {
            Bytes::from([read(&dictionary)?, read(&data)?].concat())
        };
        let uncompressed = uncompressed_bytes(&bytes, &close)?;
        let metadata = close.metadata.into_builder();
        close.metadata = metadata.set_total_uncompressed_size(uncompressed).build()?;
        Ok((bytes, close))
    }
}

/// Return the bytes of pages and their headers without compression.
fn uncompressed_bytes(bytes: &Bytes, close: &ColumnCloseResult) -> Result<i64> {
    let wrong = || ParquetError::General("expected the header of a page".to_owned());
    let pages = close.offset_index.iter().flat_map(OffsetIndexMetaData::page_locations);
    let pages = pages.map(|page| (page.offset, i64::from(page.compressed_page_size)));
    let dictionary = close.metadata.data_page_offset();
    let dictionary = (dictionary > 0).then_some((0, dictionary));
    dictionary.into_iter().chain(pages).try_fold(0i64, |sum, (offset, size)| {
        let page = usize::try_from(offset).ok().and_then(|start| bytes.get(start..));
        let sizes = page.and_then(page_sizes).ok_or_else(wrong)?;
        let (plain, stored) =
            (i64::try_from(sizes.uncompressed)?, i64::try_from(sizes.compressed)?);
        let header = size.checked_sub(stored).filter(|header| *header > 0).ok_or_else(wrong)?;
        sum.checked_add(header).and_then(|sum| sum.checked_add(plain)).ok_or_else(wrong)
    })
}

fn unsigned(value: i64) -> Option<u64> {
    u64::try_from(value).ok()
}

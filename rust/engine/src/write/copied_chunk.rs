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
use parquet::file::statistics::Statistics;
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
        let column_index = indexes.column_index(row_group, leaf)?;
        let offset_index = indexes.offset_index(row_group, leaf)?;
        let chunk = Self { metadata, column_index, offset_index, rows };
        let can_be_copied = chunk.is_flat()
            && chunk.is_stored_as(properties)
            && chunk.is_whole()
            && chunk.is_contiguous();
        can_be_copied.then_some(chunk)
    }

    fn is_flat(&self) -> bool {
        let column = self.metadata.column_descr();
        let is_top_level = self.metadata.column_path().parts().len() == 1;
        column.max_rep_level() == 0 && column.max_def_level() <= 1 && is_top_level
    }

    /// Return whether a file with these properties stores the values in the same way.
    fn is_stored_as(&self, properties: &WriterProperties) -> bool {
        let (metadata, path) = (self.metadata, self.metadata.column_path());
        let codec = CompressionCodec::from(properties.compression(path));
        let has_dictionary = metadata.dictionary_page_offset().is_some();
        metadata.compression_codec() == codec
            && properties.statistics_enabled(path) == EnabledStatistics::Page
            && properties.bloom_filter_properties(path).is_none()
            && metadata.bloom_filter_offset().is_none()
            && (properties.dictionary_enabled(path) || !has_dictionary)
    }

    /// Return whether the indexes describe all values and pages.
    fn is_whole(&self) -> bool {
        self.metadata.num_values() == self.rows
            && u64::try_from(self.locations().len()) == Ok(self.column_index.num_pages())
            && self.metadata.statistics().is_some()
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
        let descr = self.metadata.column_descr();
        let statistics = PageStatistics::new(self.column_index, descr, pages.clone())?;
        let place = self.place(&pages)?;
        let copied = CopiedPages { chunk: self, pages, rows, place };
        let close = ColumnCloseResult {
            bytes_written: copied.place.data.end - copied.place.data.start,
            rows_written: unsigned(rows.end - rows.start)?,
            metadata: copied.metadata(column, statistics.of_chunk()?)?,
            bloom_filter: None,
            column_index: Some(statistics.column_index().ok()?),
            offset_index: Some(copied.offsets()?),
        };
        Some(CopiedChunk { place: copied.place, close })
    }

    /// Return the place of the dictionary and of some data pages in the file.
    fn place(&self, pages: &Range<usize>) -> Option<Place> {
        let locations = self.locations().get(pages.clone())?;
        let (first, last) = (locations.first()?, locations.last()?);
        let end = last.offset.checked_add(i64::from(last.compressed_page_size))?;
        let data = unsigned(first.offset)?..unsigned(end)?;
        let dictionary = match self.metadata.dictionary_page_offset() {
            Some(offset) => unsigned(offset)?..unsigned(self.metadata.data_page_offset())?,
            None => data.start..data.start,
        };
        (dictionary.start <= dictionary.end && data.start <= data.end)
            .then_some(Place { dictionary, data })
    }
}

/// The places of a dictionary page, which may be empty, and of data pages in a file.
#[derive(Debug)]
struct Place {
    dictionary: Range<u64>,
    data: Range<u64>,
}

impl Place {
    fn dictionary_bytes(&self) -> u64 {
        self.dictionary.end - self.dictionary.start
    }

    fn bytes(&self) -> u64 {
        self.dictionary_bytes() + (self.data.end - self.data.start)
    }
}

/// Data pages of a chunk, which become a chunk that begins with the dictionary page.
struct CopiedPages<'a> {
    chunk: &'a SourceChunk<'a>,
    pages: Range<usize>,
    rows: &'a Range<i64>,
    place: Place,
}

impl CopiedPages<'_> {
    /// Return the description of the new chunk of a column.
    fn metadata(
        &self,
        column: &ColumnDescPtr,
        statistics: Statistics,
    ) -> Option<ColumnChunkMetaData> {
        let source = self.chunk.metadata;
        let first_page = i64::try_from(self.place.dictionary_bytes()).ok()?;
        let mut metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression_codec(source.compression_codec())
            .set_encodings_mask(*source.encodings_mask())
            .set_num_values(self.rows.end - self.rows.start)
            .set_total_compressed_size(i64::try_from(self.place.bytes()).ok()?)
            .set_dictionary_page_offset((first_page > 0).then_some(0))
            .set_data_page_offset(first_page)
            .set_statistics(statistics)
            .set_unencoded_byte_array_data_bytes(self.text_bytes().map(|bytes| bytes.iter().sum()));
        if let Some(encodings) = self.encodings() {
            metadata = metadata.set_page_encoding_stats(encodings);
        }
        metadata.build().ok()
    }

    /// Return the bytes of the texts of each page, which the offset index of a column of texts has.
    fn text_bytes(&self) -> Option<&[i64]> {
        let bytes = self.chunk.offset_index.unencoded_byte_array_data_bytes()?;
        bytes.get(self.pages.clone())
    }

    /// Return the offset index of the new chunk.
    fn offsets(&self) -> Option<OffsetIndexMetaData> {
        let locations = self.chunk.locations().get(self.pages.clone())?;
        let first_page = i64::try_from(self.place.dictionary_bytes()).ok()?;
        let shift = first_page - locations.first()?.offset;
        let ends = locations.iter().skip(1).map(|page| page.first_row_index);
        let ends = ends.chain([self.rows.end]);
        let mut offsets = OffsetIndexBuilder::new();
        for (number, (page, end)) in locations.iter().zip(ends).enumerate() {
            offsets.append_row_count(end - page.first_row_index);
            offsets.append_offset_and_size(page.offset + shift, page.compressed_page_size);
            let bytes = self.text_bytes().and_then(|bytes| bytes.get(number).copied());
            offsets.append_unencoded_byte_array_data_bytes(bytes);
        }
        Some(offsets.build())
    }

    /// Return the encodings of the pages, if all pages of the source have the same.
    fn encodings(&self) -> Option<Vec<PageEncodingStats>> {
        let stated = self.chunk.metadata.page_encoding_stats()?;
        let of_data = stated.iter().filter(|stats| stats.page_type != PageType::DICTIONARY_PAGE);
        if of_data.count() != 1 {
            return None;
        }
        let count = i32::try_from(self.pages.len()).ok()?;
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
    place: Place,
    close: ColumnCloseResult,
}

impl CopiedChunk {
    /// Return the bytes of the pages.
    pub(super) fn len(&self) -> u64 {
        self.place.bytes()
    }

    /// Read the pages; return them with their description, whose offsets start at the first page.
    ///
    /// # Errors
    /// The errors of reading the file, and `General` for bytes that are not pages.
    pub(super) fn read(self, file: &DataFile) -> Result<(Bytes, ColumnCloseResult)> {
        let Self { place: Place { dictionary, data }, mut close } = self;
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

//! A Parquet column chunk of one repeated text, encoded page by page instead of row by row.
//!
//! The full pages of such a chunk are equal, so one page is encoded and written for all of them.

use bytes::Bytes;
use parquet::basic::{BoundaryOrder, PageType};
use parquet::column::page::{CompressedPage, PageWriteSpec, PageWriter};
use parquet::column::writer::{ColumnCloseResult, get_column_writer, get_typed_column_writer};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// A page with its header, as the file stores it.
#[derive(Debug)]
struct StoredPage {
    bytes: Vec<u8>,
    uncompressed: usize,
    is_dictionary: bool,
}

/// Keeps the pages of a column writer.
struct Pages<'a>(&'a mut Vec<StoredPage>);

impl PageWriter for Pages<'_> {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        let before: usize = self.0.iter().map(|page| page.bytes.len()).sum();
        let mut sink = TrackedWrite::new(Vec::new());
        let mut written = SerializedPageWriter::new(&mut sink).write_page(page)?;
        written.offset = before as u64;
        self.0.push(StoredPage {
            bytes: sink.into_inner()?,
            uncompressed: written.uncompressed_size,
            is_dictionary: written.page_type == PageType::DICTIONARY_PAGE,
        });
        Ok(written)
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The pages of a short chunk: the dictionary of the text and one data page.
struct Template {
    dictionary: StoredPage,
    data: StoredPage,
    close: ColumnCloseResult,
}

impl Template {
    /// Encode `rows` rows; `None` if they do not make a dictionary and one page.
    fn new(
        text: &ByteArray,
        rows: usize,
        (column, properties): (&ColumnDescPtr, &WriterPropertiesPtr),
    ) -> Result<Option<Self>> {
        let mut pages = Vec::new();
        let (column, properties) = (column.clone(), properties.clone());
        let writer = get_column_writer(column, properties, Box::new(Pages(&mut pages)));
        let mut writer = get_typed_column_writer::<ByteArrayType>(writer);
        writer.write_batch(&vec![text.clone(); rows], None, None)?;
        let close = writer.close()?;
        let mut pages = pages.into_iter();
        let template = match (pages.next(), pages.next(), pages.next()) {
            (Some(dictionary), Some(data), None) if dictionary.is_dictionary => {
                Some(Self { dictionary, data, close })
            }
            _ => None,
        };
        Ok(template)
    }
}

/// A column chunk of one repeated text.
pub(super) struct RepeatedText {
    /// The dictionary page, then the data pages.
    pub(super) bytes: Bytes,
    /// The description of the chunk; its offsets start at the dictionary page.
    pub(super) close: ColumnCloseResult,
}

/// Return a required column chunk of `rows` rows that are all `text`, in pages of
/// `page_rows` rows. `None` if a page does not hold this many rows, or the text is too large for a dictionary.
///
/// # Errors
/// The errors of the column writer.
pub(super) fn repeated_text(
    text: &str,
    (rows, page_rows): (usize, usize),
    (column, properties): (&ColumnDescPtr, &WriterPropertiesPtr),
) -> Result<Option<RepeatedText>> {
    let value = ByteArray::from(text);
    let full = Template::new(&value, page_rows, (column, properties))?;
    let Some(Template { dictionary, data, close }) = full else { return Ok(None) };
    let last = match rows % page_rows {
        0 => None,
        rest => match Template::new(&value, rest, (column, properties))? {
            None => return Ok(None),
            Some(last) => Some((rest, last.data)),
        },
    };
    let full = std::iter::repeat_n((page_rows, &data), rows / page_rows);
    let pages: Vec<(usize, &StoredPage)> =
        full.chain(last.as_ref().map(|(rows, page)| (*rows, page))).collect();
    let mut bytes = dictionary.bytes.clone();
    let mut uncompressed = dictionary.uncompressed;
    let mut column_index = ColumnIndexBuilder::new(column.physical_type());
    column_index.set_boundary_order(BoundaryOrder::ASCENDING);
    let mut offset_index = OffsetIndexBuilder::new();
    let bounds = bounds(&close);
    for (rows, page) in &pages {
        offset_index.append_row_count(signed(*rows)?);
        offset_index.append_offset_and_size(signed(bytes.len())?, i32::try_from(page.bytes.len())?);
        offset_index.append_unencoded_byte_array_data_bytes(Some(signed(rows * text.len())?));
        if let Some((least, most)) = &bounds {
            column_index.append(false, least.clone(), most.clone(), 0, None);
        }
        bytes.extend_from_slice(&page.bytes);
        uncompressed += page.uncompressed;
    }
    let stats = close.metadata.page_encoding_stats().into_iter().flatten();
    let stats = stats.map(|stats| match stats.page_type {
        PageType::DICTIONARY_PAGE => Ok(stats.clone()),
        _ => Ok(PageEncodingStats { count: i32::try_from(pages.len())?, ..stats.clone() }),
    });
    let stats = stats.collect::<Result<Vec<_>>>()?;
    let metadata = close.metadata.into_builder();
    let metadata = metadata
        .set_num_values(signed(rows)?)
        .set_total_compressed_size(signed(bytes.len())?)
        .set_total_uncompressed_size(signed(uncompressed)?)
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(signed(dictionary.bytes.len())?)
        .set_page_encoding_stats(stats)
        .set_unencoded_byte_array_data_bytes(Some(signed(rows * text.len())?))
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: rows as u64,
        metadata,
        bloom_filter: None,
        column_index: bounds.is_some().then(|| column_index.build()).transpose()?,
        offset_index: close.offset_index.is_some().then(|| offset_index.build()),
    };
    Ok(Some(RepeatedText { bytes: bytes.into(), close }))
}

/// Return the bounds of the first page in the column index, if there is one.
fn bounds(close: &ColumnCloseResult) -> Option<(Vec<u8>, Vec<u8>)> {
    match &close.column_index {
        Some(ColumnIndexMetaData::BYTE_ARRAY(index)) => {
            Some((index.min_value(0)?.to_vec(), index.max_value(0)?.to_vec()))
        }
        _ => None,
    }
}

fn signed(value: usize) -> Result<i64> {
    i64::try_from(value).map_err(ParquetError::from)
}

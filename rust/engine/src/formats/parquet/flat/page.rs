//! Decompressed pages, with the byte ranges of their levels and values.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use icefloe_format::codec::raw_block::decompress_lz4;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use zstd::zstd_safe::{DCtx, get_error_name};

use super::header::{PageHeader, PageKind};
use crate::bytes::page_sizes::PageSizes;
use crate::formats::parquet::page_header::check_page_sizes;

/// The highest compression ratio of Snappy: a copy of 64 bytes takes 3 bytes.
const SNAPPY_RATIO: usize = 22;

thread_local! {
    /// Contexts are reused: creating one takes longer than decompressing a small page.
    static ZSTD: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// A decompressed page.
#[derive(Debug)]
pub(crate) struct PageData {
    pub(crate) bytes: Bytes,
    /// The byte range of the definition levels, if the column has any.
    pub(crate) levels: Option<Range<usize>>,
    /// Offset of the values, which extend to the end of the page.
    pub(crate) values: usize,
    pub(crate) encoding: Encoding,
    pub(crate) num_values: u64,
}

impl PageData {
    /// Decompress a page. `stored` holds its header of `header_bytes` bytes and its body.
    ///
    /// # Errors
    /// `General` for a page that does not decompress or whose levels extend beyond its end; `NYI` for definition levels
    /// of the deprecated BIT_PACKED encoding.
    pub(crate) fn new(
        header: &PageHeader,
        stored: &Bytes,
        header_bytes: usize,
        column: &ColumnChunkMetaData,
    ) -> Result<Self> {
        check_page_sizes(PageSizes {
            uncompressed: header.uncompressed_bytes as u64,
            compressed: header.compressed_bytes as u64,
            dictionary_values: (header.kind == PageKind::Dictionary).then_some(header.num_values),
        })?;
        let is_optional = column.column_descr().max_def_level() > 0;
        let bytes = decompressed(header, stored, header_bytes, column)?;
        let beyond = || damaged("its levels lie beyond its end".into());
        let (levels, values) = match header.kind {
            PageKind::Data if is_optional => {
                if header.def_levels != Encoding::RLE {
                    let reason = format!("definition levels encoded as {}", header.def_levels);
                    return Err(ParquetError::NYI(reason));
                }
                let length = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
                let length = length.and_then(|length| usize::try_from(length).ok());
                let end = length.and_then(|length| length.checked_add(4)).ok_or_else(beyond)?;
                (Some(4..end), end)
            }
            PageKind::DataV2 { rep_levels_bytes, def_levels_bytes, .. } => {
                let end = rep_levels_bytes.checked_add(def_levels_bytes).ok_or_else(beyond)?;
                (is_optional.then_some(rep_levels_bytes..end), end)
            }
            _ => (None, 0),
        };
        if values > bytes.len() {
            return Err(beyond());
        }
        let (encoding, num_values) = (header.encoding, header.num_values);
        Ok(Self { bytes, levels, values, encoding, num_values })
    }
}

/// Return the decompressed body of a page. The levels of a version 2 data page precede its values and are never
/// compressed.
fn decompressed(
    header: &PageHeader,
    stored: &Bytes,
    header_bytes: usize,
    column: &ColumnChunkMetaData,
) -> Result<Bytes> {
    let body = stored.slice(header_bytes.min(stored.len())..);
    let (plain, is_compressed) = match header.kind {
        PageKind::DataV2 { rep_levels_bytes, def_levels_bytes, is_compressed } => {
            (rep_levels_bytes.saturating_add(def_levels_bytes), is_compressed)
        }
        _ => (0, true),
    };
    let codec = column.compression();
    if !is_compressed || codec == Compression::UNCOMPRESSED {
        return Ok(body);
    }
    let size = header.uncompressed_bytes;
    let most = usize::try_from(column.uncompressed_size()).unwrap_or(0);
    if size > most {
        return Err(damaged(format!(
            "expected at most the {most} bytes of its column, got {size}"
        )));
    }
    if !matches!(codec, Compression::SNAPPY | Compression::ZSTD(_) | Compression::LZ4) {
        return other_codec(stored, column);
    }
    let (levels, block) = body
        .split_at_checked(plain)
        .filter(|_| plain <= size)
        .ok_or_else(|| damaged("its levels lie beyond its end".into()))?;
    // A page of nulls has no values and hence no compressed block.
    if size == plain {
        return Ok(body.slice(..plain));
    }
    let page = match codec {
        Compression::SNAPPY => unsnappy(levels, block, size)?,
        Compression::LZ4 => match unlz4(block, size - plain) {
            Some(values) if levels.is_empty() => values,
            Some(values) => [levels, &values].concat(),
            // LZ4 frames of old writers.
            None => return other_codec(stored, column),
        },
        _ => unzstd(levels, block, size)?,
    };
    match page.len() == size {
        true => Ok(page.into()),
        false => Err(damaged(format!("expected {size} bytes, got {}", page.len()))),
    }
}

fn unsnappy(levels: &[u8], block: &[u8], size: usize) -> Result<Vec<u8>> {
    let length = snap::raw::decompress_len(block)?;
    if length != size - levels.len() || length > block.len().saturating_mul(SNAPPY_RATIO) {
        return Err(damaged(format!("expected {size} bytes, got {length}")));
    }
    let mut page = vec![0; size];
    let (front, values) = page.split_at_mut(levels.len());
    front.copy_from_slice(levels);
    snap::raw::Decoder::new().decompress(block, values)?;
    Ok(page)
}

fn unzstd(levels: &[u8], block: &[u8], size: usize) -> Result<Vec<u8>> {
    let mut values: Vec<u8> = Vec::with_capacity(size - levels.len());
    ZSTD.with_borrow_mut(|context| {
        if context.is_none() {
            *context = DCtx::try_create();
        }
        let context =
            context.as_mut().ok_or_else(|| damaged("no memory to decompress it".into()))?;
        let length = context.decompress(&mut values, block);
        length.map_err(|code| damaged(get_error_name(code).into()))
    })?;
    if levels.is_empty() {
        return Ok(values);
    }
    Ok([levels, &values].concat())
}

/// Decompress the deprecated codec LZ4, whose blocks are framed as by Hadoop, or not framed by old writers. `None` for
/// any other bytes.
///
/// The Parquet crate refuses frames that are not followed by a longer one.
fn unlz4(block: &[u8], size: usize) -> Option<Vec<u8>> {
    hadoop_lz4(block, size)
        .or_else(|| decompress_lz4(block, size).ok().filter(|values| values.len() == size))
}

/// Decompress frames, each of which holds its decompressed size and then blocks preceded by their compressed sizes.
fn hadoop_lz4(mut rest: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut values = Vec::new();
    while !rest.is_empty() {
        let end = values.len().checked_add(big_endian(&mut rest)?).filter(|end| *end <= size)?;
        while values.len() < end {
            let length = big_endian(&mut rest)?;
            let (block, after) = rest.split_at_checked(length)?;
            let decompressed = decompress_lz4(block, end - values.len()).ok()?;
            if decompressed.is_empty() {
                return None;
            }
            values.extend(decompressed);
            rest = after;
        }
    }
    (values.len() == size).then_some(values)
}

fn big_endian(rest: &mut &[u8]) -> Option<usize> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_be_bytes(*bytes)).ok()
}

/// Decompress a page of another codec by the Parquet crate, whose page reader takes the page as a column chunk.
fn other_codec(stored: &Bytes, column: &ColumnChunkMetaData) -> Result<Bytes> {
    let length = i64::try_from(stored.len())?;
    let alone = column.clone().into_builder().set_dictionary_page_offset(None);
    let alone = alone.set_data_page_offset(0).set_total_compressed_size(length).build()?;
    let rows = usize::try_from(column.num_values()).unwrap_or(0);
    let mut reader = SerializedPageReader::new(Arc::new(stored.clone()), &alone, rows, None)?;
    // The bytes are in memory, so every error is one of decompression.
    let page = reader.get_next_page().map_err(|error| damaged(error.to_string()))?;
    page.as_ref().map(Page::buffer).cloned().ok_or_else(|| damaged("it is not there".into()))
}

/// Return the error of a page that cannot be decoded.
pub(super) fn damaged(reason: String) -> ParquetError {
    ParquetError::General(format!("page: {reason}"))
}

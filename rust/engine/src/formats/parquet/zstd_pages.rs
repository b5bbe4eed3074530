//! Decompression of Zstandard pages with one context per thread.
//!
//! The Parquet crate creates two contexts for each column chunk. Each new context queries the processor's features; in
//! a virtual machine the query takes longer than decoding the page of a small file.

use std::cell::RefCell;

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use zstd::zstd_safe::{DCtx, get_error_name, get_frame_content_size};

thread_local! {
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// A page reader that decompresses the stored pages of another reader.
pub(crate) struct ZstdPages<R> {
    pub(crate) stored: R,
    /// Maximum decompressed bytes of a page.
    pub(crate) most: usize,
}

impl<R: PageReader> Iterator for ZstdPages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: PageReader> PageReader for ZstdPages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.stored.get_next_page()?;
        page.map(|page| decompressed(page, self.most)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.stored.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.stored.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.stored.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        let page = self.stored.take_deferred_dictionary()?;
        page.map(|page| decompressed(page, self.most)).transpose()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.stored.at_record_boundary()
    }
}

fn decompressed(mut page: Page, most: usize) -> Result<Page> {
    match &mut page {
        Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
            *buf = unzstd(buf, 0, most)?;
        }
        Page::DataPageV2 {
            buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, ..
        } => {
            let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
            if *is_compressed {
                *buf = unzstd(buf, usize::try_from(levels)?, most)?;
            }
        }
    }
    Ok(page)
}

/// Decompress the bytes after the first `plain` bytes, which are levels and are never compressed.
fn unzstd(stored: &Bytes, plain: usize, most: usize) -> Result<Bytes> {
    let failed = |reason: &str| ParquetError::General(format!("a page of zstd: {reason}"));
    let (levels, block) =
        stored.split_at_checked(plain).ok_or_else(|| failed("the levels lie beyond its end"))?;
    // A page without values may have no compressed block.
    if block.is_empty() {
        return Ok(stored.clone());
    }
    let claimed = get_frame_content_size(block).ok().flatten();
    let room = claimed.map_or(most, |size| usize::try_from(size).unwrap_or(usize::MAX));
    if room > most {
        return Err(failed("larger than its column"));
    }
    let mut page = vec![0; plain + room];
    let (front, values) = page.split_at_mut(plain);
    front.copy_from_slice(levels);
    let length = CONTEXT.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = DCtx::try_create();
        }
        let context = kept.as_mut().ok_or_else(|| failed("no memory"))?;
        context.decompress(values, block).map_err(|code| failed(get_error_name(code)))
    })?;
    page.truncate(plain + length);
    Ok(page.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_decompress_to_no_more_than_their_column_holds() {
        let values = b"seven words of text, seven words".repeat(9);
        let mut stored = b"levels".to_vec();
        stored.extend(zstd::bulk::compress(&values, 1).unwrap());
        let stored = Bytes::from(stored);
        let page = unzstd(&stored, 6, values.len()).unwrap();
        assert_eq!(page, [b"levels", values.as_slice()].concat());
        assert!(unzstd(&stored, 6, values.len() - 1).is_err());
        assert!(unzstd(&stored, 0, 1_000).is_err());
        assert!(unzstd(&stored, stored.len() + 1, 1_000).is_err());
        assert_eq!(unzstd(&stored, stored.len(), 0).unwrap(), stored);
    }

    #[test]
    fn frames_without_a_stated_length_are_decompressed() {
        let stored = zstd::stream::encode_all(&b"streamed"[..], 1).unwrap();
        assert!(matches!(get_frame_content_size(&stored), Ok(None)));
        assert_eq!(unzstd(&stored.into(), 0, 1_000).unwrap(), b"streamed"[..]);
    }
}

//! Checks of the sizes in page headers, before the decoder allocates memory for them.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::bytes::data_file::{DataFile, SequentialReader};
use crate::bytes::page_sizes::{PageSizes, page_sizes};

/// Decompressed bytes that every page may have, whatever its compressed size.
const ANY_PAGE_BYTES: u64 = 64 << 20;
/// The highest compression ratio of Zstandard: a block of 128 KiB that repeats one byte takes 4 bytes. The other codecs
/// except Brotli have lower ratios.
const MAX_RATIO: u64 = 32_768;
/// A data file whose page headers are checked as the decoder reads them.
pub(crate) struct CheckedPages(pub(crate) DataFile);

impl Length for CheckedPages {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for CheckedPages {
    type T = SequentialReader;

    fn get_read(&self, start: u64) -> Result<SequentialReader> {
        let mut read = self.0.get_read(start)?;
        check_page_header(read.peek()?)?;
        Ok(read)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.0.get_bytes(start, length)?;
        // With an offset index, the decoder reads header and page together. Bytes of other structures do not parse as a
        // page header.
        check_page_header(&bytes)?;
        Ok(bytes)
    }
}

/// Check the sizes of a page header. Bytes that do not parse as a page header pass.
fn check_page_header(bytes: &[u8]) -> Result<()> {
    page_sizes(bytes).map_or(Ok(()), check_page_sizes)
}

/// Check that a page can decompress to its stated size and hold its stated dictionary entries.
///
/// # Errors
/// `General` with the stated sizes.
pub(crate) fn check_page_sizes(sizes: PageSizes) -> Result<()> {
    let PageSizes { uncompressed, compressed, dictionary_values } = sizes;
    if uncompressed > ANY_PAGE_BYTES && uncompressed / MAX_RATIO > compressed {
        return Err(ParquetError::General(format!(
            "a page of {compressed} bytes cannot decompress to {uncompressed}"
        )));
    }
    match dictionary_values {
        // Every dictionary entry takes at least one byte.
        Some(values) if values > uncompressed => Err(ParquetError::General(format!(
            "a dictionary page of {uncompressed} bytes cannot hold {values} values"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zigzag(value: i64) -> Vec<u8> {
        let mut left = (value << 1 ^ value >> 63).cast_unsigned();
        let mut bytes = vec![];
        while left > 127 {
            bytes.push(left as u8 | 128);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    }

    /// Return the header of a dictionary page, or of a data page if `dictionary` is `None`.
    fn header(uncompressed: i64, compressed: i64, dictionary: Option<i64>) -> Vec<u8> {
        let kind = if dictionary.is_some() { 2 } else { 0 };
        let mut bytes = vec![];
        for number in [kind, uncompressed, compressed] {
            bytes.push(0x15);
            bytes.extend(zigzag(number));
        }
        bytes.extend([if dictionary.is_some() { 0x4c } else { 0x2c }, 0x15]);
        bytes.extend(zigzag(dictionary.unwrap_or(i64::from(i32::MAX))));
        bytes
    }

    #[test]
    fn sizes_of_real_pages_pass() {
        for (uncompressed, compressed) in [(0, 0), (64 << 20, 10), (2 << 30, 2 << 20), (10, 12)] {
            assert!(check_page_header(&header(uncompressed, compressed, None)).is_ok());
        }
        assert!(check_page_header(&header(1_000, 40, Some(1_000))).is_ok());
    }

    #[test]
    fn page_beyond_every_codec_is_refused() {
        let most = i64::from(i32::MAX);
        let refused = check_page_header(&header(most, 1_000, None)).unwrap_err().to_string();
        assert!(refused.contains("a page of 1000 bytes cannot decompress to 2147483647"));
    }

    #[test]
    fn dictionary_with_more_values_than_bytes_is_refused() {
        let refused = check_page_header(&header(1_000, 40, Some(1_001))).unwrap_err().to_string();
        assert!(refused.contains("a dictionary page of 1000 bytes cannot hold 1001 values"));
    }

    #[test]
    fn other_bytes_pass_the_header_check() {
        for bytes in [&b""[..], b"PAR1", &[0x15], &[0x15, 200, 200], &[0xff; 40]] {
            assert!(check_page_header(bytes).is_ok());
        }
    }
}

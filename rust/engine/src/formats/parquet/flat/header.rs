//! Page headers, encoded in Thrift's compact protocol.
//!
//! Spec: Parquet format, `PageHeader` of `parquet.thrift`.

use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};

/// Maximum nesting of skipped fields: a page header has two levels.
const MAX_DEPTH: usize = 8;

/// The type of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageKind {
    Dictionary,
    /// A data page of version 1: length-prefixed levels, compressed together with the values.
    Data,
    /// A data page of version 2: uncompressed levels of these lengths precede the values.
    DataV2 {
        rep_levels_bytes: usize,
        def_levels_bytes: usize,
        is_compressed: bool,
    },
    /// An index page, which readers skip.
    Other,
}

/// The header of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageHeader {
    pub(crate) kind: PageKind,
    pub(crate) compressed_bytes: usize,
    pub(crate) uncompressed_bytes: usize,
    /// Number of values, including nulls.
    pub(crate) num_values: u64,
    pub(crate) encoding: Encoding,
    /// The encoding of the definition levels of a version 1 data page.
    pub(crate) def_levels: Encoding,
}

impl PageHeader {
    /// Parse the header at the start of `bytes`, and return it with its length. `None` if `bytes` ends before the
    /// header does.
    ///
    /// # Errors
    /// `General` for a damaged header.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>> {
        let mut thrift = Thrift { rest: bytes, is_damaged: false };
        match thrift.page_header() {
            Some(header) => Ok(Some((header, bytes.len() - thrift.rest.len()))),
            None if thrift.is_damaged => {
                Err(ParquetError::General("page header: its fields cannot be decoded".into()))
            }
            None => Ok(None),
        }
    }
}

/// Return the number of values of the data page whose header starts `bytes`; these may end after it. `None` if they end
/// before it, if the header is damaged, and for other pages.
pub(crate) fn data_page_values(bytes: &[u8]) -> Option<u64> {
    let mut thrift = Thrift { rest: bytes, is_damaged: false };
    let mut field = 0;
    while let Some(kind) = thrift.next_field(&mut field)? {
        match (field, kind) {
            (5 | 8, 12) => {
                let mut inner = 0;
                let first = thrift.next_field(&mut inner)?;
                let values = (inner == 1 && first == Some(5)).then(|| thrift.signed())??;
                return u64::try_from(values).ok();
            }
            (7, _) => return None,
            _ => thrift.skip(kind, 0)?,
        }
    }
    None
}

/// A reader of Thrift's compact protocol. Methods return `None` at the end of the bytes and for damaged bytes.
struct Thrift<'a> {
    rest: &'a [u8],
    is_damaged: bool,
}

/// The fields of `DataPageHeader`, `DictionaryPageHeader` and `DataPageHeaderV2`.
#[derive(Debug, Default, Clone, Copy)]
struct Fields {
    num_values: Option<i64>,
    encoding: Option<i64>,
    def_levels: Option<i64>,
    def_levels_bytes: i64,
    rep_levels_bytes: i64,
    is_uncompressed: bool,
}

impl Thrift<'_> {
    fn page_header(&mut self) -> Option<PageHeader> {
        let (mut page_type, mut uncompressed, mut compressed) = (None, None, None);
        let mut fields = Fields::default();
        let mut field = 0;
        while let Some(kind) = self.next_field(&mut field)? {
            match (field, kind) {
                (1, 5) => page_type = Some(self.signed()?),
                (2, 5) => uncompressed = Some(self.signed()?),
                (3, 5) => compressed = Some(self.signed()?),
                (5 | 7 | 8, 12) => fields = self.page_fields(field)?,
                _ => self.skip(kind, 0)?,
            }
        }
        let size = |value: Option<i64>| value.and_then(|value| usize::try_from(value).ok());
        let header = || {
            let kind = match page_type? {
                0 => PageKind::Data,
                2 => PageKind::Dictionary,
                3 => PageKind::DataV2 {
                    rep_levels_bytes: size(Some(fields.rep_levels_bytes))?,
                    def_levels_bytes: size(Some(fields.def_levels_bytes))?,
                    is_compressed: !fields.is_uncompressed,
                },
                _ => PageKind::Other,
            };
            let (num_values, encoding) = match kind {
                PageKind::Other => (Some(0), Some(Encoding::PLAIN)),
                _ => (fields.num_values, fields.encoding.and_then(encoding_of)),
            };
            Some(PageHeader {
                kind,
                compressed_bytes: size(compressed)?,
                uncompressed_bytes: size(uncompressed)?,
                num_values: u64::try_from(num_values?).ok()?,
                encoding: encoding?,
                def_levels: fields.def_levels.map_or(Some(Encoding::RLE), encoding_of)?,
            })
        };
        let header = header();
        self.is_damaged |= header.is_none();
        header
    }

    /// Parse `DataPageHeader` (field 5 of `PageHeader`), `DictionaryPageHeader` (7) or `DataPageHeaderV2` (8).
    fn page_fields(&mut self, header: i64) -> Option<Fields> {
        let mut found = Fields::default();
        let mut field = 0;
        while let Some(kind) = self.next_field(&mut field)? {
            match (header, field, kind) {
                (_, 1, 5) => found.num_values = Some(self.signed()?),
                (5 | 7, 2, 5) | (8, 4, 5) => found.encoding = Some(self.signed()?),
                (5, 3, 5) => found.def_levels = Some(self.signed()?),
                (8, 5, 5) => found.def_levels_bytes = self.signed()?,
                (8, 6, 5) => found.rep_levels_bytes = self.signed()?,
                // The type of a boolean field is its value: 1 for true, 2 for false.
                (8, 7, 1 | 2) => found.is_uncompressed = kind == 2,
                _ => self.skip(kind, 0)?,
            }
        }
        Some(found)
    }

    /// Return the type of a struct's next field and set `field` to its id. The inner `None` is the end of the struct.
    fn next_field(&mut self, field: &mut i64) -> Option<Option<u8>> {
        let header = self.byte()?;
        if header == 0 {
            return Some(None);
        }
        *field = match header >> 4 {
            0 => self.signed()?,
            delta => field.saturating_add(i64::from(delta)),
        };
        Some(Some(header & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return self.damaged();
        }
        match kind {
            1 | 2 => {}
            3 => self.take(1)?,
            4..=6 => self.unsigned().map(drop)?,
            7 => self.take(8)?,
            8 => {
                let length = self.unsigned()?;
                self.take(usize::try_from(length).ok()?)?;
            }
            9 | 10 => {
                let header = self.byte()?;
                let count = match header >> 4 {
                    15 => self.unsigned()?,
                    short => u64::from(short),
                };
                for _ in 0..count {
                    match header & 0x0f {
                        1 | 2 => self.take(1)?,
                        element => self.skip(element, depth + 1)?,
                    }
                }
            }
            12 => {
                let mut field = 0;
                while let Some(kind) = self.next_field(&mut field)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return self.damaged(),
        }
        Some(())
    }

    fn damaged<T>(&mut self) -> Option<T> {
        self.is_damaged = true;
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let zigzag = self.unsigned()?;
        Some((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        self.damaged()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, length: usize) -> Option<()> {
        self.rest = self.rest.get(length..)?;
        Some(())
    }
}

fn encoding_of(number: i64) -> Option<Encoding> {
    #[allow(deprecated)]
    Some(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A version 1 data page of 300 bytes, compressed to 200, with 7 PLAIN values and RLE levels.
    const DATA: &[u8] =
        &[0x15, 0, 0x15, 0xd8, 4, 0x15, 0x90, 3, 0x2c, 0x15, 14, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];

    #[test]
    fn header_of_a_data_page_is_parsed() {
        let (header, length) = PageHeader::parse(DATA).unwrap().unwrap();
        assert_eq!(length, DATA.len());
        let expected = PageHeader {
            kind: PageKind::Data,
            compressed_bytes: 200,
            uncompressed_bytes: 300,
            num_values: 7,
            encoding: Encoding::PLAIN,
            def_levels: Encoding::RLE,
        };
        assert_eq!(header, expected);
    }

    #[test]
    fn header_that_is_cut_off_needs_more_bytes() {
        for end in 0..DATA.len() {
            assert_eq!(PageHeader::parse(&DATA[..end]).unwrap(), None, "{end}");
        }
    }

    #[test]
    fn values_of_a_data_page_precede_the_rest_of_its_header() {
        // The count is the eleventh byte.
        for end in 0..=DATA.len() {
            assert_eq!(data_page_values(&DATA[..end]), (end > 10).then_some(7), "{end}");
        }
        let dictionary = [0x15, 4, 0x15, 8, 0x15, 8, 0x4c, 0x15, 2, 0x15, 0, 0, 0];
        assert!(PageHeader::parse(&dictionary).unwrap().is_some());
        assert_eq!(data_page_values(&dictionary), None);
        assert_eq!(data_page_values(&[0]), None);
        assert_eq!(data_page_values(&[0xff; 40]), None);
    }

    #[test]
    fn damaged_headers_are_errors() {
        assert!(PageHeader::parse(&[0]).is_err());
        assert!(PageHeader::parse(&[0x1d, 1]).is_err());
        let negative: Vec<u8> =
            DATA.iter().map(|byte| if *byte == 4 { 0xff } else { *byte }).collect();
        assert!(PageHeader::parse(&negative).map_or(true, |header| {
            header.is_none_or(|(header, _)| header.uncompressed_bytes != 300)
        }));
    }
}

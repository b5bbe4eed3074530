//! The sizes that page headers of Parquet files state.

const DICTIONARY_PAGE_HEADER: i64 = 7;
const PAGE_TYPES: std::ops::RangeInclusive<i64> = 0..=3;
/// The type of a 32-bit integer in Thrift's compact protocol.
const I32: u8 = 5;
/// The type of a struct in Thrift's compact protocol.
const STRUCT: u8 = 12;

/// The sizes that a page header states.
pub(crate) struct PageSizes {
    pub(crate) uncompressed: u64,
    pub(crate) compressed: u64,
    pub(crate) dictionary_values: Option<u64>,
}

/// Return the sizes in a page header; `None` for bytes that do not parse as a page header.
pub(crate) fn page_sizes(bytes: &[u8]) -> Option<PageSizes> {
    let mut header = Header(bytes);
    header.field().filter(|found| *found == (1, I32))?;
    Some(header.integer()?).filter(|kind| PAGE_TYPES.contains(kind))?;
    header.field().filter(|found| *found == (1, I32))?;
    let uncompressed = u64::try_from(header.integer()?).ok()?;
    header.field().filter(|found| *found == (1, I32))?;
    let compressed = u64::try_from(header.integer()?).ok()?;
    let mut dictionary_values = None;
    let mut id = 3;
    // Field 4, the checksum, is optional.
    while let Some((delta, kind)) = header.field() {
        id += i64::from(delta);
        match kind {
            I32 => drop(header.integer()?),
            STRUCT if id == DICTIONARY_PAGE_HEADER => {
                header.field().filter(|found| *found == (1, I32))?;
                dictionary_values = u64::try_from(header.integer()?).ok();
                break;
            }
            _ => break,
        }
    }
    Some(PageSizes { uncompressed, compressed, dictionary_values })
}

/// A reader of the first fields of a struct in Thrift's compact protocol.
struct Header<'a>(&'a [u8]);

impl Header<'_> {
    /// Return the difference to the preceding field id, and the field's type.
    fn field(&mut self) -> Option<(u8, u8)> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some((first >> 4, first & 15))
    }

    fn integer(&mut self) -> Option<i64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 127) << shift;
            if byte & 128 == 0 {
                return Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
            }
        }
        None
    }
}

//! Detection of Parquet encryption, which is refused as unsupported and not as corrupt.
//!
//! The parquet crate drops the field of encrypted columns unless its `encryption` feature is on, so it is read here.

use parquet::file::reader::{ChunkReader, Length};

use crate::bytes::data_file::DataFile;

/// The last bytes of a file whose footer is encrypted.
const ENCRYPTED_END: &[u8] = b"PARE";
/// A footer's length and the magic.
const END_BYTES: usize = 8;
/// The field of a plaintext footer that is present if columns are encrypted.
const ENCRYPTION_ALGORITHM: i64 = 8;
const MAX_DEPTH: usize = 16;

/// Whether a file ends with the magic of an encrypted footer.
pub(crate) fn ends_encrypted(source: &DataFile) -> bool {
    end(source).is_some_and(|end| end.ends_with(ENCRYPTED_END))
}

/// Whether a plaintext footer has the field of encrypted columns.
pub(crate) fn has_encrypted_columns(source: &DataFile) -> bool {
    let footer = || {
        let end = end(source)?;
        let length = u32::from_le_bytes(*end.first_chunk()?);
        let start = source.len().checked_sub(END_BYTES as u64 + u64::from(length))?;
        source.get_bytes(start, usize::try_from(length).ok()?).ok()
    };
    footer().is_some_and(|footer| Thrift(&footer).has_field(ENCRYPTION_ALGORITHM) == Some(true))
}

fn end(source: &DataFile) -> Option<bytes::Bytes> {
    let start = source.len().checked_sub(END_BYTES as u64)?;
    source.get_bytes(start, END_BYTES).ok()
}

/// A message in Thrift's compact encoding. Methods return `None` for damaged bytes.
struct Thrift<'a>(&'a [u8]);

impl<'a> Thrift<'a> {
    fn has_field(&mut self, wanted: i64) -> Option<bool> {
        let mut field = 0;
        while let Some(kind) = self.next_field(&mut field)? {
            if field == wanted {
                return Some(true);
            }
            self.skip(kind, 0)?;
        }
        Some(false)
    }

    /// The type of the next field of a struct, whose number is stored in `field`; `Some(None)` at the end.
    fn next_field(&mut self, field: &mut i64) -> Option<Option<u8>> {
        let header = self.byte()?;
        if header == 0 {
            return Some(None);
        }
        *field = match header >> 4 {
            0 => {
                let zigzag = self.number()?;
                i64::try_from(zigzag >> 1).ok()? ^ -i64::try_from(zigzag & 1).ok()?
            }
            delta => field.checked_add(i64::from(delta))?,
        };
        Some(Some(header & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            1 | 2 => {}
            3 => self.take(1).map(drop)?,
            4..=6 => self.number().map(drop)?,
            7 => self.take(8).map(drop)?,
            8 => {
                let length = self.number()?;
                self.take(usize::try_from(length).ok()?)?;
            }
            9 | 10 => {
                let header = self.byte()?;
                let count = match header >> 4 {
                    15 => self.number()?,
                    short => u64::from(short),
                };
                for _ in 0..count {
                    self.skip_element(header & 0x0f, depth)?;
                }
            }
            12 => {
                let mut field = 0;
                while let Some(kind) = self.next_field(&mut field)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            // Footers have no maps.
            _ => return None,
        }
        Some(())
    }

    /// Skip an element: like a field, except that a boolean takes a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => self.take(1).map(drop),
            kind => self.skip(kind, depth + 1),
        }
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }
}

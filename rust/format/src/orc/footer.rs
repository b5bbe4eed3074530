//! The footer of an ORC file: its types and stripes.

use std::ops::Range;

use super::chunks::decompressed;
use super::corrupt;
use super::postscript::Postscript;
use super::types::{OrcType, TypeTree};
use super::wire::Fields;
use crate::{Error, Result};

/// Length of the magic bytes `ORC` at the start of a file.
const HEADER_BYTES: u64 = 3;

/// A validated footer.
#[derive(Debug)]
pub struct Footer {
    /// The stripes in file order.
    pub stripes: Vec<Stripe>,
    pub(super) types: Vec<OrcType>,
}

impl Footer {
    /// Parse and validate a footer from its bytes in the file: the types are one tree of known kinds; the stripes
    /// are within the file, do not overlap and have the number of rows that the footer states.
    ///
    /// Returns `None` for a footer that is compressed with LZO.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Unsupported`] for features that no decoder supports.
    pub fn parse(footer: &[u8], postscript: &Postscript) -> Result<Option<Self>> {
        let Some(message) = decompressed(footer, postscript)? else { return Ok(None) };
        let (mut types, mut stripes, mut rows) = (TypeTree::default(), vec![], 0);
        let mut rows_start = HEADER_BYTES;
        for field in Fields::of(&message) {
            let (number, value) = field?;
            match number {
                // Each stripe is validated at once: millions of empty ones fit in a compressed footer.
                3 => {
                    let stripe = Stripe::parse(value.bytes("stripe")?)?;
                    let within = rows_start..postscript.rows_end;
                    rows_start = stripe.end_within(within, stripes.len())?;
                    stripes.push(stripe);
                }
                4 => types.push(value.bytes("type")?)?,
                6 => rows = value.number("number of rows")?,
                10 => return Err(Error::unsupported("encrypted ORC")),
                _ => {}
            }
        }
        let types = types.finish()?;
        check_rows(&stripes, rows)?;
        Ok(Some(Self { stripes, types }))
    }

    /// Yield the number and the kind of each column without children.
    pub(super) fn leaves(&self) -> impl Iterator<Item = (usize, u64)> {
        let leaves = self.types.iter().enumerate().filter(|(_, found)| !found.has_children());
        leaves.map(|(number, found)| (number, found.kind()))
    }
}

/// The position and row count of a stripe.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stripe {
    offset: u64,
    index: u64,
    data: u64,
    footer: u64,
    /// Number of rows.
    pub rows: u64,
}

impl Stripe {
    fn parse(message: &[u8]) -> Result<Self> {
        let mut parsed = Self::default();
        for field in Fields::of(message) {
            let (number, value) = field?;
            let target = match number {
                1 => &mut parsed.offset,
                2 => &mut parsed.index,
                3 => &mut parsed.data,
                4 => &mut parsed.footer,
                5 => &mut parsed.rows,
                _ => continue,
            };
            *target = value.number("stripe's length")?;
        }
        Ok(parsed)
    }

    /// Return the position of the first byte of the stripe.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Return the length of the stripe in bytes.
    pub fn length(&self) -> u64 {
        self.index.saturating_add(self.data).saturating_add(self.footer)
    }

    /// Return the position of the middle of the stripe, which assigns it to a byte range of a split file.
    pub fn middle(&self) -> u64 {
        self.offset.saturating_add(self.length() / 2)
    }

    fn end(&self) -> Option<u64> {
        let streams = self.index.checked_add(self.data)?;
        self.offset.checked_add(streams.checked_add(self.footer)?)
    }

    /// Return the end of the stripe, after checking that the stripe is not empty and within `bytes` of the file.
    fn end_within(&self, bytes: Range<u64>, index: usize) -> Result<u64> {
        let (start, offset) = (bytes.start, self.offset);
        let end = self.end().filter(|end| (start..*end).contains(&offset) && *end <= bytes.end);
        end.ok_or_else(|| {
            let end = bytes.end;
            corrupt(format!("stripe {index} is misplaced; expected an offset between {start} and {end}, got {offset}"))
        })
    }
}

fn check_rows(stripes: &[Stripe], rows: u64) -> Result<()> {
    let counted = stripes.iter().map(|stripe| stripe.rows).fold(0, u64::saturating_add);
    if counted != rows {
        return Err(corrupt(format!(
            "the row count differs; expected {rows} rows in the stripes, got {counted}"
        )));
    }
    Ok(())
}

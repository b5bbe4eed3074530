//! The footer: columns, and where the stripes are.

use std::ops::Range;

use super::chunks::decompressed;
use super::corrupt;
use super::postscript::Postscript;
use super::types::{OrcType, TypeTree};
use super::wire::Fields;
use crate::{Error, Result};

/// The magic that a file begins with.
const HEADER_BYTES: u64 = 3;

/// What a footer says of a file's rows, all of it checked.
#[derive(Debug)]
pub struct Footer {
    /// One behind the other, in file order.
    pub stripes: Vec<Stripe>,
    pub(super) types: Vec<OrcType>,
}

impl Footer {
    /// Parse a footer by its bytes in the file: its columns are one tree of types that decoders know, its
    /// stripes lie within the file one behind the other and have as many rows as the footer says.
    ///
    /// A footer that is compressed with LZO is not looked at: `None`.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Unsupported`] for what ORC has and decoders lack.
    pub fn parse(footer: &[u8], postscript: &Postscript) -> Result<Option<Self>> {
        let Some(message) = decompressed(footer, postscript)? else { return Ok(None) };
        let (mut types, mut stripes, mut rows) = (TypeTree::default(), vec![], 0);
        let mut rows_start = HEADER_BYTES;
        for field in Fields::of(&message) {
            let (number, value) = field?;
            match number {
                // Each stripe is checked before the next one is kept: an empty one takes two bytes of a footer.
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
}

/// Where a stripe is and how many rows it has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stripe {
    offset: u64,
    index: u64,
    data: u64,
    footer: u64,
    /// How many rows it has.
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

    /// How many bytes it has.
    pub fn length(&self) -> u64 {
        self.index.saturating_add(self.data).saturating_add(self.footer)
    }

    /// The byte in its middle.
    pub fn middle(&self) -> u64 {
        self.offset.saturating_add(self.length() / 2)
    }

    fn end(&self) -> Option<u64> {
        let streams = self.index.checked_add(self.data)?;
        self.offset.checked_add(streams.checked_add(self.footer)?)
    }

    /// The end of the stripe, which has at least one byte and lies within these bytes of the file.
    fn end_within(&self, bytes: Range<u64>, index: usize) -> Result<u64> {
        let (start, offset) = (bytes.start, self.offset);
        let end = self.end().filter(|end| (start..*end).contains(&offset) && *end <= bytes.end);
        end.ok_or_else(|| {
            let end = bytes.end;
            corrupt(format!("stripe {index} at {offset} is not between {start} and {end}"))
        })
    }
}

fn check_rows(stripes: &[Stripe], rows: u64) -> Result<()> {
    let counted = stripes.iter().map(|stripe| stripe.rows).fold(0, u64::saturating_add);
    if counted != rows {
        return Err(corrupt(format!("its stripes have {counted} rows, its footer says {rows}")));
    }
    Ok(())
}

//! Statistics of the stripes of an ORC file.
//!
//! Statistics that some writers get wrong are ignored: all statistics of the first writers, whose string bounds are
//! wrong, and timestamp bounds in local time. Truncated string bounds are used, as they still enclose the values.

use super::chunks::decompressed;
use super::footer::Footer;
use super::postscript::Postscript;
use super::wire::Fields;
use crate::Result;

pub(super) const BOOLEAN: u64 = 0;
pub(super) const INTEGERS: std::ops::RangeInclusive<u64> = 1..=4;
pub(super) const FLOATS: std::ops::RangeInclusive<u64> = 5..=6;
pub(super) const STRING: u64 = 7;
pub(super) const TIMESTAMP: u64 = 9;
pub(super) const DATE: u64 = 15;
pub(super) const INSTANT: u64 = 18;

/// The most buckets of boolean statistics: the count of true, and of false in some files.
const BUCKETS: usize = 2;
/// The first writer version with correct bounds.
pub(super) const CORRECT_BOUNDS_VERSION: u64 = 1;
/// Writers round timestamps with time zone to milliseconds, up or down.
const INSTANT_SLACK_MICROS: i64 = 1_000;
/// Writers convert timestamps without time zone through their local zone, which is ambiguous at changes of the clock.
const LOCAL_SLACK_MICROS: i64 = 25 * 3_600_000_000;

/// An inclusive lower or upper bound of values.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// A boolean.
    Boolean(bool),
    /// An integer, or days since 1970.
    Integer(i64),
    /// A float or a double.
    Floating(f64),
    /// Microseconds since 1970, in local time for a timestamp without time zone.
    Micros(i64),
    /// The text of a decimal, such as `-1.25`.
    Decimal(Vec<u8>),
    /// UTF-8 text, which may be truncated within a character.
    Text(Vec<u8>),
}

/// Statistics of one column in one stripe.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeafStatistics {
    /// Number of values that are not null.
    pub values: Option<u64>,
    /// A lower bound of all values other than null and NaN.
    pub lower: Option<Bound>,
    /// An upper bound of all values other than null and NaN.
    pub upper: Option<Bound>,
}

/// The statistics of all stripes of a file, decoded by column on demand.
#[derive(Debug)]
pub struct StripeStatistics {
    message: Vec<u8>,
    stripes: usize,
    /// Column number and type kind of each leaf.
    leaves: Vec<(usize, u64)>,
}

impl StripeStatistics {
    /// Parse the statistics from their bytes in the file; `None` where the file has none that are reliable.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] where the statistics do not decompress.
    pub fn of(metadata: &[u8], postscript: &Postscript, footer: &Footer) -> Result<Option<Self>> {
        let has_unions = footer.types.iter().any(|found| found.is_union());
        if metadata.is_empty() || has_unions || postscript.writer_version < CORRECT_BOUNDS_VERSION {
            return Ok(None);
        }
        let Some(message) = decompressed(metadata, postscript)? else { return Ok(None) };
        let types = footer.types.iter().enumerate();
        let leaves = types.filter(|(_, found)| !found.has_children());
        let leaves = leaves.map(|(number, found)| (number, found.kind())).collect();
        Ok(Some(Self { message, stripes: footer.stripes.len(), leaves }))
    }

    /// Return the statistics of a leaf, numbered in file order, for each stripe; empty where they are unknown.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
    pub fn leaf(&self, leaf: usize) -> Result<Vec<LeafStatistics>> {
        let Some((column, kind)) = self.leaves.get(leaf) else { return Ok(vec![]) };
        let mut by_stripe = Vec::new();
        for field in Fields::of(&self.message) {
            if let (1, stripe) = field? {
                if by_stripe.len() == self.stripes {
                    return Ok(vec![]);
                }
                by_stripe.push(of_stripe(stripe.bytes("stripe's statistics")?, *column, *kind)?);
            }
        }
        // Statistics belong to stripes by position, so a missing one makes all ambiguous.
        Ok(if by_stripe.len() == self.stripes { by_stripe } else { vec![] })
    }
}

fn of_stripe(message: &[u8], column: usize, kind: u64) -> Result<LeafStatistics> {
    let columns =
        Fields::of(message).filter(|field| !matches!(field, Ok((number, _)) if *number != 1));
    match columns.into_iter().nth(column) {
        Some(field) => of_column(field?.1.bytes("column's statistics")?, kind),
        None => Ok(LeafStatistics::default()),
    }
}

fn of_column(message: &[u8], kind: u64) -> Result<LeafStatistics> {
    let mut statistics = LeafStatistics::default();
    for field in Fields::of(message) {
        let (number, value) = field?;
        let bounds = match number {
            1 => {
                statistics.values = Some(value.number("number of values")?);
                continue;
            }
            2 if INTEGERS.contains(&kind) => integers(value.bytes("integer statistics")?)?,
            3 if FLOATS.contains(&kind) => doubles(value.bytes("double statistics")?)?,
            4 if kind == STRING => texts(value.bytes("string statistics")?)?,
            5 if kind == BOOLEAN => booleans(value.bytes("bucket statistics")?, statistics.values)?,
            7 if kind == DATE => integers(value.bytes("date statistics")?)?,
            9 if [TIMESTAMP, INSTANT].contains(&kind) => {
                timestamps(value.bytes("timestamp statistics")?, kind)?
            }
            _ => continue,
        };
        (statistics.lower, statistics.upper) = bounds;
    }
    Ok(statistics)
}

pub(super) type Bounds = (Option<Bound>, Option<Bound>);

pub(super) fn integers(message: &[u8]) -> Result<Bounds> {
    let (mut lower, mut upper) = (None, None);
    for field in Fields::of(message) {
        match field? {
            (1, value) => lower = Some(Bound::Integer(value.signed("minimum")?)),
            (2, value) => upper = Some(Bound::Integer(value.signed("maximum")?)),
            _ => {}
        }
    }
    Ok((lower, upper))
}

/// Return no bounds if any of them or the sum is NaN: some writers stop comparing at NaN.
pub(super) fn doubles(message: &[u8]) -> Result<Bounds> {
    let (mut lower, mut upper, mut has_nan) = (None, None, false);
    for field in Fields::of(message) {
        let (number, value) = field?;
        let target = match number {
            1 => &mut lower,
            2 => &mut upper,
            3 => &mut None,
            _ => continue,
        };
        let value = value.double("bound or sum")?;
        has_nan |= value.is_nan();
        *target = Some(Bound::Floating(value));
    }
    Ok(if has_nan { (None, None) } else { (lower, upper) })
}

pub(super) fn texts(message: &[u8]) -> Result<Bounds> {
    let [mut least, mut most, mut below, mut above] = [None, None, None, None];
    for field in Fields::of(message) {
        let (number, value) = field?;
        let target = match number {
            1 => &mut least,
            2 => &mut most,
            4 => &mut below,
            5 => &mut above,
            _ => continue,
        };
        *target = Some(Bound::Text(value.bytes("bound of text")?.to_vec()));
    }
    Ok((least.or(below), most.or(above)))
}

/// Return the bounds of booleans from the count of true.
pub(super) fn booleans(message: &[u8], values: Option<u64>) -> Result<Bounds> {
    let mut counts = Vec::new();
    for field in Fields::of(message) {
        if let (1, value) = field? {
            value.numbers(&mut counts, BUCKETS)?;
        }
    }
    let ([trues], Some(values)) = (counts.as_slice(), values) else { return Ok((None, None)) };
    let lower = (*trues == values).then_some(Bound::Boolean(true));
    let upper = (*trues == 0).then_some(Bound::Boolean(false));
    Ok((lower, upper))
}

/// Return the bounds in UTC; those in local time are ignored.
pub(super) fn timestamps(message: &[u8], kind: u64) -> Result<Bounds> {
    let slack = if kind == INSTANT { INSTANT_SLACK_MICROS } else { LOCAL_SLACK_MICROS };
    let (mut lower, mut upper) = (None, None);
    for field in Fields::of(message) {
        let (number, value) = field?;
        let (target, slack) = match number {
            3 => (&mut lower, -slack),
            4 => (&mut upper, slack),
            _ => continue,
        };
        let micros = value.signed("bound in UTC")?.checked_mul(1_000);
        *target = micros.and_then(|micros| micros.checked_add(slack)).map(Bound::Micros);
    }
    Ok((lower, upper))
}

//! What the end of a file says of each stripe's values.
//!
//! Only what every writer gets right is told: nothing of the first writers, whose bounds of text are wrong; of
//! timestamps what is stated in UTC; of text what may be cut short, as it stands beyond the values then.

use super::chunks::decompressed;
use super::footer::Footer;
use super::postscript::Postscript;
use super::wire::Fields;
use crate::Result;

const BOOLEAN: u64 = 0;
const INTEGERS: std::ops::RangeInclusive<u64> = 1..=4;
const FLOATS: std::ops::RangeInclusive<u64> = 5..=6;
const STRING: u64 = 7;
const TIMESTAMP: u64 = 9;
const DATE: u64 = 15;
const INSTANT: u64 = 18;

/// Buckets of booleans: the true ones alone, or the true and the false ones.
const BUCKETS: usize = 2;
/// The first writer version whose bounds are right.
const RIGHT_BOUNDS: u64 = 1;
/// Writers cut instants off below the millisecond, in one direction or the other.
const INSTANT_SLACK_MICROS: i64 = 1_000;
/// Times without a zone went through the writer's own, and a clock that is put forward or back confuses that.
const LOCAL_SLACK_MICROS: i64 = 25 * 3_600_000_000;

/// A bound of values: those of a lower one are at or above it, those of an upper one at or below.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// Of booleans.
    Boolean(bool),
    /// Of integers, and days since 1970.
    Integer(i64),
    /// Of floats and doubles, neither infinite by lack of a value nor NaN.
    Floating(f64),
    /// Of timestamps: microseconds since 1970, on the clock's face where there is no zone.
    Micros(i64),
    /// Of text, in UTF-8; it may be cut off within a character.
    Text(Vec<u8>),
}

/// What is known of one column in one stripe.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeafStatistics {
    /// How many values are not null.
    pub values: Option<u64>,
    /// At or below every value that is neither null nor NaN.
    pub lower: Option<Bound>,
    /// At or above every value that is neither null nor NaN.
    pub upper: Option<Bound>,
}

/// The statistics of all stripes of a file, each column read when it is asked for.
#[derive(Debug)]
pub struct StripeStatistics {
    message: Vec<u8>,
    stripes: usize,
    /// Number and kind of the type of each leaf.
    leaves: Vec<(usize, u64)>,
}

impl StripeStatistics {
    /// The statistics by their bytes in the file. `None` where there are none to rely on.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for what does not decompress.
    pub fn of(metadata: &[u8], postscript: &Postscript, footer: &Footer) -> Result<Option<Self>> {
        let has_unions = footer.types.iter().any(|found| found.is_union());
        if metadata.is_empty() || has_unions || postscript.writer_version < RIGHT_BOUNDS {
            return Ok(None);
        }
        let Some(message) = decompressed(metadata, postscript)? else { return Ok(None) };
        let types = footer.types.iter().enumerate();
        let leaves = types.filter(|(_, found)| !found.has_children());
        let leaves = leaves.map(|(number, found)| (number, found.kind())).collect();
        Ok(Some(Self { message, stripes: footer.stripes.len(), leaves }))
    }

    /// What is known of a leaf, counted in file order, in each stripe; empty for nothing.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`].
    pub fn leaf(&self, leaf: usize) -> Result<Vec<LeafStatistics>> {
        let Some((column, kind)) = self.leaves.get(leaf) else { return Ok(vec![]) };
        let mut told = Vec::new();
        for field in Fields::of(&self.message) {
            if let (1, stripe) = field? {
                if told.len() == self.stripes {
                    return Ok(vec![]);
                }
                told.push(of_stripe(stripe.bytes("stripe's statistics")?, *column, *kind)?);
            }
        }
        // Of which stripe they are is known only if there are some of each.
        Ok(if told.len() == self.stripes { told } else { vec![] })
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
    let mut told = LeafStatistics::default();
    for field in Fields::of(message) {
        let (number, value) = field?;
        let bounds = match number {
            1 => {
                told.values = Some(value.number("number of values")?);
                continue;
            }
            2 if INTEGERS.contains(&kind) => integers(value.bytes("integer statistics")?)?,
            3 if FLOATS.contains(&kind) => doubles(value.bytes("double statistics")?)?,
            4 if kind == STRING => texts(value.bytes("string statistics")?)?,
            5 if kind == BOOLEAN => booleans(value.bytes("bucket statistics")?, told.values)?,
            7 if kind == DATE => integers(value.bytes("date statistics")?)?,
            9 if kind == TIMESTAMP => {
                timestamps(value.bytes("timestamp statistics")?, LOCAL_SLACK_MICROS)?
            }
            9 if kind == INSTANT => {
                timestamps(value.bytes("timestamp statistics")?, INSTANT_SLACK_MICROS)?
            }
            _ => continue,
        };
        (told.lower, told.upper) = bounds;
    }
    Ok(told)
}

type Bounds = (Option<Bound>, Option<Bound>);

fn integers(message: &[u8]) -> Result<Bounds> {
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

/// None where any of the values may have been NaN: some writers stop comparing at it.
fn doubles(message: &[u8]) -> Result<Bounds> {
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

fn texts(message: &[u8]) -> Result<Bounds> {
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

/// By how many are true.
fn booleans(message: &[u8], values: Option<u64>) -> Result<Bounds> {
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

/// Minimum and maximum stand in local time and are passed over.
fn timestamps(message: &[u8], slack: i64) -> Result<Bounds> {
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

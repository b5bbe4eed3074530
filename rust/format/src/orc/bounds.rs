//! Bounds in the statistics of an ORC column, of a stripe or of a whole file.
//!
//! Statistics that some writers get wrong are ignored: all statistics of the first writers, whose string bounds are
//! wrong, and timestamp bounds in local time. Truncated string bounds are used, as they still enclose the values.

use std::ops::RangeInclusive;

use super::footer::Footer;
use super::postscript::Postscript;
use super::wire::{Fields, Value};
use crate::Result;

const BOOLEAN: u64 = 0;
const INTEGERS: RangeInclusive<u64> = 1..=4;
const FLOATS: RangeInclusive<u64> = 5..=6;
const STRING: u64 = 7;
const TIMESTAMP: u64 = 9;
const DATE: u64 = 15;
pub(super) const INSTANT: u64 = 18;

/// The most buckets of boolean statistics: the count of true, and of false in some files.
const BUCKETS: usize = 2;
/// The first writer version with correct bounds.
const CORRECT_BOUNDS_VERSION: u64 = 1;
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

/// A lower and an upper bound.
pub(super) type Bounds = (Option<Bound>, Option<Bound>);

/// Return whether the statistics of a file enclose its values and belong to its columns by position.
pub(super) fn are_reliable(postscript: &Postscript, footer: &Footer) -> bool {
    let has_unions = footer.types.iter().any(|found| found.is_union());
    !has_unions && postscript.writer_version >= CORRECT_BOUNDS_VERSION
}

/// Return the bounds in a field of a column's statistics; `None` for a field that has none for a column of this kind.
///
/// `values` is the number of values that are not null, which bounds of booleans need.
pub(super) fn bounds_in(
    (number, value): (u64, Value<'_>),
    kind: u64,
    values: Option<u64>,
) -> Result<Option<Bounds>> {
    let bounds = match number {
        2 if INTEGERS.contains(&kind) => integers(value.bytes("integer statistics")?)?,
        3 if FLOATS.contains(&kind) => doubles(value.bytes("double statistics")?)?,
        4 if kind == STRING => texts(value.bytes("string statistics")?)?,
        5 if kind == BOOLEAN => booleans(value.bytes("bucket statistics")?, values)?,
        7 if kind == DATE => integers(value.bytes("date statistics")?)?,
        9 if [TIMESTAMP, INSTANT].contains(&kind) => {
            timestamps(value.bytes("timestamp statistics")?, kind)?
        }
        _ => return Ok(None),
    };
    Ok(Some(bounds))
}

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

/// Return no bounds if any of them or the sum is NaN: some writers stop comparing at NaN.
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

/// Return the bounds of booleans from the count of true.
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

/// Return the bounds in UTC; those in local time are ignored.
fn timestamps(message: &[u8], kind: u64) -> Result<Bounds> {
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

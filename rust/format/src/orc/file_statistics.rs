//! Statistics of the columns of a whole ORC file, which its footer holds.

use super::bounds::{Bound, Bounds, INSTANT, are_reliable, bounds_in};
use super::chunks::decompressed;
use super::footer::Footer;
use super::postscript::Postscript;
use super::types::DECIMAL;
use super::wire::Fields;
use crate::Result;

/// Nanoseconds of the millisecond of a bound where a writer states none.
const FIRST_NANOS: i64 = 0;
const LAST_NANOS: i64 = 999_999;
const NANOS_OF_A_MICRO: i64 = 1_000;
const MICROS_OF_A_MILLI: i64 = 1_000;

/// Statistics of one column, nested or not, in a whole file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnStatistics {
    /// Number of values that are not null; values below a null or an empty list are none.
    pub values: Option<u64>,
    /// Whether a value is null; a value below a null is none.
    pub has_null: Option<bool>,
    /// Bytes on disk.
    pub bytes: Option<u64>,
    /// A lower bound of all values other than null and NaN.
    pub lower: Option<Bound>,
    /// An upper bound of all values other than null and NaN.
    pub upper: Option<Bound>,
}

/// The statistics of all columns of a file, depth first from the root on.
#[derive(Debug, Default)]
pub struct FileStatistics {
    columns: Vec<ColumnStatistics>,
    /// Column number of each leaf.
    leaves: Vec<usize>,
}

impl FileStatistics {
    /// Parse the statistics from the bytes of a footer that was parsed before; empty where the footer has none that are
    /// reliable.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for statistics that cannot be parsed.
    pub fn parse(bytes: &[u8], postscript: &Postscript, footer: &Footer) -> Result<Self> {
        if !are_reliable(postscript, footer) {
            return Ok(Self::default());
        }
        let Some(message) = decompressed(bytes, postscript)? else { return Ok(Self::default()) };
        let mut columns = Vec::with_capacity(footer.types.len());
        for field in Fields::of(&message) {
            if let (7, statistics) = field? {
                let Some(found) = footer.types.get(columns.len()) else {
                    return Ok(Self::default());
                };
                columns.push(of_column(statistics.bytes("column's statistics")?, found.kind())?);
            }
        }
        // Statistics belong to columns by position, so a missing one makes all ambiguous.
        if columns.len() != footer.types.len() {
            return Ok(Self::default());
        }
        Ok(Self { columns, leaves: footer.leaves().map(|(number, _)| number).collect() })
    }

    /// Return the statistics of a column, numbered depth first; the root is column 0.
    pub fn column(&self, number: usize) -> Option<&ColumnStatistics> {
        self.columns.get(number)
    }

    /// Return the statistics of a leaf, numbered in file order.
    pub fn leaf(&self, leaf: usize) -> Option<&ColumnStatistics> {
        self.leaves.get(leaf).and_then(|number| self.columns.get(*number))
    }
}

fn of_column(message: &[u8], kind: u64) -> Result<ColumnStatistics> {
    let mut statistics = ColumnStatistics::default();
    for field in Fields::of(message) {
        let (number, value) = field?;
        let bounds = match number {
            1 => {
                statistics.values = Some(value.number("number of values")?);
                continue;
            }
            10 => {
                statistics.has_null = Some(value.number("mark of nulls")? != 0);
                continue;
            }
            11 => {
                statistics.bytes = Some(value.number("number of bytes")?);
                continue;
            }
            6 if kind == DECIMAL => Some(decimals(value.bytes("decimal statistics")?)?),
            9 if kind == INSTANT => Some(instants(value.bytes("timestamp statistics")?)?),
            // The local zone of the writer may make the bounds of timestamps without zone wrong.
            _ => bounds_in((number, value), kind, statistics.values)?,
        };
        if let Some(bounds) = bounds {
            (statistics.lower, statistics.upper) = bounds;
        }
    }
    Ok(statistics)
}

/// Return the bounds of decimals, which are texts such as `-1.25`.
fn decimals(message: &[u8]) -> Result<Bounds> {
    let (mut lower, mut upper) = (None, None);
    for field in Fields::of(message) {
        let (number, value) = field?;
        let target = match number {
            1 => &mut lower,
            2 => &mut upper,
            _ => continue,
        };
        *target = Some(Bound::Decimal(value.bytes("bound of decimals")?.to_vec()));
    }
    Ok((lower, upper))
}

/// Return the bounds of instants, of whole microseconds where the writer states them.
fn instants(message: &[u8]) -> Result<Bounds> {
    let (mut lower, mut upper) = (None, None);
    let (mut lower_nanos, mut upper_nanos) = (FIRST_NANOS, LAST_NANOS);
    for field in Fields::of(message) {
        match field? {
            (3, value) => lower = Some(value.signed("bound in UTC")?),
            (4, value) => upper = Some(value.signed("bound in UTC")?),
            (5, value) => lower_nanos = nanos(value.number("nanoseconds")?, FIRST_NANOS),
            (6, value) => upper_nanos = nanos(value.number("nanoseconds")?, LAST_NANOS),
            _ => {}
        }
    }
    let bound = |millis: Option<i64>, nanos: i64| {
        let micros = millis?.checked_mul(MICROS_OF_A_MILLI)?;
        micros.checked_add(nanos / NANOS_OF_A_MICRO).map(Bound::Micros)
    };
    Ok((bound(lower, lower_nanos), bound(upper, upper_nanos)))
}

/// Return the nanoseconds within a millisecond, which are stored with 1 added.
fn nanos(stored: u64, absent: i64) -> i64 {
    let within = i64::try_from(stored).ok().and_then(|stored| stored.checked_sub(1));
    within.filter(|nanos| (FIRST_NANOS..=LAST_NANOS).contains(nanos)).unwrap_or(absent)
}

//! Casts that preserve every value exactly, or name the column of a value that they cannot preserve.
//!
//! Rows to write may have any Arrow type whose values a column can hold. Conversions of files (`resolve::convert`) allow
//! promotions and the types of old writers alone, and literals of filters fold where they are out of range: one table for
//! all would accept in files what only callers may pass.

use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use icefloe_format::spec::{ArrowName, PrimitiveType, primitive_to_arrow};
use icefloe_format::{Error, Result};

const NANOS_PER_MICRO: i64 = 1_000;
const MILLIS_PER_DAY: i64 = 86_400_000;
const MICROS_PER_DAY: i64 = 86_400_000_000;
const UTC: &str = "UTC";

/// An exact conversion of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cast {
    /// Arrow's cast; overflow and bytes of another length are errors.
    Arrow(DataType),
    /// Nanoseconds of a timestamp to microseconds, without a remainder. The zone stays.
    NanosToMicros,
    /// Nanoseconds of a day to microseconds, without a remainder.
    TimeNanosToMicros,
    /// The same microseconds, all of one day.
    TimeOfDay,
    /// Milliseconds to days, without a remainder.
    MillisToDays,
    /// The same instants in the zone UTC.
    Zone,
    /// Text to the 16 bytes of a UUID.
    Uuid,
}

/// Return the casts from an Arrow type to a primitive type, and the resulting Arrow type.
///
/// # Errors
/// `Mismatch` for types whose values the primitive type cannot represent exactly.
pub(super) fn casts_to(
    found: &DataType,
    wanted: &PrimitiveType,
    name: &str,
) -> Result<(DataType, Vec<Cast>)> {
    let unpacked = match found {
        DataType::Dictionary(_, values) => values.as_ref(),
        DataType::RunEndEncoded(_, values) => values.data_type(),
        plain => plain,
    };
    let Some((data_type, mut casts)) = exact(unpacked, wanted) else {
        return Err(mismatch(name, ArrowName(found).to_string(), wanted.to_string()));
    };
    // The Parquet writer accepts dictionaries of strings and binaries.
    if let DataType::Dictionary(keys, values) = found
        && casts.is_empty()
        && is_variable(unpacked)
    {
        // Narrow keys overflow where different dictionaries are concatenated.
        let wide = DataType::Dictionary(Box::new(DataType::Int32), values.clone());
        if !matches!(**keys, DataType::Int32 | DataType::Int64) {
            casts.push(Cast::Arrow(wide.clone()));
            return Ok((wide, casts));
        }
        return Ok((found.clone(), casts));
    }
    if unpacked != found {
        casts.insert(0, Cast::Arrow(unpacked.clone()));
    }
    Ok((data_type, casts))
}

fn exact(found: &DataType, wanted: &PrimitiveType) -> Option<(DataType, Vec<Cast>)> {
    let (data_type, mut casts) = conversion(found, wanted)?;
    // Arrow's type of times has values outside of a day, which have no meaning in a table.
    if *wanted == PrimitiveType::Time && *found != DataType::Null {
        casts.push(Cast::TimeOfDay);
    }
    Some((data_type, casts))
}

fn conversion(found: &DataType, wanted: &PrimitiveType) -> Option<(DataType, Vec<Cast>)> {
    use DataType as A;
    use PrimitiveType as P;
    let target = primitive_to_arrow(wanted);
    if target == A::Null {
        return None;
    }
    if *found == A::Null {
        return Some((target.clone(), vec![Cast::Arrow(target)]));
    }
    if *found == target {
        return Some((target, Vec::new()));
    }
    let casts = match (wanted, found) {
        (P::String, A::LargeUtf8 | A::Utf8View) | (P::Binary, A::LargeBinary | A::BinaryView) => {
            return Some((found.clone(), Vec::new()));
        }
        (P::Int, A::Int8 | A::Int16 | A::UInt8 | A::UInt16)
        | (P::Long, A::Int8 | A::Int16 | A::Int32 | A::UInt8 | A::UInt16 | A::UInt32)
        | (P::Float, A::Float16)
        | (P::Double, A::Float16 | A::Float32)
        | (P::Binary, A::FixedSizeBinary(_))
        | (P::Uuid | P::Fixed(_), A::Binary | A::LargeBinary)
        | (P::Time, A::Time32(_)) => vec![Cast::Arrow(target.clone())],
        // Arrow casts no views to bytes of a fixed length. The views of a batch may hold more than the 2 GiB of 32-bit offsets.
        (P::Uuid | P::Fixed(_), A::BinaryView) => {
            vec![Cast::Arrow(A::LargeBinary), Cast::Arrow(target.clone())]
        }
        (P::Date, A::Date64) => vec![Cast::MillisToDays],
        (P::Time, A::Time64(TimeUnit::Nanosecond)) => vec![Cast::TimeNanosToMicros],
        (P::Uuid, A::Utf8) => vec![Cast::Uuid],
        (P::Uuid, A::LargeUtf8 | A::Utf8View) => vec![Cast::Arrow(A::Utf8), Cast::Uuid],
        (P::Decimal { precision, scale }, _) => decimal(found, *precision, *scale, &target)?,
        (_, A::Timestamp(..)) => timestamp(found, &target)?,
        _ => return None,
    };
    Some((target, casts))
}

fn decimal(found: &DataType, precision: u8, scale: i8, target: &DataType) -> Option<Vec<Cast>> {
    let (found_precision, found_scale) = match found {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => (*precision, *scale),
        _ => return None,
    };
    let whole = |precision: u8, scale: i8| i16::from(precision) - i16::from(scale);
    let fits =
        found_scale <= scale && whole(found_precision, found_scale) <= whole(precision, scale);
    fits.then(|| vec![Cast::Arrow(target.clone())])
}

/// Return a timestamp to a timestamp of the target's unit; both have a zone or neither has one.
fn timestamp(found: &DataType, target: &DataType) -> Option<Vec<Cast>> {
    let (DataType::Timestamp(unit, zone), DataType::Timestamp(target_unit, target_zone)) =
        (found, target)
    else {
        return None;
    };
    if zone.is_some() != target_zone.is_some() {
        return None;
    }
    let mut casts = match (unit, target_unit) {
        (same, other) if same == other => Vec::new(),
        (TimeUnit::Nanosecond, _) => vec![Cast::NanosToMicros],
        _ => vec![Cast::Arrow(DataType::Timestamp(*target_unit, zone.clone()))],
    };
    if zone != target_zone {
        casts.push(Cast::Zone);
    }
    Some(casts)
}

fn is_variable(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
    )
}

impl Cast {
    /// Cast a column; `name` is its name in errors.
    pub(super) fn apply(&self, name: &str, array: &ArrayRef) -> Result<ArrayRef> {
        let made = match self {
            Self::Arrow(target) => {
                let exact = CastOptions { safe: false, ..CastOptions::default() };
                cast_with_options(array, target, &exact)
            }
            Self::NanosToMicros => nanos_to_micros(array),
            Self::TimeNanosToMicros => array
                .as_primitive::<Time64NanosecondType>()
                .try_unary::<_, Time64MicrosecondType, _>(|nanos| divide(nanos, NANOS_PER_MICRO))
                .map(|made| Arc::new(made) as ArrayRef),
            Self::TimeOfDay => times_of_day(array),
            Self::MillisToDays => array
                .as_primitive::<Date64Type>()
                .try_unary::<_, Date32Type, _>(days)
                .map(|made| Arc::new(made) as ArrayRef),
            Self::Zone => name_utc(array),
            Self::Uuid => parse_uuids(array),
        };
        made.map_err(|error| mismatch(name, array_text(array, &error), self.target_text()))
    }

    fn target_text(&self) -> String {
        match self {
            Self::Arrow(target) => format!("values that {} holds exactly", ArrowName(target)),
            Self::NanosToMicros | Self::TimeNanosToMicros => "whole microseconds".into(),
            Self::TimeOfDay => {
                format!("microseconds since midnight from 0 to {}", MICROS_PER_DAY - 1)
            }
            Self::MillisToDays => "whole days".into(),
            Self::Zone => "a timestamp with a zone".into(),
            Self::Uuid => "UUIDs".into(),
        }
    }
}

fn array_text(array: &ArrayRef, error: &ArrowError) -> String {
    let reason = match error {
        ArrowError::CastError(reason) | ArrowError::ComputeError(reason) => reason.clone(),
        other => other.to_string(),
    };
    format!("{} ({reason})", ArrowName(array.data_type()))
}

fn nanos_to_micros(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let DataType::Timestamp(_, zone) = array.data_type() else { return Ok(Arc::clone(array)) };
    let micros = array
        .as_primitive::<TimestampNanosecondType>()
        .try_unary::<_, TimestampMicrosecondType, _>(|nanos| divide(nanos, NANOS_PER_MICRO))?;
    Ok(Arc::new(micros.with_timezone_opt(zone.clone())))
}

fn divide(value: i64, unit: i64) -> Result<i64, ArrowError> {
    if value % unit == 0 {
        return Ok(value / unit);
    }
    Err(ArrowError::CastError(format!("{value} is not a multiple of {unit}")))
}

fn times_of_day(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let times = array.as_primitive::<Time64MicrosecondType>();
    let is_outside = |micros: &i64| !(0..MICROS_PER_DAY).contains(micros);
    // Values below a null are arbitrary. Without an early return, the compiler vectorizes the loop.
    let has_outside = times.values().iter().fold(false, |found, micros| found | is_outside(micros));
    let outside = has_outside.then(|| times.iter().flatten().find(is_outside)).flatten();
    match outside {
        Some(micros) => Err(ArrowError::CastError(format!("{micros} microseconds"))),
        None => Ok(Arc::clone(array)),
    }
}

fn days(millis: i64) -> Result<i32, ArrowError> {
    let days = divide(millis, MILLIS_PER_DAY)?;
    i32::try_from(days)
        .map_err(|_| ArrowError::CastError(format!("{days} days do not fit in 32 bits")))
}

fn name_utc(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match array.data_type() {
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            Arc::new(array.as_primitive::<TimestampNanosecondType>().clone().with_timezone(UTC))
        }
        _ => Arc::new(array.as_primitive::<TimestampMicrosecondType>().clone().with_timezone(UTC)),
    })
}

fn parse_uuids(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let texts = array.as_string::<i32>();
    let mut made = FixedSizeBinaryBuilder::with_capacity(texts.len(), 16);
    for text in texts {
        match text {
            Some(text) => {
                let parsed = uuid::Uuid::try_parse(text)
                    .map_err(|_| ArrowError::CastError(format!("{text:?} is not a UUID")))?;
                made.append_value(parsed.as_bytes())?;
            }
            None => made.append_null(),
        }
    }
    Ok(Arc::new(made.finish()))
}

/// Return an error for data that does not fit a column.
pub(super) fn mismatch(
    column: &str,
    found: impl Into<String>,
    expected: impl Into<String>,
) -> Error {
    Error::Mismatch { column: column.into(), found: found.into(), expected: expected.into() }
}

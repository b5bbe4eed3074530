//! Bounds in statistics of files, as values of the table's types.

use arrow_schema::{DataType, TimeUnit};
use icefloe_format::spec::{Datum, PrimitiveType, single_value};
use parquet::basic::Type as PhysicalType;

/// The end of a range that a bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    Upper,
}

impl Side {
    /// Return the end of this side.
    pub(crate) fn of<T>(self, least: T, most: T) -> T {
        match self {
            Self::Lower => least,
            Self::Upper => most,
        }
    }
}

/// A bound as stored in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw<'a> {
    Boolean(bool),
    Integer(i64),
    Floating(f64),
    Bytes(&'a [u8], PhysicalType),
}

/// Return a bound as a value of the table's type; `None` if it is not safe to use. `natural` is the type by the
/// file's own schema.
pub(crate) fn bound_of(
    raw: Raw<'_>,
    side: Side,
    natural: &DataType,
    wanted: &PrimitiveType,
) -> Option<Datum> {
    match raw {
        Raw::Boolean(value) => (*wanted == PrimitiveType::Boolean).then_some(Datum::Boolean(value)),
        Raw::Integer(value) => integer(value, natural, wanted),
        Raw::Floating(value) => floating(value, side, wanted),
        Raw::Bytes(bytes, physical) => byte_bound(bytes, physical, natural, wanted),
    }
}

fn integer(value: i64, natural: &DataType, wanted: &PrimitiveType) -> Option<Datum> {
    use PrimitiveType as P;
    let small = || i32::try_from(value).ok();
    match (wanted, natural) {
        (P::Int, DataType::Int8 | DataType::Int16 | DataType::Int32) => Some(Datum::Int(small()?)),
        (P::Long, DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64) => {
            Some(Datum::Long(value))
        }
        (P::Date, DataType::Date32) => Some(Datum::Date(small()?)),
        (P::Time, DataType::Time64(TimeUnit::Microsecond)) => Some(Datum::Time(value)),
        (P::Decimal { precision, scale }, DataType::Decimal128(_, found)) => {
            let unscaled = i128::from(value);
            (found == scale).then_some(Datum::Decimal {
                unscaled,
                precision: *precision,
                scale: *scale,
            })
        }
        (P::Timestamp, DataType::Timestamp(unit, _)) => {
            Some(Datum::Timestamp(micros(value, unit)?))
        }
        (P::Timestamptz, DataType::Timestamp(unit, _)) => {
            Some(Datum::Timestamptz(micros(value, unit)?))
        }
        _ => None,
    }
}

fn micros(value: i64, unit: &TimeUnit) -> Option<i64> {
    match unit {
        TimeUnit::Microsecond => Some(value),
        TimeUnit::Millisecond => value.checked_mul(1_000),
        TimeUnit::Nanosecond => Some(value.div_euclid(1_000)),
        TimeUnit::Second => None,
    }
}

/// Return a floating-point bound. A zero gets the sign that extends the range, because -0.0 equals 0.0 in a filter.
fn floating(value: f64, side: Side, wanted: &PrimitiveType) -> Option<Datum> {
    let value = match side {
        _ if value.is_nan() => return None,
        Side::Lower if value == 0.0 => -0.0,
        Side::Upper if value == 0.0 => 0.0,
        _ => value,
    };
    match wanted {
        PrimitiveType::Float => Some(Datum::Float(value as f32)),
        PrimitiveType::Double => Some(Datum::Double(value)),
        _ => None,
    }
}

fn byte_bound(
    bytes: &[u8],
    physical: PhysicalType,
    natural: &DataType,
    wanted: &PrimitiveType,
) -> Option<Datum> {
    use PrimitiveType as P;
    let fits = match (wanted, natural) {
        (P::String, DataType::Utf8) | (P::Binary, DataType::Binary | DataType::Utf8) => {
            physical == PhysicalType::BYTE_ARRAY
        }
        (
            P::Decimal { scale, .. },
            DataType::Decimal128(_, found) | DataType::Decimal256(_, found),
        ) => found == scale,
        (P::Uuid, DataType::FixedSizeBinary(16)) => true,
        // A bound may be truncated, which values of a fixed length cannot be.
        _ => false,
    };
    fits.then(|| single_value::from_bytes(wanted, bytes).ok()).flatten()
}

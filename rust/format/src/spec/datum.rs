//! A typed value: its order, its equality and its text.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::civil::{self, MICROS_PER_SECOND, NANOS_PER_SECOND, SECONDS_PER_DAY, TimeStyle};
use super::decimal;
use super::types::PrimitiveType;
use crate::error::{Error, Result};

/// A non-null value with its type.
///
/// Equality and hashing follow partition tuples: NaN equals NaN, -0.0 differs from 0.0.
#[derive(Clone, Debug)]
pub enum Datum {
    /// A boolean.
    Boolean(bool),
    /// A 32-bit integer.
    Int(i32),
    /// A 64-bit integer.
    Long(i64),
    /// A binary32 float.
    Float(f32),
    /// A binary64 float.
    Double(f64),
    /// A fixed-point number: `unscaled` times ten to the power of minus `scale`.
    Decimal {
        /// The unscaled value.
        unscaled: i128,
        /// The number of digits.
        precision: u8,
        /// The number of digits after the point.
        scale: i8,
    },
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01T00:00:00.
    Timestamp(i64),
    /// Microseconds since 1970-01-01T00:00:00 UTC.
    Timestamptz(i64),
    /// Nanoseconds since 1970-01-01T00:00:00.
    TimestampNs(i64),
    /// Nanoseconds since 1970-01-01T00:00:00 UTC.
    TimestamptzNs(i64),
    /// A string.
    String(String),
    /// A UUID, big-endian.
    Uuid([u8; 16]),
    /// Bytes of a fixed length.
    Fixed(Vec<u8>),
    /// Bytes.
    Binary(Vec<u8>),
}

impl Datum {
    /// Return the type of the value.
    pub fn primitive_type(&self) -> PrimitiveType {
        match self {
            Self::Boolean(_) => PrimitiveType::Boolean,
            Self::Int(_) => PrimitiveType::Int,
            Self::Long(_) => PrimitiveType::Long,
            Self::Float(_) => PrimitiveType::Float,
            Self::Double(_) => PrimitiveType::Double,
            Self::Decimal { precision, scale, .. } => {
                PrimitiveType::Decimal { precision: *precision, scale: *scale }
            }
            Self::Date(_) => PrimitiveType::Date,
            Self::Time(_) => PrimitiveType::Time,
            Self::Timestamp(_) => PrimitiveType::Timestamp,
            Self::Timestamptz(_) => PrimitiveType::Timestamptz,
            Self::TimestampNs(_) => PrimitiveType::TimestampNs,
            Self::TimestamptzNs(_) => PrimitiveType::TimestamptzNs,
            Self::String(_) => PrimitiveType::String,
            Self::Uuid(_) => PrimitiveType::Uuid,
            Self::Fixed(bytes) => {
                PrimitiveType::Fixed(u32::try_from(bytes.len()).unwrap_or(u32::MAX))
            }
            Self::Binary(_) => PrimitiveType::Binary,
        }
    }

    /// Compare two values in Iceberg's sort order; `None` where their types are not comparable. int compares
    /// with long, float with double, and decimals of one scale with each other.
    ///
    /// Floats: -NaN < -Infinity < .. < -0.0 < 0.0 < .. < Infinity < NaN. Strings compare by code points, bytes
    /// as unsigned numbers.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        use Datum as D;
        Some(match (self, other) {
            (D::Boolean(a), D::Boolean(b)) => a.cmp(b),
            (D::Int(_) | D::Long(_), D::Int(_) | D::Long(_)) => {
                self.as_long()?.cmp(&other.as_long()?)
            }
            (D::Float(a), D::Float(b)) => a.total_cmp(b),
            (D::Float(_) | D::Double(_), D::Float(_) | D::Double(_)) => {
                self.as_double()?.total_cmp(&other.as_double()?)
            }
            (
                D::Decimal { unscaled: a, scale: a_scale, .. },
                D::Decimal { unscaled: b, scale: b_scale, .. },
            ) if a_scale == b_scale => a.cmp(b),
            (D::Date(a), D::Date(b)) => a.cmp(b),
            (D::Time(a), D::Time(b))
            | (D::Timestamp(a), D::Timestamp(b))
            | (D::Timestamptz(a), D::Timestamptz(b))
            | (D::TimestampNs(a), D::TimestampNs(b))
            | (D::TimestamptzNs(a), D::TimestamptzNs(b)) => a.cmp(b),
            (D::String(a), D::String(b)) => a.cmp(b),
            (D::Uuid(a), D::Uuid(b)) => a.cmp(b),
            (D::Fixed(a), D::Fixed(b)) | (D::Binary(a), D::Binary(b)) => a.cmp(b),
            _ => return None,
        })
    }

    /// Return whether the value is NaN.
    pub fn is_nan(&self) -> bool {
        match self {
            Self::Float(value) => value.is_nan(),
            Self::Double(value) => value.is_nan(),
            _ => false,
        }
    }

    /// Return the integer of an int or a long.
    pub fn as_long(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(i64::from(*value)),
            Self::Long(value) => Some(*value),
            _ => None,
        }
    }

    /// Return the number of a float or a double.
    pub fn as_double(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(f64::from(*value)),
            Self::Double(value) => Some(*value),
            _ => None,
        }
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        if self.primitive_type() != other.primitive_type() {
            return false;
        }
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => float_identity(*a) == float_identity(*b),
            (Self::Double(a), Self::Double(b)) => double_identity(*a) == double_identity(*b),
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Boolean(value) => value.hash(state),
            Self::Int(value) | Self::Date(value) => value.hash(state),
            Self::Float(value) => float_identity(*value).hash(state),
            Self::Double(value) => double_identity(*value).hash(state),
            Self::Decimal { unscaled, .. } => unscaled.hash(state),
            Self::Long(value)
            | Self::Time(value)
            | Self::Timestamp(value)
            | Self::Timestamptz(value)
            | Self::TimestampNs(value)
            | Self::TimestamptzNs(value) => value.hash(state),
            Self::String(value) => value.hash(state),
            Self::Uuid(bytes) => bytes.hash(state),
            Self::Fixed(bytes) | Self::Binary(bytes) => bytes.hash(state),
        }
    }
}

fn float_identity(value: f32) -> u32 {
    if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }
}

fn double_identity(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

impl Datum {
    /// Return the value, which must be a time from 00:00:00 to 23:59:59.999999 if it is a time. Other times have no text.
    ///
    /// # Errors
    /// `InvalidArgument` for another time.
    pub(crate) fn of_one_day(self) -> Result<Self> {
        match self {
            Self::Time(micros) if !(0..SECONDS_PER_DAY * MICROS_PER_SECOND).contains(&micros) => {
                let reason = format!(
                    "expected microseconds since midnight from 0 to 86399999999, got {micros}"
                );
                Err(Error::invalid("time", reason))
            }
            other => Ok(other),
        }
    }

    /// Return the value as text for people: dates and times in ISO 8601, bytes in base64.
    pub fn human_string(&self) -> String {
        match self {
            Self::Boolean(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Long(value) => value.to_string(),
            Self::Float(value) => format!("{value:?}"),
            Self::Double(value) => format!("{value:?}"),
            Self::Decimal { unscaled, scale, .. } => decimal::format(*unscaled, *scale),
            Self::Date(days) => civil::format_date(i64::from(*days)),
            Self::Time(micros) => {
                civil::format_time(micros.saturating_mul(1_000), TimeStyle::Short)
            }
            Self::Timestamp(micros) => timestamp(*micros, MICROS_PER_SECOND),
            Self::TimestampNs(nanos) => timestamp(*nanos, NANOS_PER_SECOND),
            Self::Timestamptz(micros) => timestamp(*micros, MICROS_PER_SECOND) + "+00:00",
            Self::TimestamptzNs(nanos) => timestamp(*nanos, NANOS_PER_SECOND) + "+00:00",
            Self::String(text) => text.clone(),
            Self::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).to_string(),
            Self::Fixed(bytes) | Self::Binary(bytes) => STANDARD.encode(bytes),
        }
    }
}

fn timestamp(units: i64, units_per_second: i64) -> String {
    civil::format_timestamp(units, units_per_second, TimeStyle::Trimmed)
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.human_string())
    }
}

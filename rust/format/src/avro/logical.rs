//! Logical types: what encoded values mean.

use serde_json::{Map, Value};

use super::schema::Kind;

/// The logical types that Iceberg uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logical {
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    TimeMicros,
    /// Microseconds since 1970-01-01, with `adjust-to-utc`.
    TimestampMicros {
        /// Whether the value is an instant.
        utc: bool,
    },
    /// Nanoseconds since 1970-01-01, with `adjust-to-utc`.
    TimestampNanos {
        /// Whether the value is an instant.
        utc: bool,
    },
    /// Two's complement, big-endian.
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits after the point.
        scale: i8,
    },
    /// Sixteen bytes, big-endian.
    Uuid,
    /// An array of key-value records that stands for a map.
    Map,
    /// Milliseconds since midnight; read as microseconds.
    TimeMillis,
    /// Milliseconds since 1970-01-01; read as microseconds.
    TimestampMillis {
        /// Whether the value is an instant.
        utc: bool,
    },
}

impl Logical {
    /// The logical type of a type with these properties.
    ///
    /// As Avro has it, one that is unknown or does not fit the type below it says nothing.
    pub(super) fn of(object: &Map<String, Value>, kind: &Kind) -> Option<Self> {
        let name = object.get("logicalType")?.as_str()?;
        let utc = adjusts_to_utc(object);
        Some(match (name, kind) {
            ("date", Kind::Int) => Self::Date,
            ("time-micros", Kind::Long) => Self::TimeMicros,
            ("timestamp-micros", Kind::Long) => Self::TimestampMicros { utc },
            ("timestamp-nanos", Kind::Long) => Self::TimestampNanos { utc },
            ("local-timestamp-micros", Kind::Long) => Self::TimestampMicros { utc: false },
            ("local-timestamp-nanos", Kind::Long) => Self::TimestampNanos { utc: false },
            ("uuid", Kind::Fixed(16)) => Self::Uuid,
            ("map", Kind::Array { .. }) => Self::Map,
            ("decimal", Kind::Fixed(_) | Kind::Bytes) => decimal(object)?,
            ("time-millis", Kind::Int) => Self::TimeMillis,
            ("timestamp-millis", Kind::Long) => Self::TimestampMillis { utc },
            ("local-timestamp-millis", Kind::Long) => Self::TimestampMillis { utc: false },
            _ => return None,
        })
    }
}

/// Some writers spell the flag as a string; a missing flag means local time.
fn adjusts_to_utc(object: &Map<String, Value>) -> bool {
    match object.get("adjust-to-utc") {
        Some(Value::Bool(utc)) => *utc,
        Some(Value::String(utc)) => utc.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

fn decimal(object: &Map<String, Value>) -> Option<Logical> {
    let digits = |key: &str| object.get(key).and_then(Value::as_i64);
    let precision = u8::try_from(digits("precision")?).ok()?;
    let scale = i8::try_from(digits("scale").unwrap_or(0)).ok()?;
    (precision > 0).then_some(Logical::Decimal { precision, scale })
}

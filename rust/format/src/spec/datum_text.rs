//! Values as people read them, in partition paths above all.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::civil::{self, TimeStyle};
use super::datum::Datum;
use super::decimal;
use super::single_value::{MICROS_PER_SECOND, NANOS_PER_SECOND};

impl Datum {
    /// The value as text: dates and times in ISO 8601, bytes in base64. Not made to be read back.
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

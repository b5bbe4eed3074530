//! Partition and sort transforms: their names, parameters and result types.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::civil::{date_of_day, format_date, format_year};
use super::datum::Datum;
use super::types::PrimitiveType;
use crate::error::{Error, Result};

const EPOCH_YEAR: i64 = 1970;

/// The function from a column's value to a partition or sort value. `Display` and `FromStr` use the name in
/// metadata JSON; `FromStr` ignores case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// The value itself.
    Identity,
    /// The hash of the value, modulo a number of buckets.
    Bucket(NonZeroU32),
    /// The value rounded down to a multiple of a width, or its first characters or bytes.
    Truncate(NonZeroU32),
    /// Whole years since 1970.
    Year,
    /// Whole months since 1970-01.
    Month,
    /// Whole days since 1970-01-01, as a date.
    Day,
    /// Whole hours since 1970-01-01T00.
    Hour,
    /// Always null.
    Void,
    /// A transform that this version does not implement, by its name as written.
    Unknown(String),
}

/// The greatest number of buckets or width: parameters are 32-bit signed integers in the specification.
const MAX_PARAMETER: u32 = i32::MAX.unsigned_abs();

impl Transform {
    /// Return the bucket transform.
    ///
    /// # Errors
    /// `InvalidArgument` where `num_buckets` is outside 1 to 2^31 - 1.
    pub fn bucket(num_buckets: i64) -> Result<Self> {
        parameter("num_buckets", num_buckets).map(Self::Bucket)
    }

    /// Return the truncate transform.
    ///
    /// # Errors
    /// `InvalidArgument` where `width` is outside 1 to 2^31 - 1.
    pub fn truncate(width: i64) -> Result<Self> {
        parameter("width", width).map(Self::Truncate)
    }

    /// Return the type of the results for a source type.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform does not apply to the source type.
    pub fn result_type(&self, source: &PrimitiveType) -> Result<PrimitiveType> {
        if !self.can_transform(source) {
            return Err(self.cannot_take(source));
        }
        Ok(match self {
            Self::Identity | Self::Truncate(_) | Self::Void => *source,
            Self::Unknown(_) => PrimitiveType::String,
            Self::Bucket(_) | Self::Year | Self::Month | Self::Hour => PrimitiveType::Int,
            Self::Day => PrimitiveType::Date,
        })
    }

    /// Return the result type if every source type has the same one.
    pub fn fixed_result_type(&self) -> Option<PrimitiveType> {
        match self {
            Self::Bucket(_) | Self::Year | Self::Month | Self::Hour => Some(PrimitiveType::Int),
            Self::Day => Some(PrimitiveType::Date),
            Self::Identity | Self::Truncate(_) | Self::Void | Self::Unknown(_) => None,
        }
    }

    /// Return whether the transform applies to a source type. Identity, void and unknown apply to every type.
    pub fn can_transform(&self, source: &PrimitiveType) -> bool {
        use PrimitiveType as P;
        let timestamp =
            matches!(source, P::Timestamp | P::Timestamptz | P::TimestampNs | P::TimestamptzNs);
        match self {
            Self::Identity | Self::Void | Self::Unknown(_) => true,
            Self::Bucket(_) => !matches!(source, P::Boolean | P::Float | P::Double | P::Unknown),
            Self::Truncate(_) => {
                matches!(source, P::Int | P::Long | P::Decimal { .. } | P::String | P::Binary)
            }
            Self::Year | Self::Month | Self::Day => timestamp || matches!(source, P::Date),
            Self::Hour => timestamp,
        }
    }

    /// Return whether results are ordered as their source values are.
    pub fn preserves_order(&self) -> bool {
        matches!(
            self,
            Self::Identity | Self::Truncate(_) | Self::Year | Self::Month | Self::Day | Self::Hour
        )
    }

    /// Return a result as text for partition paths: `2017`, `2017-12`, `2017-12-01` or `2017-12-01-10` for
    /// the time transforms, `null` for null, otherwise the text of the value.
    pub fn human_string(&self, _source: &PrimitiveType, value: Option<&Datum>) -> String {
        match (self, value) {
            (Self::Void, _) | (_, None) => "null".to_owned(),
            (Self::Year, Some(Datum::Int(years))) => format_year(EPOCH_YEAR + i64::from(*years)),
            (Self::Month, Some(Datum::Int(months))) => human_month(i64::from(*months)),
            (Self::Day, Some(Datum::Int(days) | Datum::Date(days))) => {
                format_date(i64::from(*days))
            }
            (Self::Hour, Some(Datum::Int(hours))) => human_hour(i64::from(*hours)),
            (_, Some(value)) => value.human_string(),
        }
    }

    pub(crate) fn cannot_take(&self, source: &PrimitiveType) -> Error {
        Error::invalid("transform", format!("{self} does not apply to a column of type {source}"))
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("identity"),
            Self::Bucket(buckets) => write!(f, "bucket[{buckets}]"),
            Self::Truncate(width) => write!(f, "truncate[{width}]"),
            Self::Year => f.write_str("year"),
            Self::Month => f.write_str("month"),
            Self::Day => f.write_str("day"),
            Self::Hour => f.write_str("hour"),
            Self::Void => f.write_str("void"),
            Self::Unknown(text) => f.write_str(text),
        }
    }
}

impl FromStr for Transform {
    type Err = Error;

    /// Parse the name of a transform; an unknown name is [`Transform::Unknown`], not an error.
    fn from_str(text: &str) -> Result<Self> {
        let name = text.to_ascii_lowercase();
        Ok(match name.as_str() {
            "identity" => Self::Identity,
            "year" => Self::Year,
            "month" => Self::Month,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "void" => Self::Void,
            _ => match name.strip_suffix(']').and_then(|open| open.split_once('[')) {
                Some(("bucket", buckets)) => Self::Bucket(parse_parameter(text, buckets)?),
                Some(("truncate", width)) => Self::Truncate(parse_parameter(text, width)?),
                _ => Self::Unknown(text.to_owned()),
            },
        })
    }
}

fn parameter(name: &str, value: i64) -> Result<NonZeroU32> {
    u32::try_from(value)
        .ok()
        .filter(|value| *value <= MAX_PARAMETER)
        .and_then(NonZeroU32::new)
        .ok_or_else(|| {
            Error::invalid(
                name,
                format!("is out of range; expected 1 to {MAX_PARAMETER}, got {value}"),
            )
        })
}

fn parse_parameter(transform: &str, text: &str) -> Result<NonZeroU32> {
    match text.trim().parse::<NonZeroU32>() {
        Ok(parameter) if parameter.get() <= MAX_PARAMETER => Ok(parameter),
        _ => Err(Error::invalid(
            "transform",
            format!("{transform:?} needs a whole number from 1 to {MAX_PARAMETER} in its brackets"),
        )),
    }
}

fn human_month(months: i64) -> String {
    let year = EPOCH_YEAR + months.div_euclid(12);
    format!("{}-{:02}", format_year(year), months.rem_euclid(12) + 1)
}

fn human_hour(hours: i64) -> String {
    let (year, month, day) = date_of_day(hours.div_euclid(24));
    format!("{}-{month:02}-{day:02}-{:02}", format_year(year), hours.rem_euclid(24))
}

//! Conversions of decoded columns to the table's types: promotions, and types that old writers used.
//!
//! Stricter than the casts of rows to write (`write::cast`): any other type in a file means that its field id is wrong.
//!
//! Spec: Schema Evolution (type promotion), Appendix A (Parquet).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowTimestampType, Decimal128Type, Decimal256Type, DecimalType, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::i256;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use icefloe_format::spec::{PrimitiveType, decimal};
use parquet::basic::Type as PhysicalType;

use super::gather::{gather_binaries, gather_strings};

/// A conversion of decoded values to the table's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// No conversion.
    Keep,
    /// Arrow's cast; a value that it would change is an error.
    Cast(DataType),
    /// The same unscaled values under another precision, which every value must fit.
    Precision(u8, i8),
    /// As [`Conversion::Precision`], from values of 256 bits.
    Narrow(u8, i8),
    /// The same instants, another zone marker.
    Zone(Option<Arc<str>>),
    /// Timestamps in another unit, with another zone or without one.
    Unit(TimeUnit, Option<Arc<str>>),
    /// Nanoseconds floored to microseconds.
    FloorMicros(Option<Arc<str>>),
    /// String views gathered into one buffer.
    GatherStrings,
    /// Binary views gathered into one buffer.
    GatherBinaries,
}

/// Return the Arrow type to decode a leaf to. Strings and binaries are decoded as views, which do not copy the values
/// of pages and dictionaries.
pub(crate) fn decoded_type(
    natural: &DataType,
    physical: PhysicalType,
    wanted: &PrimitiveType,
) -> DataType {
    use PrimitiveType as P;
    match (wanted, natural) {
        (P::String, DataType::Utf8 | DataType::Binary) => DataType::Utf8View,
        (P::Binary, DataType::Binary) => DataType::BinaryView,
        // Nanoseconds end in the year 2262.
        (P::Timestamp, _) if physical == PhysicalType::INT96 => {
            DataType::Timestamp(TimeUnit::Microsecond, None)
        }
        (P::Timestamptz, _) if physical == PhysicalType::INT96 => {
            DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
        }
        // Values may be sign-extended to any length.
        (P::Decimal { .. }, DataType::Decimal128(precision, scale))
            if physical == PhysicalType::BYTE_ARRAY =>
        {
            DataType::Decimal256(*precision, *scale)
        }
        _ => natural.clone(),
    }
}

/// Return the conversion from a decoded type to the table's type, if there is one.
pub(crate) fn conversion(decoded: &DataType, wanted: &DataType) -> Option<Conversion> {
    use DataType as D;
    use TimeUnit::{Microsecond, Nanosecond};
    if decoded == wanted {
        return Some(Conversion::Keep);
    }
    Some(match (decoded, wanted) {
        (D::Null, _)
        | (D::Utf8, D::Utf8View)
        | (D::Binary, D::BinaryView | D::FixedSizeBinary(_))
        | (D::Int64, D::Time64(Microsecond)) => Conversion::Cast(wanted.clone()),
        (D::Utf8View, D::Utf8) => Conversion::GatherStrings,
        (D::BinaryView, D::Binary) => Conversion::GatherBinaries,
        (D::Utf8 | D::FixedSizeBinary(_), D::Binary | D::BinaryView) => {
            Conversion::Cast(wanted.clone())
        }
        (D::Int8 | D::Int16 | D::UInt8 | D::UInt16, D::Int32 | D::Int64)
        | (D::Int32 | D::UInt32, D::Int64)
        | (D::Float32, D::Float64)
        | (D::Time32(_) | D::Time64(Nanosecond), D::Time64(_)) => Conversion::Cast(wanted.clone()),
        (D::Decimal128(_, from_scale), D::Decimal128(precision, scale)) if from_scale == scale => {
            Conversion::Precision(*precision, *scale)
        }
        // FIXED_LEN_BYTE_ARRAY of more than 16 bytes, whatever its precision.
        (D::Decimal256(_, from_scale), D::Decimal128(precision, scale)) if from_scale == scale => {
            Conversion::Narrow(*precision, *scale)
        }
        (D::Timestamp(from, _), D::Timestamp(to, zone)) if from == to => {
            Conversion::Zone(zone.clone())
        }
        (D::Timestamp(Nanosecond, _), D::Timestamp(Microsecond, zone)) => {
            Conversion::FloorMicros(zone.clone())
        }
        (D::Timestamp(..), D::Timestamp(unit, zone)) => Conversion::Unit(*unit, zone.clone()),
        _ => return None,
    })
}

impl Conversion {
    /// Return whether the conversion keeps every decoded value; views may be gathered.
    pub(crate) fn keeps_values(&self) -> bool {
        matches!(self, Self::Keep | Self::GatherStrings | Self::GatherBinaries)
    }

    /// Convert an array.
    pub(crate) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::Keep => Ok(Arc::clone(array)),
            Self::Cast(wanted) => {
                cast_with_options(array, wanted, &CastOptions { safe: false, ..Default::default() })
            }
            Self::Precision(precision, scale) => {
                let decimals = array.as_primitive::<Decimal128Type>();
                let wider = |value: &i128| !decimal::fits(*value, *precision);
                let narrowed = decimals.precision() > *precision;
                if let Some(value) = decimals.iter().flatten().filter(|_| narrowed).find(wider) {
                    return Err(too_many_digits(*precision, &decimal::format(value, *scale)));
                }
                // Arrow's validation refuses a scale above the precision.
                let data_type = DataType::Decimal128(*precision, *scale);
                Ok(Arc::new(decimals.clone().with_data_type(data_type)))
            }
            Self::Narrow(precision, scale) => {
                let decimals = array.as_primitive::<Decimal256Type>();
                let narrow = |value: i256| {
                    let narrowed = value.to_i128().filter(|it| decimal::fits(*it, *precision));
                    narrowed.ok_or_else(|| {
                        too_many_digits(
                            *precision,
                            &Decimal256Type::format_decimal(value, u8::MAX, *scale),
                        )
                    })
                };
                let narrowed = decimals.try_unary::<_, Decimal128Type, _>(narrow)?;
                let data_type = DataType::Decimal128(*precision, *scale);
                Ok(Arc::new(narrowed.with_data_type(data_type)))
            }
            Self::Zone(zone) => zoned(array, zone.clone()),
            Self::Unit(unit, zone) => {
                // Timestamps without a zone count from 1970 in UTC as well: a cast that also adds a zone would look it up.
                let DataType::Timestamp(_, own) = array.data_type() else {
                    return zoned(array, zone.clone());
                };
                let wanted = DataType::Timestamp(*unit, own.clone());
                let options = CastOptions { safe: false, ..Default::default() };
                zoned(&cast_with_options(array, &wanted, &options)?, zone.clone())
            }
            Self::FloorMicros(zone) => {
                let nanos = array.as_primitive::<TimestampNanosecondType>();
                let micros =
                    nanos.unary::<_, TimestampMicrosecondType>(|value| value.div_euclid(1_000));
                Ok(Arc::new(micros.with_timezone_opt(zone.clone())))
            }
            Self::GatherStrings => match array.as_string_view_opt() {
                Some(views) => gather_strings(views),
                // Decoded with offsets already.
                None => Ok(Arc::clone(array)),
            },
            Self::GatherBinaries => match array.as_binary_view_opt() {
                Some(views) => gather_binaries(views),
                None => Ok(Arc::clone(array)),
            },
        }
    }
}

fn too_many_digits(precision: u8, value: &str) -> ArrowError {
    ArrowError::CastError(format!("expected at most {precision} digits, got {value}"))
}

fn zoned(array: &ArrayRef, zone: Option<Arc<str>>) -> Result<ArrayRef, ArrowError> {
    fn with<T: ArrowTimestampType>(array: &ArrayRef, zone: Option<Arc<str>>) -> ArrayRef {
        Arc::new(array.as_primitive::<T>().clone().with_timezone_opt(zone))
    }
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            Ok(with::<TimestampMicrosecondType>(array, zone))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            Ok(with::<TimestampNanosecondType>(array, zone))
        }
        other => Err(ArrowError::CastError(format!("expected a timestamp, got {other}"))),
    }
}

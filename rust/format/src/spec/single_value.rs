//! Single values as bytes and as JSON. Spec: Appendix D.

use serde_json::{Number, Value};

use super::civil::{self, MICROS_PER_SECOND, NANOS_PER_SECOND, TimeStyle};
use super::datum::Datum;
use super::decimal;
use super::json;
use super::types::PrimitiveType;
use crate::error::{Error, Result};

/// Return the binary form of a value, which bounds use.
pub fn to_bytes(value: &Datum) -> Vec<u8> {
    match value {
        Datum::Boolean(value) => vec![u8::from(*value)],
        Datum::Int(value) | Datum::Date(value) => value.to_le_bytes().to_vec(),
        Datum::Float(value) => value.to_le_bytes().to_vec(),
        Datum::Double(value) => value.to_le_bytes().to_vec(),
        Datum::Long(value)
        | Datum::Time(value)
        | Datum::Timestamp(value)
        | Datum::Timestamptz(value)
        | Datum::TimestampNs(value)
        | Datum::TimestamptzNs(value) => value.to_le_bytes().to_vec(),
        Datum::Decimal { unscaled, .. } => decimal::to_minimal_bytes(*unscaled),
        Datum::String(text) => text.as_bytes().to_vec(),
        Datum::Uuid(bytes) => bytes.to_vec(),
        Datum::Fixed(bytes) | Datum::Binary(bytes) => bytes.clone(),
    }
}

/// Parse the binary form of a value. Promoting a column does not rewrite its bounds, so a long of four bytes is read as
/// int, a double of four bytes as float, and a decimal may have any length.
///
/// # Errors
/// `Corrupt` where the bytes are no value of the type.
pub fn from_bytes(value_type: &PrimitiveType, bytes: &[u8]) -> Result<Datum> {
    let datum = match value_type {
        PrimitiveType::Boolean => exact(bytes).map(|[byte]| Datum::Boolean(byte != 0)),
        PrimitiveType::Int => exact(bytes).map(|bytes| Datum::Int(i32::from_le_bytes(bytes))),
        PrimitiveType::Date => exact(bytes).map(|bytes| Datum::Date(i32::from_le_bytes(bytes))),
        PrimitiveType::Long => long(bytes)
            .or_else(|| exact(bytes).map(|bytes| i64::from(i32::from_le_bytes(bytes))))
            .map(Datum::Long),
        PrimitiveType::Float => exact(bytes).map(|bytes| Datum::Float(f32::from_le_bytes(bytes))),
        PrimitiveType::Double => exact(bytes)
            .map(f64::from_le_bytes)
            .or_else(|| exact(bytes).map(|bytes| f64::from(f32::from_le_bytes(bytes))))
            .map(Datum::Double),
        PrimitiveType::Decimal { precision, scale } => decimal::from_bytes(bytes)
            .map(|unscaled| Datum::Decimal { unscaled, precision: *precision, scale: *scale }),
        PrimitiveType::Time => long(bytes).map(Datum::Time),
        PrimitiveType::Timestamp => long(bytes).map(Datum::Timestamp),
        PrimitiveType::Timestamptz => long(bytes).map(Datum::Timestamptz),
        PrimitiveType::TimestampNs => long(bytes).map(Datum::TimestampNs),
        PrimitiveType::TimestamptzNs => long(bytes).map(Datum::TimestamptzNs),
        PrimitiveType::String => {
            std::str::from_utf8(bytes).ok().map(|text| Datum::String(text.to_owned()))
        }
        PrimitiveType::Uuid => exact(bytes).map(Datum::Uuid),
        // A lower bound of fixed may be truncated.
        PrimitiveType::Fixed(length) => usize::try_from(*length)
            .is_ok_and(|length| bytes.len() <= length)
            .then(|| Datum::Fixed(bytes.to_vec())),
        PrimitiveType::Binary => Some(Datum::Binary(bytes.to_vec())),
        PrimitiveType::Unknown => None,
    };
    datum.ok_or_else(|| wrong(value_type, bytes))
}

pub(super) fn wrong(value_type: &PrimitiveType, bytes: &[u8]) -> Error {
    let reason = format!(
        "the bytes are no value of their type; expected {value_type}, got {} bytes",
        bytes.len()
    );
    Error::corrupt("single value", reason)
}

fn exact<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

pub(super) fn long(bytes: &[u8]) -> Option<i64> {
    exact(bytes).map(i64::from_le_bytes)
}

/// Return the JSON form of a value. Floats that are no JSON numbers become the strings `NaN`, `Infinity` and
/// `-Infinity`.
pub fn to_json(value: &Datum) -> Value {
    match value {
        Datum::Boolean(value) => Value::Bool(*value),
        Datum::Int(value) => (*value).into(),
        Datum::Long(value) => (*value).into(),
        Datum::Float(value) => float_to_json(f64::from(*value)),
        Datum::Double(value) => float_to_json(*value),
        Datum::Decimal { unscaled, scale, .. } => decimal::format(*unscaled, *scale).into(),
        Datum::Date(days) => civil::format_date(i64::from(*days)).into(),
        Datum::Time(micros) => {
            civil::format_time(micros.saturating_mul(1_000), TimeStyle::Full).into()
        }
        Datum::Timestamp(micros) => full_timestamp(*micros, MICROS_PER_SECOND).into(),
        Datum::TimestampNs(nanos) => full_timestamp(*nanos, NANOS_PER_SECOND).into(),
        Datum::Timestamptz(micros) => {
            (full_timestamp(*micros, MICROS_PER_SECOND) + "+00:00").into()
        }
        Datum::TimestamptzNs(nanos) => (full_timestamp(*nanos, NANOS_PER_SECOND) + "+00:00").into(),
        Datum::String(text) => text.as_str().into(),
        Datum::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).to_string().into(),
        Datum::Fixed(bytes) | Datum::Binary(bytes) => to_hex(bytes).into(),
    }
}

fn full_timestamp(units: i64, units_per_second: i64) -> String {
    civil::format_timestamp(units, units_per_second, TimeStyle::Full)
}

fn float_to_json(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

/// Parse the JSON form of a value. Also accepted: a decimal as a number, and a timestamp with a space for the `T`,
/// without seconds or as a date. A timestamptz requires an offset, a timestamp must not have one.
///
/// # Errors
/// `InvalidArgument` where the JSON is no value of the type.
///
/// ```
/// use icefloe_format::spec::{Datum, PrimitiveType, single_value};
/// let date = single_value::from_json(&PrimitiveType::Date, &"2017-11-16".into())?;
/// assert_eq!(date, Datum::Date(17486));
/// # Ok::<(), icefloe_format::Error>(())
/// ```
pub fn from_json(value_type: &PrimitiveType, value: &Value) -> Result<Datum> {
    parse_json(value_type, value).ok_or_else(|| {
        let mut expected = value_type.to_string();
        if let Some(example) = example(value_type) {
            expected = format!("{expected} such as {example}");
        }
        let reason = format!("is not of the type; expected {expected}, got {value}");
        Error::invalid("value", reason)
    })
}

fn example(value_type: &PrimitiveType) -> Option<&'static str> {
    Some(match value_type {
        PrimitiveType::Decimal { .. } => "\"14.20\" within its precision and scale",
        PrimitiveType::Date => "\"2017-11-16\"",
        PrimitiveType::Time => "\"22:31:08.123456\"",
        PrimitiveType::Timestamp => "\"2017-11-16T22:31:08.123456\"",
        PrimitiveType::Timestamptz => "\"2017-11-16T22:31:08.123456+00:00\"",
        PrimitiveType::TimestampNs => "\"2017-11-16T22:31:08.123456789\"",
        PrimitiveType::TimestamptzNs => "\"2017-11-16T22:31:08.123456789+00:00\"",
        PrimitiveType::Fixed(_) | PrimitiveType::Binary => "\"000102ff\", hexadecimal",
        _ => return None,
    })
}

fn parse_json(value_type: &PrimitiveType, value: &Value) -> Option<Datum> {
    Some(match value_type {
        PrimitiveType::Boolean => Datum::Boolean(value.as_bool()?),
        PrimitiveType::Int => Datum::Int(i32::try_from(value.as_i64()?).ok()?),
        PrimitiveType::Long => Datum::Long(value.as_i64()?),
        PrimitiveType::Float => Datum::Float(narrow_float(float_from_json(value)?)?),
        PrimitiveType::Double => Datum::Double(float_from_json(value)?),
        PrimitiveType::Decimal { precision, scale } => {
            let unscaled = match value {
                Value::String(text) => decimal::parse(text, *scale)?,
                Value::Number(number) => decimal::parse(&number.to_string(), *scale)?,
                _ => return None,
            };
            if !decimal::fits(unscaled, *precision) {
                return None;
            }
            Datum::Decimal { unscaled, precision: *precision, scale: *scale }
        }
        PrimitiveType::Date => Datum::Date(civil::parse_date(value.as_str()?)?.try_into().ok()?),
        PrimitiveType::Time => {
            let nanos = civil::parse_time(value.as_str()?)?;
            Datum::Time((nanos % 1_000 == 0).then_some(nanos / 1_000)?)
        }
        PrimitiveType::Timestamp => Datum::Timestamp(local(value, MICROS_PER_SECOND)?),
        PrimitiveType::TimestampNs => Datum::TimestampNs(local(value, NANOS_PER_SECOND)?),
        PrimitiveType::Timestamptz => Datum::Timestamptz(zoned(value, MICROS_PER_SECOND)?),
        PrimitiveType::TimestamptzNs => Datum::TimestamptzNs(zoned(value, NANOS_PER_SECOND)?),
        PrimitiveType::String => Datum::String(value.as_str()?.to_owned()),
        PrimitiveType::Uuid => {
            Datum::Uuid(uuid::Uuid::try_parse(value.as_str()?).ok()?.into_bytes())
        }
        PrimitiveType::Fixed(length) => {
            let bytes = from_hex(value.as_str()?)?;
            (u32::try_from(bytes.len()).ok()? == *length).then_some(Datum::Fixed(bytes))?
        }
        PrimitiveType::Binary => Datum::Binary(from_hex(value.as_str()?)?),
        PrimitiveType::Unknown => return None,
    })
}

fn local(value: &Value, units_per_second: i64) -> Option<i64> {
    let moment = civil::parse_moment(value.as_str()?)?;
    if moment.offset_seconds.is_some() { None } else { moment.to_units(units_per_second) }
}

fn zoned(value: &Value, units_per_second: i64) -> Option<i64> {
    let moment = civil::parse_moment(value.as_str()?)?;
    if moment.offset_seconds.is_none() { None } else { moment.to_units(units_per_second) }
}

fn float_from_json(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn narrow_float(value: f64) -> Option<f32> {
    let narrow = value as f32;
    if narrow.is_infinite() && value.is_finite() { None } else { Some(narrow) }
}

/// Convert a JSON text to the binary form.
///
/// # Errors
/// `InvalidArgument` where the text is not valid JSON or no value of the type.
pub fn json_to_bytes(value_type: &PrimitiveType, text: &str) -> Result<Vec<u8>> {
    from_json(value_type, &json::parse("value", text)?).map(|value| to_bytes(&value))
}

/// Convert a binary form to a JSON text.
///
/// # Errors
/// `Corrupt` where the bytes are no value of the type.
pub fn bytes_to_json(value_type: &PrimitiveType, bytes: &[u8]) -> Result<String> {
    let value = from_bytes(value_type, bytes)?
        .of_one_day()
        .map_err(|error| Error::corrupt("single value", error.to_string()))?;
    Ok(to_json(&value).to_string())
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let pairs = text.as_bytes().chunks_exact(2).map(|pair| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

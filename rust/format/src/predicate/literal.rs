//! JSON literals as values of a column's type, or as a position between, above or below its values.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::spec::civil::{parse_date, parse_moment, parse_time};
use crate::spec::decimal::{Scaled, parse_scaled};
use crate::spec::single_value::from_hex;
use crate::spec::{Datum, PrimitiveType, Transform};

const NANOS_PER_MICRO: i128 = 1_000;
const NANOS_PER_DAY: i128 = 86_400_000_000_000;

/// The position of a literal among the values of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Converted {
    /// The literal is this value.
    Exact(Datum),
    /// The literal lies between this value and the next greater one.
    JustAbove(Datum),
    /// The literal is greater than every value of the type.
    AboveAll,
    /// The literal is less than every value of the type.
    BelowAll,
}

/// Convert a literal to a column's type.
///
/// # Errors
/// `InvalidArgument` where the literal is NaN or is no literal of the type.
pub(super) fn convert(column: &str, kind: &PrimitiveType, literal: &Value) -> Result<Converted> {
    let refuse = |hint: &str| {
        Err(Error::invalid(
            format!("filter on {column}"),
            format!("the literal does not fit the column; expected {kind}{hint}, got {literal}"),
        ))
    };
    if is_nan(kind, literal) {
        return refuse(" other than NaN (use is-nan or not-nan)");
    }
    match convert_value(kind, literal) {
        Some(converted) => Ok(converted),
        None => refuse(expected_form(kind)),
    }
}

fn is_nan(kind: &PrimitiveType, literal: &Value) -> bool {
    matches!(kind, PrimitiveType::Float | PrimitiveType::Double)
        && literal.as_str().is_some_and(|text| text.trim().eq_ignore_ascii_case("nan"))
}

fn expected_form(kind: &PrimitiveType) -> &'static str {
    match kind {
        PrimitiveType::Date => " such as \"2026-01-31\"",
        PrimitiveType::Time => " such as \"22:31:08.000001\"",
        PrimitiveType::Timestamp | PrimitiveType::TimestampNs => {
            " without an offset, such as \"2026-01-31T22:31:08\""
        }
        PrimitiveType::Timestamptz | PrimitiveType::TimestamptzNs => {
            " with an offset, such as \"2026-01-31T22:31:08+00:00\""
        }
        PrimitiveType::Binary | PrimitiveType::Fixed(_) => " in hexadecimal, such as \"00ff\"",
        _ => "",
    }
}

fn convert_value(kind: &PrimitiveType, literal: &Value) -> Option<Converted> {
    match kind {
        PrimitiveType::Boolean => boolean(literal),
        PrimitiveType::Float => float(literal),
        PrimitiveType::Double => Some(Converted::Exact(Datum::Double(number(literal)? + 0.0))),
        PrimitiveType::String => {
            Some(Converted::Exact(Datum::String(literal.as_str()?.to_owned())))
        }
        PrimitiveType::Uuid => {
            let uuid = uuid::Uuid::parse_str(literal.as_str()?).ok()?;
            Some(Converted::Exact(Datum::Uuid(uuid.into_bytes())))
        }
        PrimitiveType::Binary => {
            Some(Converted::Exact(Datum::Binary(from_hex(literal.as_str()?)?)))
        }
        PrimitiveType::Fixed(length) => {
            let bytes = from_hex(literal.as_str()?)?;
            let fits = u32::try_from(bytes.len()).is_ok_and(|found| found == *length);
            fits.then_some(Converted::Exact(Datum::Fixed(bytes)))
        }
        PrimitiveType::Unknown => None,
        PrimitiveType::Int | PrimitiveType::Long => position(kind, numeric(literal, 0)?),
        PrimitiveType::Decimal { scale, .. } => position(kind, numeric(literal, *scale)?),
        _ => match literal.as_str() {
            Some(text) => position(kind, temporal(kind, text)?),
            None => position(kind, numeric(literal, 0)?),
        },
    }
}

fn boolean(literal: &Value) -> Option<Converted> {
    let value = match literal {
        Value::Bool(value) => *value,
        Value::String(text) if text.eq_ignore_ascii_case("true") => true,
        Value::String(text) if text.eq_ignore_ascii_case("false") => false,
        _ => return None,
    };
    Some(Converted::Exact(Datum::Boolean(value)))
}

/// Convert to the nearest float; a literal beyond the finite floats keeps its position.
fn float(literal: &Value) -> Option<Converted> {
    let wide = number(literal)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the literal is rounded to the nearest float"
    )]
    let narrow = wide as f32;
    if narrow.is_finite() || wide.is_infinite() {
        return Some(Converted::Exact(Datum::Float(narrow + 0.0)));
    }
    let below = if wide > 0.0 { f32::MAX } else { f32::NEG_INFINITY };
    Some(Converted::JustAbove(Datum::Float(below)))
}

fn number(literal: &Value) -> Option<f64> {
    match literal {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|value: &f64| !value.is_nan()),
        _ => None,
    }
}

fn position(kind: &PrimitiveType, scaled: Scaled) -> Option<Converted> {
    let (value, exact) = match scaled {
        Scaled::Exact(value) => (value, true),
        Scaled::JustAbove(value) => (value, false),
        Scaled::AboveAll => return Some(Converted::AboveAll),
        Scaled::BelowAll => return Some(Converted::BelowAll),
    };
    let (least, greatest) = range(kind);
    if value > greatest {
        return Some(Converted::AboveAll);
    }
    if value < least {
        return Some(Converted::BelowAll);
    }
    let datum = ordinal_datum(kind, value)?;
    Some(if exact { Converted::Exact(datum) } else { Converted::JustAbove(datum) })
}

/// Return the least and greatest ordinal of an integer-like type.
fn range(kind: &PrimitiveType) -> (i128, i128) {
    match kind {
        PrimitiveType::Int | PrimitiveType::Date => (i128::from(i32::MIN), i128::from(i32::MAX)),
        PrimitiveType::Decimal { precision, .. } => {
            let limit = 10_i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX) - 1;
            (-limit, limit)
        }
        _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
    }
}

/// Return the value of an integer-like type with an ordinal (unscaled value, days, microseconds or nanoseconds); `None`
/// where the ordinal is out of range or the type is not integer-like.
pub(super) fn ordinal_datum(kind: &PrimitiveType, ordinal: i128) -> Option<Datum> {
    let (least, greatest) = range(kind);
    if ordinal < least || ordinal > greatest {
        return None;
    }
    let short = || i32::try_from(ordinal).ok();
    let long = || i64::try_from(ordinal).ok();
    Some(match kind {
        PrimitiveType::Int => Datum::Int(short()?),
        PrimitiveType::Date => Datum::Date(short()?),
        PrimitiveType::Long => Datum::Long(long()?),
        PrimitiveType::Time => Datum::Time(long()?),
        PrimitiveType::Timestamp => Datum::Timestamp(long()?),
        PrimitiveType::Timestamptz => Datum::Timestamptz(long()?),
        PrimitiveType::TimestampNs => Datum::TimestampNs(long()?),
        PrimitiveType::TimestamptzNs => Datum::TimestamptzNs(long()?),
        PrimitiveType::Decimal { precision, scale } => {
            Datum::Decimal { unscaled: ordinal, precision: *precision, scale: *scale }
        }
        _ => return None,
    })
}

/// Return the ordinal of a value of an integer-like type; `None` for other types.
pub(super) fn ordinal(datum: &Datum) -> Option<i128> {
    Some(match datum {
        Datum::Int(value) | Datum::Date(value) => i128::from(*value),
        Datum::Long(value)
        | Datum::Time(value)
        | Datum::Timestamp(value)
        | Datum::Timestamptz(value)
        | Datum::TimestampNs(value)
        | Datum::TimestamptzNs(value) => i128::from(*value),
        Datum::Decimal { unscaled, .. } => *unscaled,
        _ => return None,
    })
}

fn temporal(kind: &PrimitiveType, text: &str) -> Option<Scaled> {
    let instant = |zoned: bool, unit: i128| {
        let moment = parse_moment(text).filter(|it| it.offset_seconds.is_some() == zoned)?;
        Some(floor_div(moment.nanos(), unit))
    };
    match kind {
        PrimitiveType::Date => match parse_date(text) {
            Some(days) => Some(Scaled::Exact(i128::from(days))),
            None => instant(false, NANOS_PER_DAY),
        },
        PrimitiveType::Time => Some(floor_div(i128::from(parse_time(text)?), NANOS_PER_MICRO)),
        PrimitiveType::Timestamp => instant(false, NANOS_PER_MICRO),
        PrimitiveType::Timestamptz => instant(true, NANOS_PER_MICRO),
        PrimitiveType::TimestampNs => instant(false, 1),
        PrimitiveType::TimestamptzNs => instant(true, 1),
        _ => None,
    }
}

fn floor_div(value: i128, unit: i128) -> Scaled {
    let floor = value.div_euclid(unit);
    if value.rem_euclid(unit) == 0 { Scaled::Exact(floor) } else { Scaled::JustAbove(floor) }
}

/// Return a number times ten to the power of `scale`.
fn numeric(literal: &Value, scale: i8) -> Option<Scaled> {
    match literal {
        Value::Number(number) => match number.as_f64() {
            Some(wide) if !number.is_i64() && !number.is_u64() => {
                parse_scaled(&wide.to_string(), scale)
            }
            _ => parse_scaled(&number.to_string(), scale),
        },
        Value::String(text) => parse_scaled(text.trim(), scale),
        _ => None,
    }
}

/// Return the ordinal of a result of a time transform as text: `"2026"` for year, `"2026-01"` for month,
/// `"2026-01-31-10"` for hour. `None` for a literal of another form.
pub(super) fn calendar_ordinal(transform: &Transform, literal: &Value) -> Option<Value> {
    let text = literal.as_str()?.trim();
    let (date, hour) = match transform {
        Transform::Year if text.len() >= 4 => (format!("{text}-01-01"), 0),
        Transform::Month => (format!("{text}-01"), 0),
        Transform::Hour => {
            let (date, hour) = text.rsplit_once('-')?;
            (date.to_owned(), hour.parse().ok().filter(|hour| (0..24).contains(hour))?)
        }
        _ => return None,
    };
    let day = parse_date(&date)?;
    if *transform == Transform::Hour {
        return Some(Value::from(day * 24 + hour));
    }
    match transform.apply(&Datum::Date(i32::try_from(day).ok()?)) {
        Ok(Some(Datum::Int(ordinal))) => Some(Value::from(ordinal)),
        _ => None,
    }
}

//! The one Arrow layout per Iceberg type that kernels work on, and the arrays of other layouts that can be read as it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Date64Type};
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::arrow_names::ArrowName;
use super::arrow_schema::primitive_to_arrow;
use super::types::PrimitiveType;
use crate::error::{Error, Result};

/// Return the same values in the canonical layout of their type ([`primitive_to_arrow`]); a shallow copy of an array
/// that already has this layout. Accepts dictionaries, run ends, views, large offsets, narrower numbers and coarser
/// timestamps; refuses every conversion that could change a value.
///
/// # Errors
/// `InvalidArgument` where [`can_hold`] is false, or a value is outside the range of the type.
pub fn canonical_array(array: &dyn Array, value_type: &PrimitiveType) -> Result<ArrayRef> {
    let canonical = primitive_to_arrow(value_type);
    if *array.data_type() == canonical {
        return Ok(array.slice(0, array.len()));
    }
    if !can_hold(array.data_type(), value_type) {
        return Err(cannot_hold(array, value_type));
    }
    each_value(array, &|values| match values.data_type() {
        found if *found == canonical => Ok(values.slice(0, values.len())),
        DataType::Date64 => whole_days(values),
        _ => strictly_cast(values, &canonical),
    })
}

/// Convert Arrow's dates in milliseconds, which must be whole days.
fn whole_days(array: &dyn Array) -> Result<ArrayRef> {
    const MILLIS_PER_DAY: i64 = 86_400_000;
    let millis = array.as_primitive_opt::<Date64Type>().ok_or_else(|| {
        Error::invalid(
            "array",
            format!(
                "the type does not fit; expected date64[ms], got {}",
                ArrowName(array.data_type())
            ),
        )
    })?;
    let days = millis.try_unary::<_, Date32Type, _>(|millis| {
        let days = (millis % MILLIS_PER_DAY == 0).then_some(millis / MILLIS_PER_DAY);
        days.and_then(|days| i32::try_from(days).ok()).ok_or_else(|| {
            Error::invalid("array", format!("a date is not a whole day; expected a multiple of {MILLIS_PER_DAY} ms, got {millis} ms"))
        })
    });
    days.map(|days| Arc::new(days) as ArrayRef)
}

/// Return whether every value of an Arrow type is also a value of a primitive type.
pub fn can_hold(data_type: &DataType, value_type: &PrimitiveType) -> bool {
    use DataType as D;
    use PrimitiveType as P;
    match data_type {
        D::Null => return true,
        D::Dictionary(_, values) => return can_hold(values, value_type),
        D::RunEndEncoded(_, values) => return can_hold(values.data_type(), value_type),
        _ => {}
    }
    match value_type {
        P::Boolean => matches!(data_type, D::Boolean),
        P::Int => is_int(data_type),
        P::Long => is_int(data_type) || matches!(data_type, D::UInt32 | D::Int64),
        P::Float => matches!(data_type, D::Float16 | D::Float32),
        P::Double => matches!(data_type, D::Float16 | D::Float32 | D::Float64),
        P::Decimal { precision, scale } => match data_type {
            D::Decimal32(p, s) | D::Decimal64(p, s) | D::Decimal128(p, s) | D::Decimal256(p, s) => {
                p <= precision && s == scale
            }
            _ => false,
        },
        P::Date => matches!(data_type, D::Date32 | D::Date64),
        P::Time => matches!(data_type, D::Time32(_) | D::Time64(TimeUnit::Microsecond)),
        P::Timestamp => is_timestamp(data_type, false) && !is_nanos(data_type),
        P::Timestamptz => is_timestamp(data_type, true) && !is_nanos(data_type),
        P::TimestampNs => is_timestamp(data_type, false),
        P::TimestamptzNs => is_timestamp(data_type, true),
        P::String => matches!(data_type, D::Utf8 | D::LargeUtf8 | D::Utf8View),
        P::Binary => {
            matches!(data_type, D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_))
        }
        P::Uuid => matches!(data_type, D::FixedSizeBinary(16)),
        P::Fixed(length) => match data_type {
            D::FixedSizeBinary(width) => i64::from(*width) == i64::from(*length),
            _ => false,
        },
        P::Unknown => false,
    }
}

fn is_int(data_type: &DataType) -> bool {
    use DataType as D;
    matches!(data_type, D::Int8 | D::Int16 | D::Int32 | D::UInt8 | D::UInt16)
}

fn is_timestamp(data_type: &DataType, zoned: bool) -> bool {
    matches!(data_type, DataType::Timestamp(_, zone) if zone.is_some() == zoned)
}

fn is_nanos(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(TimeUnit::Nanosecond, _))
}

pub(crate) fn cannot_hold(array: &dyn Array, value_type: &PrimitiveType) -> Error {
    let reason = format!(
        "the type does not fit; expected {value_type}, got {}",
        ArrowName(array.data_type())
    );
    Error::invalid("array", reason)
}

/// Apply `rule` to the values of an array and return one result per slot. `rule` is applied to the distinct values of
/// a dictionary or of run ends, unless there are more of them than slots.
///
/// # Errors
/// The errors of `rule`.
pub(crate) fn each_value(
    array: &dyn Array,
    rule: &dyn Fn(&dyn Array) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let (values, keys) = (dictionary.values(), dictionary.keys());
        return if values.len() <= array.len() {
            take_by_keys(&each_value(values, rule)?, keys)
        } else {
            each_value(&take_by_keys(values, keys)?, rule)
        };
    }
    if let Some(runs) = array.as_any_ree_opt() {
        return if runs.values().len() <= array.len() {
            expand(&runs.with_values(each_value(runs.values(), rule)?))
        } else {
            each_value(&expand(array)?, rule)
        };
    }
    rule(array)
}

fn take_by_keys(values: &ArrayRef, keys: &dyn Array) -> Result<ArrayRef> {
    arrow_select::take::take(values, keys, None).map_err(|error| arrow_failure(&error))
}

/// Expand run ends to one slot per row, in the layout of their values.
fn expand(runs: &dyn Array) -> Result<ArrayRef> {
    match runs.data_type() {
        DataType::RunEndEncoded(_, values) => strictly_cast(runs, values.data_type()),
        _ => Ok(runs.slice(0, runs.len())),
    }
}

/// Cast to another layout; a value that the layout cannot hold is an error and not null.
pub(crate) fn strictly_cast(array: &dyn Array, layout: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, layout, &options).map_err(|error| arrow_failure(&error))
}

pub(crate) fn arrow_failure(error: &ArrowError) -> Error {
    Error::invalid("array", error.to_string())
}

//! Values in Arrow arrays: one value read from an array, and an array built of values.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, PrimitiveBuilder, StringBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_schema::DataType;

use super::arrow_schema::primitive_to_arrow;
use super::canonical::{can_hold, cannot_hold, canonical_array};
use super::datum::Datum;
use super::types::PrimitiveType;
use crate::error::{Error, Result};

impl Datum {
    /// Return the value at an index; `None` for null.
    ///
    /// # Errors
    /// `InvalidArgument` where the index is out of range or the array's type does not fit.
    pub fn from_array(
        array: &dyn Array,
        index: usize,
        value_type: &PrimitiveType,
    ) -> Result<Option<Self>> {
        if index >= array.len() {
            let reason =
                format!("is out of range; expected less than {}, got {index}", array.len());
            return Err(Error::invalid("index", reason));
        }
        if !can_hold(array.data_type(), value_type) {
            return Err(cannot_hold(array, value_type));
        }
        if *array.data_type() == primitive_to_arrow(value_type) {
            return Ok(read_canonical(array, index, value_type));
        }
        let one = canonical_array(&array.slice(index, 1), value_type)?;
        Ok(read_canonical(&one, 0, value_type))
    }

    /// Return an array of length 1 that holds the value.
    pub fn to_array(&self) -> Result<ArrayRef> {
        datums_to_array(&self.primitive_type(), &[Some(self.clone())])
    }
}

/// Return the value at an index of an array in the canonical layout.
fn read_canonical(array: &dyn Array, index: usize, value_type: &PrimitiveType) -> Option<Datum> {
    use PrimitiveType as P;
    if array.is_null(index) {
        return None;
    }
    Some(match value_type {
        P::Boolean => Datum::Boolean(array.as_boolean_opt()?.value(index)),
        P::Int => Datum::Int(number::<Int32Type>(array, index)?),
        P::Long => Datum::Long(number::<Int64Type>(array, index)?),
        P::Float => Datum::Float(number::<Float32Type>(array, index)?),
        P::Double => Datum::Double(number::<Float64Type>(array, index)?),
        P::Decimal { precision, scale } => Datum::Decimal {
            unscaled: number::<Decimal128Type>(array, index)?,
            precision: *precision,
            scale: *scale,
        },
        P::Date => Datum::Date(number::<Date32Type>(array, index)?),
        P::Time => Datum::Time(number::<Time64MicrosecondType>(array, index)?),
        P::Timestamp => Datum::Timestamp(number::<TimestampMicrosecondType>(array, index)?),
        P::Timestamptz => Datum::Timestamptz(number::<TimestampMicrosecondType>(array, index)?),
        P::TimestampNs => Datum::TimestampNs(number::<TimestampNanosecondType>(array, index)?),
        P::TimestamptzNs => Datum::TimestamptzNs(number::<TimestampNanosecondType>(array, index)?),
        P::String => Datum::String(array.as_string_opt::<i32>()?.value(index).to_owned()),
        P::Binary => Datum::Binary(array.as_binary_opt::<i32>()?.value(index).to_vec()),
        P::Uuid => Datum::Uuid(array.as_fixed_size_binary_opt()?.value(index).try_into().ok()?),
        P::Fixed(_) => Datum::Fixed(array.as_fixed_size_binary_opt()?.value(index).to_vec()),
        P::Unknown => return None,
    })
}

fn number<T: ArrowPrimitiveType>(array: &dyn Array, index: usize) -> Option<T::Native> {
    array.as_primitive_opt::<T>().map(|values| values.value(index))
}

/// Return an array of values in the canonical layout, with null for `None`. Values of a type that promotes to
/// `value_type` are accepted: int for long, float for double, a decimal of lower precision.
///
/// # Errors
/// `InvalidArgument` where a value has another type.
pub fn datums_to_array(value_type: &PrimitiveType, values: &[Option<Datum>]) -> Result<ArrayRef> {
    use Datum as D;
    use PrimitiveType as P;
    let made = match value_type {
        P::Boolean => booleans(values),
        P::Int => numbers::<Int32Type>(value_type, values, |v| match v {
            D::Int(v) => Some(*v),
            _ => None,
        }),
        P::Date => numbers::<Date32Type>(value_type, values, |v| match v {
            D::Date(v) => Some(*v),
            _ => None,
        }),
        P::Long => numbers::<Int64Type>(value_type, values, Datum::as_long),
        P::Float => numbers::<Float32Type>(value_type, values, |v| match v {
            D::Float(v) => Some(*v),
            _ => None,
        }),
        P::Double => numbers::<Float64Type>(value_type, values, Datum::as_double),
        P::Decimal { precision, scale } => {
            numbers::<Decimal128Type>(value_type, values, |v| match v {
                D::Decimal { unscaled, precision: p, scale: s } if s == scale && p <= precision => {
                    Some(*unscaled)
                }
                _ => None,
            })
        }
        P::Time => numbers::<Time64MicrosecondType>(value_type, values, |v| match v {
            D::Time(v) => Some(*v),
            _ => None,
        }),
        P::Timestamp | P::Timestamptz => {
            numbers::<TimestampMicrosecondType>(value_type, values, |v| match v {
                D::Timestamp(v) if *value_type == P::Timestamp => Some(*v),
                D::Timestamptz(v) if *value_type == P::Timestamptz => Some(*v),
                _ => None,
            })
        }
        P::TimestampNs | P::TimestamptzNs => {
            numbers::<TimestampNanosecondType>(value_type, values, |v| match v {
                D::TimestampNs(v) if *value_type == P::TimestampNs => Some(*v),
                D::TimestamptzNs(v) if *value_type == P::TimestamptzNs => Some(*v),
                _ => None,
            })
        }
        P::String => strings(values),
        P::Binary => binaries(values),
        P::Uuid => fixed_binaries(16, values),
        P::Fixed(length) => fixed_binaries(*length, values),
        P::Unknown => values
            .iter()
            .all(Option::is_none)
            .then(|| new_null_array(&DataType::Null, values.len())),
    };
    made.ok_or_else(|| {
        let other = values.iter().flatten().find(|value| value.primitive_type() != *value_type);
        let found = other.map_or_else(|| *value_type, Datum::primitive_type);
        Error::invalid(
            "values",
            format!("a value has another type; expected {value_type}, got {found}"),
        )
    })
}

/// Collect the native value of each value; `None` where `extract` returns none for a value.
fn numbers<T: ArrowPrimitiveType>(
    value_type: &PrimitiveType,
    values: &[Option<Datum>],
    extract: impl Fn(&Datum) -> Option<T::Native>,
) -> Option<ArrayRef> {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(values.len())
        .with_data_type(primitive_to_arrow(value_type));
    for value in values {
        match value {
            Some(value) => builder.append_value(extract(value)?),
            None => builder.append_null(),
        }
    }
    Some(Arc::new(builder.finish()))
}

fn booleans(values: &[Option<Datum>]) -> Option<ArrayRef> {
    let mut builder = BooleanBuilder::with_capacity(values.len());
    for value in values {
        match value {
            Some(Datum::Boolean(value)) => builder.append_value(*value),
            Some(_) => return None,
            None => builder.append_null(),
        }
    }
    Some(Arc::new(builder.finish()))
}

fn strings(values: &[Option<Datum>]) -> Option<ArrayRef> {
    let mut builder = StringBuilder::new();
    for value in values {
        match value {
            Some(Datum::String(text)) => builder.append_value(text),
            Some(_) => return None,
            None => builder.append_null(),
        }
    }
    Some(Arc::new(builder.finish()))
}

fn binaries(values: &[Option<Datum>]) -> Option<ArrayRef> {
    let mut builder = BinaryBuilder::new();
    for value in values {
        match value {
            Some(Datum::Binary(bytes)) => builder.append_value(bytes),
            Some(_) => return None,
            None => builder.append_null(),
        }
    }
    Some(Arc::new(builder.finish()))
}

fn fixed_binaries(length: u32, values: &[Option<Datum>]) -> Option<ArrayRef> {
    let mut builder =
        FixedSizeBinaryBuilder::with_capacity(values.len(), i32::try_from(length).ok()?);
    for value in values {
        match value {
            Some(Datum::Uuid(bytes)) => builder.append_value(bytes).ok()?,
            Some(Datum::Fixed(bytes)) => builder.append_value(bytes).ok()?,
            Some(_) => return None,
            None => builder.append_null(),
        }
    }
    Some(Arc::new(builder.finish()))
}

//! Arrays of single values in their binary form, decoded at once.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, new_null_array};
use arrow_schema::DataType;

use super::arrow_schema::primitive_to_arrow;
use super::canonical::{cannot_hold, canonical_array};
use super::types::PrimitiveType;
use super::{decimal, single_value};
use crate::error::Result;

/// Decode an array of binaries in any layout; see [`decode_values`].
///
/// # Errors
/// `InvalidArgument` where the array does not hold binaries, `Corrupt` where one of them is no value of the type.
pub fn decode_array(value_type: &PrimitiveType, array: &dyn Array) -> Result<ArrayRef> {
    let binaries = canonical_array(array, &PrimitiveType::Binary)?;
    match binaries.as_binary_opt::<i32>() {
        Some(binaries) => decode_values(value_type, binaries.iter()),
        None => Err(cannot_hold(array, &PrimitiveType::Binary)),
    }
}

/// Decode binary forms to an array in the canonical layout of the type, with null for `None`; each value is decoded as
/// by [`single_value::from_bytes`].
///
/// # Errors
/// `Corrupt` where bytes are no value of the type.
///
/// ```
/// use arrow_array::{Array, Int64Array};
/// use icefloe_format::spec::{PrimitiveType, single_values};
/// let narrow = 7_i32.to_le_bytes();
/// let bounds = [Some(&narrow[..]), None];
/// let decoded = single_values::decode_values(&PrimitiveType::Long, bounds.into_iter())?;
/// assert_eq!(decoded.to_data(), Int64Array::from(vec![Some(7), None]).to_data());
/// # Ok::<(), icefloe_format::Error>(())
/// ```
pub fn decode_values<'a>(
    value_type: &PrimitiveType,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<ArrayRef> {
    use PrimitiveType as P;
    match value_type {
        P::Boolean => booleans(values),
        P::Int => numbers::<Int32Type>(value_type, values, int),
        P::Date => numbers::<Date32Type>(value_type, values, int),
        P::Long => numbers::<Int64Type>(value_type, values, long_or_int),
        P::Time => numbers::<Time64MicrosecondType>(value_type, values, single_value::long),
        P::Timestamp | P::Timestamptz => {
            numbers::<TimestampMicrosecondType>(value_type, values, single_value::long)
        }
        P::TimestampNs | P::TimestamptzNs => {
            numbers::<TimestampNanosecondType>(value_type, values, single_value::long)
        }
        P::Float => numbers::<Float32Type>(value_type, values, float),
        P::Double => numbers::<Float64Type>(value_type, values, double_or_float),
        P::Decimal { .. } => numbers::<Decimal128Type>(value_type, values, decimal::from_bytes),
        P::String => strings(values),
        P::Binary => Ok(Arc::new(values.collect::<BinaryArray>())),
        P::Uuid => fixed(value_type, 16, values),
        P::Fixed(length) => match i32::try_from(*length) {
            Ok(length) => fixed(value_type, length, values),
            Err(_) => Ok(Arc::new(values.collect::<BinaryArray>())),
        },
        P::Unknown => nothing(values),
    }
}

fn numbers<'a, T: ArrowPrimitiveType>(
    value_type: &PrimitiveType,
    values: impl Iterator<Item = Option<&'a [u8]>>,
    decode: fn(&[u8]) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let decode = |bytes| decode(bytes).ok_or_else(|| single_value::wrong(value_type, bytes));
    let decoded: PrimitiveArray<T> =
        values.map(|bytes| bytes.map(decode).transpose()).collect::<Result<_>>()?;
    Ok(Arc::new(decoded.with_data_type(primitive_to_arrow(value_type))))
}

fn booleans<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef> {
    let decode = |bytes: &[u8]| match bytes {
        [byte] => Ok(*byte != 0),
        _ => Err(single_value::wrong(&PrimitiveType::Boolean, bytes)),
    };
    let decoded: BooleanArray =
        values.map(|bytes| bytes.map(decode).transpose()).collect::<Result<_>>()?;
    Ok(Arc::new(decoded))
}

fn strings<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef> {
    let mut builder = StringBuilder::new();
    for value in values {
        let text = value.map(|bytes| {
            std::str::from_utf8(bytes)
                .map_err(|_| single_value::wrong(&PrimitiveType::String, bytes))
        });
        builder.append_option(text.transpose()?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Return the values of a fixed-size array; a value of another length is an error.
fn fixed<'a>(
    value_type: &PrimitiveType,
    length: i32,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<ArrayRef> {
    let mut builder = FixedSizeBinaryBuilder::new(length);
    for value in values {
        match value {
            Some(bytes) => {
                builder.append_value(bytes).map_err(|_| single_value::wrong(value_type, bytes))?
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn nothing<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef> {
    let mut count = 0;
    for value in values {
        match value {
            Some(bytes) => return Err(single_value::wrong(&PrimitiveType::Unknown, bytes)),
            None => count += 1,
        }
    }
    Ok(new_null_array(&DataType::Null, count))
}

fn int(bytes: &[u8]) -> Option<i32> {
    bytes.try_into().ok().map(i32::from_le_bytes)
}

fn long_or_int(bytes: &[u8]) -> Option<i64> {
    single_value::long(bytes).or_else(|| int(bytes).map(i64::from))
}

fn float(bytes: &[u8]) -> Option<f32> {
    bytes.try_into().ok().map(f32::from_le_bytes)
}

fn double_or_float(bytes: &[u8]) -> Option<f64> {
    bytes.try_into().ok().map(f64::from_le_bytes).or_else(|| float(bytes).map(f64::from))
}

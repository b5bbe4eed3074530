//! Stored bounds decoded a column at a time, in the form that kernels compare.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, PrimitiveArray};
use arrow_schema::DataType;

use crate::error::{Error, Result};
use crate::spec::{PrimitiveType, decimal, primitive_to_arrow};

/// The Arrow type of bounds: that of the field, but binary for every
/// byte string. A string's bound may be cut within a character and is still a bound.
pub(super) fn bound_type(field_type: &PrimitiveType) -> DataType {
    match field_type {
        PrimitiveType::String
        | PrimitiveType::Binary
        | PrimitiveType::Fixed(_)
        | PrimitiveType::Uuid => DataType::Binary,
        other => primitive_to_arrow(other),
    }
}

/// Decode single values (Appendix D) of one field; null where there is none. A value stored
/// before its column was promoted is recognised by its length.
///
/// # Errors
/// `Corrupt` where a value has a length that its type has not.
pub(super) fn decode_bounds<'a>(
    field_type: &PrimitiveType,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<ArrayRef> {
    use PrimitiveType as P;
    match field_type {
        P::String | P::Binary | P::Fixed(_) | P::Uuid => {
            Ok(Arc::new(values.collect::<BinaryArray>()))
        }
        P::Boolean => Ok(Arc::new(booleans(values)?)),
        P::Int => natives::<Int32Type>(field_type, values, int),
        P::Date => natives::<Date32Type>(field_type, values, int),
        P::Long => natives::<Int64Type>(field_type, values, long),
        P::Time => natives::<Time64MicrosecondType>(field_type, values, long_only),
        P::Timestamp | P::Timestamptz => {
            natives::<TimestampMicrosecondType>(field_type, values, long_only)
        }
        P::TimestampNs | P::TimestamptzNs => {
            natives::<TimestampNanosecondType>(field_type, values, long_only)
        }
        P::Float => natives::<Float32Type>(field_type, values, float),
        P::Double => natives::<Float64Type>(field_type, values, double),
        P::Decimal { .. } => natives::<Decimal128Type>(field_type, values, decimal::from_bytes),
        P::Unknown => Ok(arrow_array::new_null_array(&DataType::Null, values.count())),
    }
}

fn natives<'a, T: ArrowPrimitiveType>(
    field_type: &PrimitiveType,
    values: impl Iterator<Item = Option<&'a [u8]>>,
    decode: fn(&[u8]) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let array: PrimitiveArray<T> = values
        .map(|bytes| {
            bytes
                .map(|bytes| decode(bytes).ok_or_else(|| wrong_length(field_type, bytes)))
                .transpose()
        })
        .collect::<Result<_>>()?;
    Ok(Arc::new(array.with_data_type(primitive_to_arrow(field_type))))
}

fn booleans<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<BooleanArray> {
    let decode = |bytes: &[u8]| match bytes {
        [byte] => Ok(*byte != 0),
        _ => Err(wrong_length(&PrimitiveType::Boolean, bytes)),
    };
    values.map(|bytes| bytes.map(decode).transpose()).collect()
}

fn int(bytes: &[u8]) -> Option<i32> {
    bytes.try_into().ok().map(i32::from_le_bytes)
}

fn long(bytes: &[u8]) -> Option<i64> {
    int(bytes).map(i64::from).or_else(|| long_only(bytes))
}

fn long_only(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(i64::from_le_bytes)
}

fn float(bytes: &[u8]) -> Option<f32> {
    bytes.try_into().ok().map(f32::from_le_bytes)
}

fn double(bytes: &[u8]) -> Option<f64> {
    float(bytes).map(f64::from).or_else(|| bytes.try_into().ok().map(f64::from_le_bytes))
}

fn wrong_length(field_type: &PrimitiveType, bytes: &[u8]) -> Error {
    Error::corrupt(
        "a column bound",
        format!("{} bytes do not make a value of type {field_type}", bytes.len()),
    )
}

//! Stored bounds decoded a column at a time, in the form that kernels compare.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, new_null_array};
use arrow_schema::DataType;

use crate::error::Result;
use crate::spec::{PrimitiveType, primitive_to_arrow, single_value};

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
        // There is nothing to know of values that are all null.
        P::Unknown => Ok(new_null_array(&DataType::Null, values.count())),
        _ => single_value::decode_values(field_type, values),
    }
}

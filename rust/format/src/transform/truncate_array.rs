//! Truncation of arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, Decimal128Type, Int32Type, Int64Type,
    LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{Array, ArrayRef, GenericByteArray};
use arrow_schema::DataType;

use super::blocks::{map, same_type};
use super::heads::{all_bytes, is_any_longer, shorten, shorten_views};
use super::truncate::Width;
use crate::error::Result;
use crate::spec::{PrimitiveType, canonical_array};

/// Bytes of the longest characters in UTF-8.
const MAX_CHARACTER_BYTES: usize = 4;

/// The truncated values of an array that is not encoded; `None` where its values are not truncated.
pub(super) fn truncate(
    width: Width,
    array: &dyn Array,
    source: &PrimitiveType,
) -> Result<Option<ArrayRef>> {
    if let Some(truncated) = byte_strings(width, array) {
        return truncated.map(Some);
    }
    let array = canonical_array(array, source)?;
    match source {
        PrimitiveType::String | PrimitiveType::Binary => byte_strings(width, &array).transpose(),
        _ => Ok(numbers(width, &array)),
    }
}

/// Strings and binaries, in the layout that they come in.
fn byte_strings(width: Width, array: &dyn Array) -> Option<Result<ArrayRef>> {
    Some(match array.data_type() {
        DataType::Utf8 => strings(width, array.as_bytes_opt::<Utf8Type>()?),
        DataType::LargeUtf8 => strings(width, array.as_bytes_opt::<LargeUtf8Type>()?),
        DataType::Binary => binaries(width, array.as_bytes_opt::<BinaryType>()?),
        DataType::LargeBinary => binaries(width, array.as_bytes_opt::<LargeBinaryType>()?),
        DataType::Utf8View => {
            let texts = array.as_byte_view_opt::<StringViewType>()?;
            shorten_views(texts, |text| width.of_str(text))
        }
        DataType::BinaryView => {
            let values = array.as_byte_view_opt::<BinaryViewType>()?;
            shorten_views(values, |bytes| width.of_bytes(bytes))
        }
        _ => return None,
    })
}

fn strings<T: ByteArrayType<Native = str>>(
    width: Width,
    array: &GenericByteArray<T>,
) -> Result<ArrayRef> {
    if all_bytes(array).is_ascii() || !is_any_longer(array, width.length()) {
        return binaries(width, array);
    }
    let most = width.length().saturating_mul(MAX_CHARACTER_BYTES);
    shorten(array, most, |row, _| width.of_str(array.value(row)).len())
}

fn binaries<T: ByteArrayType>(width: Width, array: &GenericByteArray<T>) -> Result<ArrayRef> {
    if !is_any_longer(array, width.length()) {
        return Ok(Arc::new(array.clone()));
    }
    shorten(array, width.length(), |_, length| length.min(width.length()))
}

fn numbers(width: Width, array: &ArrayRef) -> Option<ArrayRef> {
    if let Some(ints) = array.as_primitive_opt::<Int32Type>() {
        return Some(same_type(ints, map(ints.values(), move |value| width.of_int(value))));
    }
    if let Some(longs) = array.as_primitive_opt::<Int64Type>() {
        return Some(same_type(longs, map(longs.values(), move |value| width.of_long(value))));
    }
    let decimals = array.as_primitive_opt::<Decimal128Type>()?;
    Some(same_type(decimals, map(decimals.values(), move |value| width.of_decimal(value))))
}

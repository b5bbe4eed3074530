//! Loops over arrays of strings and bytes, whatever their layout.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::iterator::ArrayIter;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayAccessor, ArrayRef, GenericByteArray};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer};
use arrow_schema::DataType;

use crate::error::{Error, Result};
use crate::spec::arrow_values::arrow_failure;

/// A number per value, 0 for null; `None` where the array is not of strings or bytes.
pub(super) fn map_bytes(array: &dyn Array, rule: impl Fn(&[u8]) -> i32) -> Option<Vec<i32>> {
    Some(match array.data_type() {
        DataType::Utf8 => each(array.as_string_opt::<i32>()?, |text| rule(text.as_bytes())),
        DataType::LargeUtf8 => each(array.as_string_opt::<i64>()?, |text| rule(text.as_bytes())),
        DataType::Utf8View => each(array.as_string_view_opt()?, |text| rule(text.as_bytes())),
        DataType::Binary => each(array.as_binary_opt::<i32>()?, rule),
        DataType::LargeBinary => each(array.as_binary_opt::<i64>()?, rule),
        DataType::BinaryView => each(array.as_binary_view_opt()?, rule),
        DataType::FixedSizeBinary(_) => each(array.as_fixed_size_binary_opt()?, rule),
        _ => return None,
    })
}

fn each<A: ArrayAccessor>(array: A, rule: impl Fn(A::Item) -> i32) -> Vec<i32> {
    ArrayIter::new(array).map(|value| value.map_or(0, &rule)).collect()
}

/// Each value cut to as many bytes as `kept` says; the array itself where nothing is cut.
pub(super) fn shorten<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    kept: impl Fn(&T::Native) -> usize,
) -> Result<ArrayRef> {
    let mut bytes = Vec::new();
    let mut offsets = Vec::with_capacity(array.len() + 1);
    offsets.push(T::Offset::usize_as(0));
    let mut cut = false;
    for value in array {
        if let Some(value) = value {
            let whole: &[u8] = value.as_ref();
            let head = whole.get(..kept(value)).unwrap_or(whole);
            cut |= head.len() < whole.len();
            bytes.extend_from_slice(head);
        }
        let end = T::Offset::from_usize(bytes.len())
            .ok_or_else(|| Error::invalid("array", "truncated values take more than 2 GiB"))?;
        offsets.push(end);
    }
    if !cut {
        return Ok(Arc::new(array.clone()));
    }
    let offsets = OffsetBuffer::new(offsets.into());
    GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(bytes), array.nulls().cloned())
        .map(|shortened| Arc::new(shortened) as ArrayRef)
        .map_err(|error| arrow_failure(&error))
}

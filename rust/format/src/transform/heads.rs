//! Arrays of strings and bytes, cut to heads of their values.

use std::sync::Arc;

use arrow_array::builder::GenericByteViewBuilder;
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer};

use crate::error::{Error, Result};
use crate::spec::encoding::arrow_failure;

/// Where each value starts and ends, those that nulls cover up too.
fn ranges<T: ByteArrayType>(array: &GenericByteArray<T>) -> impl Iterator<Item = (usize, usize)> {
    let starts = array.value_offsets();
    let ends = array.value_offsets().get(1..).unwrap_or_default();
    starts.iter().zip(ends).map(|(start, end)| (start.as_usize(), end.as_usize()))
}

/// The bytes of all values, one after the other, what nulls cover up included.
pub(super) fn all_bytes<T: ByteArrayType>(array: &GenericByteArray<T>) -> &[u8] {
    let offsets = array.value_offsets();
    let range = offsets.first().zip(offsets.last());
    let bytes =
        range.and_then(|(first, last)| array.value_data().get(first.as_usize()..last.as_usize()));
    bytes.unwrap_or_default()
}

/// Whether a value has more bytes than `length`; what nulls cover up counts.
pub(super) fn is_any_longer<T: ByteArrayType>(array: &GenericByteArray<T>, length: usize) -> bool {
    ranges(array).fold(false, |so_far, (start, end)| so_far | (end.wrapping_sub(start) > length))
}

/// Bytes that are copied at once where no more are wanted: faster than a copy of their exact number.
const STRIDE: usize = 16;

/// Each value cut to as many bytes as `kept` says of its row and length, which are at most `most`; the array
/// itself where nothing is cut.
pub(super) fn shorten<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    most: usize,
    kept: impl Fn(usize, usize) -> usize,
) -> Result<ArrayRef> {
    let (data, nulls) = (array.value_data(), array.nulls());
    let mut bytes = vec![0; room(array, most)];
    let mut offsets = vec![T::Offset::usize_as(0); array.len() + 1];
    let (mut filled, mut cut) = (0, false);
    let slots = offsets.get_mut(1..).unwrap_or_default().iter_mut();
    for (row, (offset, (start, end))) in slots.zip(ranges(array)).enumerate() {
        if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            let length = kept(row, end.saturating_sub(start)).min(end.saturating_sub(start));
            cut |= length < end.saturating_sub(start);
            let (from, to) = (data.get(start..), bytes.get_mut(filled..));
            copy(from.unwrap_or_default(), to.unwrap_or_default(), length);
            filled += length;
        }
        *offset = T::Offset::usize_as(filled);
    }
    // The last offset is the greatest.
    if T::Offset::from_usize(filled).is_none() {
        return Err(Error::invalid("array", "truncated values take more than 2 GiB"));
    }
    if !cut {
        return Ok(Arc::new(array.clone()));
    }
    bytes.truncate(filled);
    let offsets = OffsetBuffer::new(offsets.into());
    GenericByteArray::<T>::try_new(offsets, Buffer::from_vec(bytes), array.nulls().cloned())
        .map(|shortened| Arc::new(shortened) as ArrayRef)
        .map_err(|error| arrow_failure(&error))
}

/// Bytes that shortened values may take, and a stride more.
fn room<T: ByteArrayType>(array: &GenericByteArray<T>, most: usize) -> usize {
    let kept = array.len().saturating_mul(most);
    all_bytes(array).len().min(kept).saturating_add(STRIDE)
}

#[inline(always)]
fn copy(from: &[u8], to: &mut [u8], length: usize) {
    if let (Some(from), Some(to)) = (from.first_chunk::<STRIDE>(), to.first_chunk_mut::<STRIDE>())
        && length <= STRIDE
    {
        *to = *from;
    } else if let (Some(from), Some(to)) = (from.get(..length), to.get_mut(..length)) {
        to.copy_from_slice(from);
    }
}

/// What `head` keeps of each value; the array itself where that is all.
pub(super) fn shorten_views<T: ByteViewType>(
    array: &GenericByteViewArray<T>,
    head: impl Fn(&T::Native) -> &T::Native,
) -> Result<ArrayRef> {
    let mut builder = GenericByteViewBuilder::<T>::with_capacity(array.len());
    let mut cut = false;
    for value in array {
        match value {
            Some(whole) => {
                let kept = head(whole);
                cut |= length_of::<T>(kept) < length_of::<T>(whole);
                builder.try_append_value(kept).map_err(|error| arrow_failure(&error))?;
            }
            None => builder.append_null(),
        }
    }
    Ok(if cut { Arc::new(builder.finish()) } else { Arc::new(array.clone()) })
}

fn length_of<T: ByteViewType>(value: &T::Native) -> usize {
    let bytes: &[u8] = value.as_ref();
    bytes.len()
}

//! Views gathered into one buffer with offsets, for consumers that cannot read views.

use std::sync::Arc;

use arrow_array::types::ByteViewType;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, GenericByteViewArray, StringArray,
    StringViewArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

/// The longest value that a view holds inline, after its 4 bytes of length.
const INLINE_BYTES: usize = 12;

/// Return the strings of views in one buffer with offsets.
///
/// # Errors
/// `OffsetOverflowError` for more bytes than 32-bit offsets reach.
pub(crate) fn gather_strings(views: &StringViewArray) -> Result<ArrayRef, ArrowError> {
    let (offsets, values) = gather(views)?;
    Ok(Arc::new(StringArray::try_new(offsets, values, views.nulls().cloned())?))
}

/// Return the binaries of views in one buffer with offsets.
///
/// # Errors
/// As for [`gather_strings`].
pub(crate) fn gather_binaries(views: &BinaryViewArray) -> Result<ArrayRef, ArrowError> {
    let (offsets, values) = gather(views)?;
    Ok(Arc::new(BinaryArray::try_new(offsets, values, views.nulls().cloned())?))
}

fn gather<T: ByteViewType>(
    array: &GenericByteViewArray<T>,
) -> Result<(OffsetBuffer<i32>, Buffer), ArrowError> {
    let (views, buffers) = (array.views(), array.data_buffers());
    let total: u64 = views.iter().map(|view| length(*view) as u64).sum();
    check_reach(total)?;
    // Inline values are copied with a fixed length; the surplus is overwritten or truncated.
    let mut values: Vec<u8> = Vec::with_capacity(total as usize + INLINE_BYTES);
    let mut offsets: Vec<i32> = Vec::with_capacity(views.len() + 1);
    offsets.push(0);
    for (row, view) in views.iter().enumerate() {
        let length = if array.is_null(row) { 0 } else { length(*view) };
        let end = values.len() + length;
        if length <= INLINE_BYTES {
            // A copy of fixed length needs no call.
            let inline: [u8; INLINE_BYTES] = inline_bytes(*view);
            values.extend_from_slice(&inline);
            values.truncate(end);
        } else {
            let start = (*view >> 96) as u32 as usize;
            let buffer = buffers.get((*view >> 64) as u32 as usize);
            let value = buffer.and_then(|buffer| buffer.get(start..start + length));
            values.extend_from_slice(value.ok_or_else(outside)?);
        }
        // Every end is at most the total, which fits.
        offsets.push(end as i32);
    }
    Ok((OffsetBuffer::new(ScalarBuffer::from(offsets)), values.into()))
}

fn length(view: u128) -> usize {
    view as u32 as usize
}

fn inline_bytes(view: u128) -> [u8; INLINE_BYTES] {
    let bytes = view.to_le_bytes();
    let mut inline = [0; INLINE_BYTES];
    inline.copy_from_slice(&bytes[4..]);
    inline
}

fn check_reach(total: u64) -> Result<(), ArrowError> {
    match i32::try_from(total) {
        Ok(_) => Ok(()),
        Err(_) => Err(ArrowError::InvalidArgumentError(format!(
            "{total} bytes of text in one batch are more than 32-bit offsets reach; \
             read with a smaller batch_size or with string_views"
        ))),
    }
}

fn outside() -> ArrowError {
    ArrowError::InvalidArgumentError("a view points outside its buffers".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;

    #[test]
    fn values_of_every_length_and_nulls_are_unchanged() {
        let values: Vec<Option<String>> =
            (0..200).map(|n| (n % 7 != 3).then(|| format!("{n}é").repeat(n % 11))).collect();
        let views = StringViewArray::from_iter(values.iter().map(Option::as_deref));
        let gathered = gather_strings(&views.slice(5, 150)).unwrap();
        let found: Vec<_> =
            gathered.as_string::<i32>().iter().map(|v| v.map(str::to_owned)).collect();
        assert_eq!(found, values[5..155]);
    }

    #[test]
    fn empty_arrays_gather_to_empty_arrays() {
        let views = BinaryViewArray::from_iter_values(Vec::<&[u8]>::new());
        assert_eq!(gather_binaries(&views).unwrap().len(), 0);
    }
}

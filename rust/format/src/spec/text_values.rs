//! Texts of Arrow arrays that another library made.
//!
//! Rust relies on texts in UTF-8, but the C data interface does not promise them, and libraries cast bytes to texts
//! without a look. A file with such a text could not be read again.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericStringArray, OffsetSizeTrait, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use crate::error::{Error, Result};

/// Check that the texts of all columns are UTF-8, at any depth. Bytes below nulls are not looked at.
///
/// # Errors
/// `Mismatch` naming the first column with another text.
pub fn check_texts(batch: &RecordBatch) -> Result<()> {
    let schema = batch.schema_ref();
    let mut columns = schema.fields().iter().zip(batch.columns());
    match columns.find(|(_, column)| !is_text(column)) {
        None => Ok(()),
        Some((field, _)) => Err(Error::Mismatch {
            column: field.name().clone(),
            found: "bytes that are not UTF-8".to_owned(),
            expected: "text in UTF-8".to_owned(),
        }),
    }
}

fn is_text(array: &ArrayRef) -> bool {
    // Libraries leave the offsets of an array without values undefined.
    if array.is_empty() {
        return true;
    }
    match array.data_type() {
        DataType::Utf8 => is_utf8(array.as_string::<i32>()),
        DataType::LargeUtf8 => is_utf8(array.as_string::<i64>()),
        DataType::Utf8View => {
            let values = array.as_string_view().clone().to_binary_view();
            values.iter().flatten().all(|value| std::str::from_utf8(value).is_ok())
        }
        DataType::Struct(_) => array.as_struct().columns().iter().all(is_text),
        DataType::List(_) => {
            is_used_text(array.as_list::<i32>().offsets(), array.as_list::<i32>().values())
        }
        DataType::LargeList(_) => {
            is_used_text(array.as_list::<i64>().offsets(), array.as_list::<i64>().values())
        }
        DataType::Map(_, _) => {
            let entries: ArrayRef = std::sync::Arc::new(array.as_map().entries().clone());
            is_used_text(array.as_map().offsets(), &entries)
        }
        other if other.is_nested() || matches!(other, DataType::Dictionary(_, _)) => {
            array.to_data().child_data().iter().all(|child| is_text(&make_array(child.clone())))
        }
        _ => true,
    }
}

/// Return whether the elements that offsets span are texts. Slices of a large array share its elements.
fn is_used_text<O: OffsetSizeTrait>(offsets: &[O], elements: &ArrayRef) -> bool {
    let ends = offsets.first().zip(offsets.last());
    ends.is_none_or(|(first, last)| {
        let (start, end) = (first.as_usize(), last.as_usize());
        start >= end || is_text(&elements.slice(start, end - start))
    })
}

fn is_utf8<O: OffsetSizeTrait>(array: &GenericStringArray<O>) -> bool {
    are_texts(array.value_offsets(), array.value_data(), array.nulls())
}

/// Return whether the bytes between offsets are UTF-8: all at once if possible, because values alone are slow to check.
fn are_texts<O: OffsetSizeTrait>(offsets: &[O], bytes: &[u8], nulls: Option<&NullBuffer>) -> bool {
    let between = |start: &O, end: &O| bytes.get(start.as_usize()..end.as_usize());
    let Some((first, last)) = offsets.first().zip(offsets.last()) else { return true };
    let together = between(first, last);
    if together.is_some_and(<[u8]>::is_ascii) {
        return true;
    }
    if let Some(text) = together.and_then(|bytes| std::str::from_utf8(bytes).ok())
        && offsets.iter().all(|offset| text.is_char_boundary((*offset - *first).as_usize()))
    {
        return true;
    }
    let values = offsets.iter().zip(offsets.iter().skip(1)).enumerate();
    values.filter(|(row, _)| nulls.is_none_or(|nulls| nulls.is_valid(*row))).all(
        |(_, (start, end))| {
            between(start, end).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(offsets: &[i32], bytes: &[u8], valid: &[bool]) -> bool {
        are_texts(offsets, bytes, Some(&NullBuffer::from(valid.to_vec())))
    }

    #[test]
    fn every_value_is_text_by_itself() {
        assert!(texts(&[0, 1, 3], "aé".as_bytes(), &[true, true]));
        assert!(
            !texts(&[0, 2, 3], "aé".as_bytes(), &[true, true]),
            "an offset divides a character"
        );
        assert!(!texts(&[0, 1, 2], b"a\xff", &[true, true]));
        assert!(texts(&[], b"", &[]));
    }

    #[test]
    fn bytes_of_nulls_and_of_no_row_are_not_looked_at() {
        assert!(texts(&[0, 1, 2], b"a\xff", &[true, false]));
        assert!(texts(&[1, 2, 2], b"\xffa\xff", &[true, true]));
    }

    #[test]
    fn offsets_outside_of_the_bytes_are_no_text() {
        assert!(!texts(&[0, 9], b"a", &[true]));
    }
}

//! Columns of nulls.

use arrow_array::{ArrayRef, new_null_array};
use arrow_schema::DataType;

use super::arrow_names::ArrowName;
use crate::error::{Error, Result};

/// The most bytes of the `fixed` values of a column of nulls. A null of a `fixed` takes the length of the type, which a
/// schema may state as it likes and no bytes of a file stand for.
pub const MAX_NULL_BYTES: usize = 256 << 20;

/// Return an array of `rows` nulls.
///
/// # Errors
/// [`Error::Unsupported`] for nulls of more than [`MAX_NULL_BYTES`], before they are allocated.
pub fn null_array(data_type: &DataType, rows: usize) -> Result<ArrayRef> {
    let bytes = fixed_bytes(data_type).saturating_mul(rows);
    if bytes > MAX_NULL_BYTES {
        let name = ArrowName(data_type);
        return Err(Error::unsupported(format!(
            "a batch of {rows} nulls of type {name}, which take {bytes} bytes (expected at most {MAX_NULL_BYTES}),"
        )));
    }
    Ok(new_null_array(data_type, rows))
}

/// Return the bytes of each row in the `fixed` columns of a type.
fn fixed_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(length) => usize::try_from(*length).unwrap_or(usize::MAX),
        DataType::Struct(fields) => {
            let sizes = fields.iter().map(|field| fixed_bytes(field.data_type()));
            sizes.fold(0, usize::saturating_add)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use arrow_array::Array;
    use arrow_schema::Field;

    use super::*;

    #[test]
    fn nulls_of_a_long_fixed_are_refused_before_they_are_allocated() {
        let wide = DataType::FixedSizeBinary(i32::MAX);
        let nested = DataType::Struct(vec![Field::new("f", wide.clone(), true)].into());
        for data_type in [wide, nested] {
            for rows in [1, 1_000] {
                let refused = null_array(&data_type, rows).unwrap_err().to_string();
                assert!(refused.contains(&format!("{rows} nulls of type")), "{refused}");
            }
            assert_eq!(null_array(&data_type, 0).unwrap().len(), 0);
        }
    }

    #[test]
    fn nulls_of_a_short_fixed_are_made() {
        assert_eq!(null_array(&DataType::FixedSizeBinary(16), 1_000).unwrap().null_count(), 1_000);
    }
}

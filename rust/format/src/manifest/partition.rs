//! Partition tuples of manifest entries, as typed columns and as JSON.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringArray, StructArray};
use arrow_ord::partition::partition;

use crate::spec::partition_json::{
    Partition, partition_from_json, partition_from_struct, partition_to_json, partitions_to_struct,
};
use crate::spec::types::{PrimitiveType, StructType};
use crate::spec::{Datum, primitive_from_arrow};
use crate::{Error, Result};

/// Return `partition_type` with unknown types replaced by the types of the columns.
pub fn typed_by_columns(partition_type: &StructType, tuples: &StructArray) -> StructType {
    let mut typed = partition_type.clone();
    for (field, column) in typed.fields.iter_mut().zip(tuples.columns()) {
        if field.field_type.as_primitive() == Some(PrimitiveType::Unknown)
            && let Some(primitive) = primitive_from_arrow(column.data_type())
        {
            field.field_type = primitive.into();
        }
    }
    typed
}

/// Format each tuple as a JSON array of single values.
///
/// # Errors
/// [`Error::InvalidArgument`] if the columns do not fit the type.
pub fn tuples_to_json(partition_type: &StructType, tuples: &StructArray) -> Result<StringArray> {
    let typed = typed_by_columns(partition_type, tuples);
    if typed.fields.is_empty() {
        return Ok(StringArray::from_iter_values((0..tuples.len()).map(|_| "[]")));
    }
    let mut texts = StringBuilder::with_capacity(tuples.len(), 0);
    for rows in repeated(tuples) {
        let text = partition_to_json(&partition_from_struct(&typed, tuples, rows.start)?);
        rows.for_each(|_| texts.append_value(&text));
    }
    Ok(texts.finish())
}

/// Return the ranges of consecutive rows with equal tuples.
fn repeated(tuples: &StructArray) -> Vec<Range<usize>> {
    match partition(tuples.columns()) {
        Ok(repeated) if tuples.null_count() == 0 => repeated.ranges(),
        // The type is not comparable, or tuples are null.
        _ => (0..tuples.len()).map(|row| row..row + 1).collect(),
    }
}

/// Parse tuples from the form of [`tuples_to_json`] to one column per partition field.
///
/// # Errors
/// [`Error::InvalidArgument`] if a text is null or not a tuple of the type.
pub fn tuples_from_json(partition_type: &StructType, texts: &StringArray) -> Result<StructArray> {
    // Each distinct text is parsed once: there are far more entries than partitions.
    let mut parsed: HashMap<&str, Partition> = HashMap::new();
    let mut tuples = Vec::with_capacity(texts.len());
    for text in texts {
        let text = text.ok_or_else(|| Error::invalid("partition", "is null"))?;
        let tuple = match parsed.get(text) {
            Some(tuple) => tuple.clone(),
            None => {
                let tuple = partition_from_json(partition_type, text)?;
                parsed.insert(text, tuple.clone());
                tuple
            }
        };
        tuples.push(tuple);
    }
    partitions_to_struct(&typed_by_values(partition_type, &tuples), &tuples)
}

/// Return `partition_type` with unknown types replaced by the types of the values.
fn typed_by_values(partition_type: &StructType, tuples: &[Partition]) -> StructType {
    let mut typed = partition_type.clone();
    for (position, field) in typed.fields.iter_mut().enumerate() {
        if field.field_type.as_primitive() == Some(PrimitiveType::Unknown) {
            let mut values = tuples.iter().filter_map(|tuple| tuple.get(position)?.as_ref());
            if let Some(primitive) = values.next().map(Datum::primitive_type) {
                field.field_type = primitive.into();
            }
        }
    }
    typed
}

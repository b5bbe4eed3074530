//! Partition tuples of one spec, in the struct of the fields of all specs.

use arrow_array::{Array, ArrayRef, StructArray};

use crate::spec::{
    ArrowOptions, NestedField, PrimitiveType, StructType, canonical_array, null_array,
    primitive_to_arrow, struct_to_arrow,
};
use crate::{Error, Result};

/// Convert tuples to a struct with one optional child for each field of `unified`, matched by field id. A field that the
/// tuples' spec lacks, or holds as `void`, is null.
///
/// # Errors
/// [`Error::InvalidArgument`] if a value does not fit the unified type.
pub fn unified_partition(
    tuples: &StructArray,
    own: &StructType,
    unified: &StructType,
) -> Result<StructArray> {
    let columns = unified.fields.iter().map(|field| column(tuples, own, field));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let fields = struct_to_arrow(unified, ArrowOptions::default());
    StructArray::try_new_with_length(fields, columns, None, tuples.len())
        .map_err(|error| Error::invalid("partition", error.to_string()))
}

fn column(tuples: &StructArray, own: &StructType, field: &NestedField) -> Result<ArrayRef> {
    let value_type = field.field_type.as_primitive().unwrap_or(PrimitiveType::Unknown);
    let place = own.fields.iter().position(|one| one.id == field.id);
    match place.and_then(|place| tuples.columns().get(place)) {
        Some(values) if values.null_count() < values.len() => canonical_array(values, &value_type),
        _ => null_array(&primitive_to_arrow(&value_type), tuples.len()),
    }
}

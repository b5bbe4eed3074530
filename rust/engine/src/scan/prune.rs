//! Some fields of a schema, and their values in a batch.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{NestedField, Schema, StructType, Type};

use crate::error::Result;

/// The schema of some fields alone, reached through structs, everything optional: where a file
/// lacks a column its values are null.
pub(crate) fn prune(schema: &Schema, field_ids: &[i32]) -> Schema {
    Schema {
        schema_id: schema.schema_id,
        fields: fields_of(&schema.fields, field_ids),
        identifier_field_ids: vec![],
    }
}

fn fields_of(fields: &[NestedField], field_ids: &[i32]) -> Vec<NestedField> {
    let kept = fields.iter().filter_map(|field| {
        let mut kept = NestedField { required: false, ..field.clone() };
        if field_ids.contains(&field.id) {
            return Some(kept);
        }
        let Type::Struct(inner) = &field.field_type else { return None };
        let inner = fields_of(&inner.fields, field_ids);
        if inner.is_empty() {
            return None;
        }
        kept.field_type = Type::Struct(StructType { fields: inner });
        Some(kept)
    });
    kept.collect()
}

/// The values at a path through structs; null where a struct on the way is.
///
/// # Errors
/// `InvalidArgument` where the batch has no such path.
pub(crate) fn values_at(batch: &RecordBatch, path: &[usize]) -> Result<ArrayRef> {
    let absent = || FormatError::invalid("batch", format!("no column at {path:?}"));
    let (first, rest) = path.split_first().ok_or_else(absent)?;
    let mut array = Arc::clone(batch.columns().get(*first).ok_or_else(absent)?);
    let mut nulls: Option<NullBuffer> = None;
    for index in rest {
        let parent = array.as_struct_opt().ok_or_else(absent)?;
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        let child = Arc::clone(parent.columns().get(*index).ok_or_else(absent)?);
        array = child;
    }
    let Some(nulls) = NullBuffer::union(nulls.as_ref(), array.nulls()) else { return Ok(array) };
    let data = array.to_data().into_builder().nulls(Some(nulls)).build();
    let data = data.map_err(|error| FormatError::invalid("batch", error.to_string()))?;
    Ok(make_array(data))
}

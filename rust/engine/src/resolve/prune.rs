//! Selected fields of a schema, and their values in a batch.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{NestedField, Schema, StructType, Type};

use crate::error::Result;

/// Return the schema of the selected fields, reached through structs. All are optional: where a file lacks a column its
/// values are null.
pub(crate) fn prune(schema: &Schema, field_ids: &[i32]) -> Schema {
    let mut paths: Vec<_> = field_ids.iter().filter_map(|id| schema.position_path(*id)).collect();
    paths.sort_unstable();
    let paths: Vec<&[usize]> = paths.iter().map(Vec::as_slice).collect();
    Schema::new(schema.schema_id(), fields_at(schema.fields(), &paths), vec![])
}

/// Return the fields at sorted paths of positions.
fn fields_at(fields: &[NestedField], paths: &[&[usize]]) -> Vec<NestedField> {
    let selected = paths.chunk_by(|one, next| one.first() == next.first()).filter_map(|paths| {
        let (position, _) = paths.first()?.split_first()?;
        let field = fields.get(*position)?;
        let mut field_with_selected = NestedField { required: false, ..field.clone() };
        let below: Vec<&[usize]> = paths.iter().filter_map(|path| path.get(1..)).collect();
        // A sorted path comes before the paths below it.
        if below.first().is_some_and(|path| path.is_empty()) {
            return Some(field_with_selected);
        }
        let Type::Struct(inner) = &field.field_type else { return None };
        field_with_selected.field_type =
            Type::Struct(StructType { fields: fields_at(&inner.fields, &below) });
        Some(field_with_selected)
    });
    selected.collect()
}

/// Return the values at a path through structs; null where a struct on the path is null.
///
/// # Errors
/// `InvalidArgument` where the batch has no such path.
pub(crate) fn values_at(batch: &RecordBatch, path: &[usize]) -> Result<ArrayRef> {
    let absent =
        || FormatError::invalid("batch", format!("expected a column at {path:?}, got none"));
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

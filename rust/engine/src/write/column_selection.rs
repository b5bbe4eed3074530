//! Columns of a batch that a schema has, by name at every level of structs.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema as ArrowSchema, SchemaRef};
use icefloe_format::Error;
use icefloe_format::Result;
use icefloe_format::spec::{NestedField, Schema, Type};

/// Return the columns of `data` that `schema` has, in the order of `data`.
pub(super) fn selected_schema(data: &ArrowSchema, schema: &Schema) -> SchemaRef {
    Arc::new(ArrowSchema::new(selected_fields(data.fields(), schema.fields())))
}

/// Return the columns of a batch that `schema` has, in the order of the batch; the result has the schema that
/// [`selected_schema`] returns.
///
/// # Errors
/// `InvalidArgument` for a column that differs from its field, which cannot occur.
pub(super) fn selected_columns(batch: &RecordBatch, schema: &Schema) -> Result<RecordBatch> {
    let fields = selected_schema(batch.schema_ref(), schema);
    let columns = select(batch.schema_ref().fields(), batch.columns(), schema.fields())?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(fields, columns, &options)
        .map_err(|error| Error::invalid("data", error.to_string()))
}

fn find<'a>(fields: &'a [NestedField], name: &str) -> Option<&'a NestedField> {
    fields.iter().find(|field| field.name == name)
}

fn selected_fields(data: &Fields, wanted: &[NestedField]) -> Fields {
    let found = data.iter().filter_map(|field| {
        let wanted = find(wanted, field.name())?;
        Some(selected_field(field, wanted))
    });
    found.collect()
}

fn selected_field(field: &FieldRef, wanted: &NestedField) -> FieldRef {
    match (field.data_type(), &wanted.field_type) {
        (DataType::Struct(inner), Type::Struct(wanted)) => {
            let inner = DataType::Struct(selected_fields(inner, &wanted.fields));
            Arc::new(Field::new(field.name(), inner, field.is_nullable()))
        }
        _ => Arc::clone(field),
    }
}

fn select(data: &Fields, arrays: &[ArrayRef], wanted: &[NestedField]) -> Result<Vec<ArrayRef>> {
    let found = data.iter().zip(arrays).filter_map(|(field, array)| {
        let wanted = find(wanted, field.name())?;
        Some(select_array(field, array, wanted))
    });
    found.collect()
}

fn select_array(field: &FieldRef, array: &ArrayRef, wanted: &NestedField) -> Result<ArrayRef> {
    let (Some(found), Type::Struct(wanted)) = (array.as_struct_opt(), &wanted.field_type) else {
        return Ok(Arc::clone(array));
    };
    let DataType::Struct(fields) = field.data_type() else { return Ok(Arc::clone(array)) };
    let columns = select(fields, found.columns(), &wanted.fields)?;
    let fields = selected_fields(fields, &wanted.fields);
    let nulls = found.nulls().cloned();
    let made = if columns.is_empty() {
        Ok(StructArray::new_empty_fields(found.len(), nulls))
    } else {
        StructArray::try_new(fields, columns, nulls)
    };
    made.map(|made| Arc::new(made) as ArrayRef)
        .map_err(|error| Error::invalid("data", error.to_string()))
}

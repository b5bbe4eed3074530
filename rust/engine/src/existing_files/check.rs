//! Whether the columns of an existing file are columns of the table.

use icefloe_format::Error as FormatError;
use icefloe_format::spec::{NestedField, Schema, Type, sanitize_name};
use parquet::file::metadata::ParquetMetaData;

use super::metrics::null_count;
use crate::error::Result;
use crate::resolve::file_columns::{FileColumn, leaf_of};
use crate::table::TableContext;

/// Check that every column of a file, and every field of its structs, is a field of the table.
///
/// A field id belongs to the table's field only if the column also has a name that the field has, or had: ids that
/// another table assigned would otherwise assign columns to the wrong fields.
///
/// # Errors
/// `Mismatch` naming the column.
pub(super) fn check_columns(
    columns: &[FileColumn],
    context: &TableContext,
    has_ids: bool,
) -> Result<()> {
    columns.iter().try_for_each(|column| check_column(column, "", context, has_ids))
}

fn check_column(
    column: &FileColumn,
    parent: &str,
    context: &TableContext,
    has_ids: bool,
) -> Result<()> {
    let name = column.field.name();
    let path = if parent.is_empty() { name.clone() } else { format!("{parent}.{name}") };
    let Some(id) = column.id else {
        let (found, expected) = match has_ids {
            true => ("no field id", "field ids in all columns or in none".to_owned()),
            false => ("a column that the table's name mapping does not have", known(context)),
        };
        return Err(mismatch(path, found.to_owned(), expected));
    };
    let names = names_of(id, context);
    let is_mapped = || {
        let mapping = context.name_mapping.as_ref();
        parent.is_empty() && mapping.and_then(|it| it.get(name)).is_some_and(|it| it.id == Some(id))
    };
    if names.is_empty() {
        let found = format!("field id {id}, which no field of the table has");
        return Err(mismatch(path, found, known(context)));
    }
    if has_ids && !names.iter().any(|known| is_same(known, name)) && !is_mapped() {
        let found = format!("field id {id}, which is field {:?} of the table", names[0]);
        let expected = "the ids that the table assigned, or no ids: remove the ids from the file";
        return Err(mismatch(path, found, expected.to_owned()));
    }
    check_inside(column, &path, context, has_ids)
}

/// Check the fields of the structs within a column, at any depth of lists and maps.
fn check_inside(
    column: &FileColumn,
    path: &str,
    context: &TableContext,
    has_ids: bool,
) -> Result<()> {
    column.children.iter().try_for_each(|child| match column.field.data_type() {
        arrow_schema::DataType::Struct(_) => check_column(child, path, context, has_ids),
        // Writers use different names for elements, keys and values.
        _ => check_inside(child, path, context, has_ids),
    })
}

/// Return the names of a field in the table's schemas, the current one first.
fn names_of(id: i32, context: &TableContext) -> Vec<&str> {
    let fields = context.schemas.iter().filter_map(|schema| schema.field_by_id(id));
    fields.map(|field| field.name.as_str()).collect()
}

fn is_same(known: &str, name: &str) -> bool {
    known == name || sanitize_name(known) == name
}

fn known(context: &TableContext) -> String {
    let names: Vec<&str> = context.schema.fields().iter().map(|it| it.name.as_str()).collect();
    format!("only columns of the table ({})", names.join(", "))
}

/// Check that columns of required fields have no nulls, as far as footers say.
///
/// # Errors
/// `Mismatch` naming the column.
pub(super) fn check_required(
    footer: &ParquetMetaData,
    columns: &[FileColumn],
    schema: &Schema,
) -> Result<()> {
    schema.fields().iter().try_for_each(|field| check_field(footer, columns, field, ""))
}

fn check_field(
    footer: &ParquetMetaData,
    columns: &[FileColumn],
    field: &NestedField,
    parent: &str,
) -> Result<()> {
    if !field.required {
        return Ok(());
    }
    let path =
        if parent.is_empty() { field.name.clone() } else { format!("{parent}.{}", field.name) };
    if let Type::Struct(inner) = &field.field_type {
        return inner.fields.iter().try_for_each(|it| check_field(footer, columns, it, &path));
    }
    let Some(leaf) = leaf_of(columns, field.id) else { return Ok(()) };
    if !leaf.field.is_nullable() {
        return Ok(());
    }
    let found = match null_count(footer, leaf.leaves.start) {
        Some(0) => return Ok(()),
        Some(nulls) => format!("{nulls} nulls"),
        None => "an optional column without a null count in the footer".to_owned(),
    };
    Err(mismatch(path, found, format!("a required {}", field.field_type)))
}

fn mismatch(column: String, found: String, expected: String) -> crate::Error {
    FormatError::Mismatch { column, found, expected }.into()
}

//! Whether the columns of an existing file are columns of the table.

use std::collections::{HashMap, HashSet};

use icefloe_format::Error as FormatError;
use icefloe_format::spec::{Schema, sanitize_name};

use super::path_values::Directories;
use crate::error::Result;
use crate::resolve::file_columns::FileColumn;
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
    check_fields(columns, "", context, has_ids)
}

/// Check the columns of a file, or the fields of a struct.
fn check_fields(
    fields: &[FileColumn],
    parent: &str,
    context: &TableContext,
    has_ids: bool,
) -> Result<()> {
    check_distinct(fields, parent)?;
    fields.iter().try_for_each(|field| check_column(field, parent, context, has_ids))
}

/// Check that no two columns have one name or one field id: readers differ in which of the two they return.
fn check_distinct(fields: &[FileColumn], parent: &str) -> Result<()> {
    let mut names = HashSet::new();
    let mut ids = HashMap::new();
    for field in fields {
        let name = field.field.name();
        let path = path_of(name, parent);
        if !names.insert(name) {
            let found = "several; rewrite the file without the others";
            return Err(mismatch(path, found.to_owned(), "one column of this name".to_owned()));
        }
        let Some(id) = field.id else { continue };
        if let Some(other) = ids.insert(id, name) {
            let found = format!(
                "the one of column {}; rewrite the file without one of the two",
                path_of(other, parent)
            );
            let expected = format!("a field id of its own, not {id}");
            return Err(mismatch(path, found, expected));
        }
    }
    Ok(())
}

/// Check that no directory has the value of a column that the file lacks: a scan would read nulls.
///
/// Columns with `is_known` have the value of the partition.
///
/// # Errors
/// `Mismatch` naming the column and the directory.
pub(super) fn check_directories(
    directories: &Directories,
    columns: &[FileColumn],
    schema: &Schema,
    is_known: impl Fn(i32) -> bool,
) -> Result<()> {
    let is_absent = |id| columns.iter().all(|column| column.id != Some(id)) && !is_known(id);
    for field in schema.fields().iter().filter(|field| is_absent(field.id)) {
        if let Some(directory) = directories.not_null(&field.name, schema) {
            let found = format!(
                "its value in directory {directory} alone; partition the table by identity of the column, or write the column"
            );
            return Err(mismatch(field.name.clone(), found, "the column in the file".to_owned()));
        }
    }
    Ok(())
}

fn path_of(name: &str, parent: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

fn check_column(
    column: &FileColumn,
    parent: &str,
    context: &TableContext,
    has_ids: bool,
) -> Result<()> {
    let name = column.field.name();
    let path = path_of(name, parent);
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
    if let arrow_schema::DataType::Struct(_) = column.field.data_type() {
        return check_fields(&column.children, path, context, has_ids);
    }
    // Writers use different names for elements, keys and values.
    column.children.iter().try_for_each(|child| check_inside(child, path, context, has_ids))
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

fn mismatch(column: String, found: String, expected: String) -> crate::Error {
    FormatError::Mismatch { column, found, expected }.into()
}

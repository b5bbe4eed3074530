//! The columns of a file as a tree with field ids and leaf numbers.

use std::collections::BTreeSet;
use std::ops::Range;

use arrow_schema::{DataType, FieldRef, Fields, Schema};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use crate::table::NameMapping;

/// A node of a file's schema: a column, a struct's field, a list's element, a map's key or value.
#[derive(Debug, Clone)]
pub(crate) struct FileColumn {
    /// Field id, if the node has one.
    pub(crate) id: Option<i32>,
    /// The Arrow field by the file's own schema.
    pub(crate) field: FieldRef,
    /// Numbers of the Parquet leaf columns below, in file order.
    pub(crate) leaves: Range<usize>,
    /// A struct's fields, a list's element, a map's key and value.
    pub(crate) children: Vec<FileColumn>,
}

impl FileColumn {
    /// Add the fewest leaves from which the column can be decoded: one, or the first of both parts of a map.
    pub(crate) fn fewest_leaves(&self, leaves: &mut BTreeSet<usize>) {
        match (self.children.as_slice(), self.field.data_type()) {
            ([], _) => leaves.extend(self.leaves.clone().next()),
            (parts, DataType::Map(..)) => parts.iter().for_each(|part| part.fewest_leaves(leaves)),
            ([first, ..], _) => first.fewest_leaves(leaves),
        }
    }

    /// Return the element of a list, or the key and the value of a map. A part without a field id gets the id that the
    /// table has for its place: a repeated field that is itself the element has no field for the id.
    pub(crate) fn parts(&self, ids: &[i32]) -> Vec<Self> {
        let parts = self.children.iter().zip(ids);
        parts.map(|(part, id)| Self { id: part.id.or(Some(*id)), ..part.clone() }).collect()
    }
}

/// Return the columns of a file, with ids from the file if any node has one, else from the name mapping, else
/// (top-level columns only) from their position, as the Java reference does.
pub(crate) fn file_columns(schema: &Schema, mapping: Option<&NameMapping>) -> Vec<FileColumn> {
    let mut next_leaf = 0;
    let mut columns: Vec<_> =
        schema.fields().iter().map(|field| node(field, &mut next_leaf)).collect();
    if columns.iter().any(has_id) {
        return columns;
    }
    match mapping {
        Some(mapping) => {
            for column in &mut columns {
                let name = column.field.name().clone();
                map_names(column, &name, mapping);
            }
        }
        None => {
            for (column, id) in columns.iter_mut().zip(1..) {
                column.id = Some(id);
            }
        }
    }
    columns
}

fn node(field: &FieldRef, next_leaf: &mut usize) -> FileColumn {
    let first_leaf = *next_leaf;
    let children = match field.data_type() {
        DataType::Struct(fields) if !fields.is_empty() => nodes(fields, next_leaf),
        DataType::List(element) => vec![node(element, next_leaf)],
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => nodes(fields, next_leaf),
            _ => vec![],
        },
        _ => {
            *next_leaf += 1;
            vec![]
        }
    };
    let id = field.metadata().get(PARQUET_FIELD_ID_META_KEY).and_then(|text| text.parse().ok());
    FileColumn { id, field: field.clone(), leaves: first_leaf..*next_leaf, children }
}

fn nodes(fields: &Fields, next_leaf: &mut usize) -> Vec<FileColumn> {
    fields.iter().map(|field| node(field, next_leaf)).collect()
}

/// Return whether a node or one below it has a field id.
pub(crate) fn has_id(column: &FileColumn) -> bool {
    column.id.is_some() || column.children.iter().any(has_id)
}

fn map_names(column: &mut FileColumn, name: &str, mapping: &NameMapping) {
    let Some(mapped) = mapping.get(name) else { return };
    column.id = mapped.id;
    // Writers use different names for the repeated child; mappings use the names of the spec.
    let names: Vec<String> = match column.field.data_type() {
        DataType::List(_) => vec!["element".into()],
        DataType::Map(..) => vec!["key".into(), "value".into()],
        _ => column.children.iter().map(|child| child.field.name().clone()).collect(),
    };
    for (child, name) in column.children.iter_mut().zip(names) {
        map_names(child, &name, &mapped.children);
    }
}

/// Return the leaf column that holds the values of a field, reached through structs only.
pub(crate) fn leaf_of(columns: &[FileColumn], field_id: i32) -> Option<&FileColumn> {
    columns.iter().find_map(|column| {
        if column.id == Some(field_id) {
            return column.children.is_empty().then_some(column);
        }
        match column.field.data_type() {
            DataType::Struct(_) => leaf_of(&column.children, field_id),
            _ => None,
        }
    })
}

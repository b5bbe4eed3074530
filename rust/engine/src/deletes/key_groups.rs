//! Equality delete files whose keys form one set.

use std::collections::HashMap;
use std::ops::Range;

use icefloe_format::Error as FormatError;
use icefloe_format::spec::{NestedField, Schema, Type};

use super::delete_file::DeleteFile;
use super::load_once::LoadOnce;
use crate::error::Result;
use crate::resolve::key_set::KeySet;
use crate::resolve::prune::prune;
use crate::table::TableContext;

/// The equality delete files of one partition that compare the same fields; their keys form one set. Each file is
/// read and hashed once, whichever of them apply to which data file.
#[derive(Clone)]
pub(crate) struct KeyGroup {
    pub(crate) field_ids: Vec<i32>,
    /// Delete files that some task needs, by their indexes; the sources of the keys are numbered in this order.
    pub(crate) files: Vec<usize>,
    pub(crate) keys: LoadOnce<KeySet>,
}

/// Group the equality delete files among `ranges`; also return the group of each delete file.
pub(crate) fn key_groups<'a>(
    files: &[DeleteFile],
    ranges: impl Iterator<Item = &'a Range<usize>>,
) -> (Vec<KeyGroup>, Vec<Option<usize>>) {
    let mut needed = vec![false; files.len()];
    for range in ranges {
        needed.get_mut(range.clone()).unwrap_or_default().fill(true);
    }
    let mut known = HashMap::new();
    let mut groups: Vec<KeyGroup> = Vec::new();
    let members = files.iter().zip(needed).enumerate().map(|(index, (file, needed))| {
        if !file.holds_keys() || !needed {
            return None;
        }
        let mut field_ids = file.equality_ids.clone();
        field_ids.sort_unstable();
        field_ids.dedup();
        let at = *known.entry((field_ids.clone(), &file.scope)).or_insert(groups.len());
        if at == groups.len() {
            groups.push(KeyGroup { field_ids, files: vec![], keys: LoadOnce::default() });
        }
        groups.get_mut(at)?.files.push(index);
        Some(at)
    });
    let members = members.collect();
    (groups, members)
}

/// The key fields as a schema of their own, from any schema the table had: keys of dropped columns still delete.
///
/// # Errors
/// `InvalidArgument` for a field that no schema has as a primitive reached through structs.
pub(crate) fn key_schema(context: &TableContext, field_ids: &[i32]) -> Result<Schema> {
    let mut fields: Vec<NestedField> = Vec::new();
    for id in field_ids {
        let schema = context.schema_with_field(*id);
        let found = schema.filter(|schema| {
            schema.primitive_type(*id).is_some() && schema.position_path(*id).is_some()
        });
        let Some(schema) = found else {
            let reason = format!("expected ids of primitive columns, got {id}");
            return Err(FormatError::invalid("equality_ids", reason).into());
        };
        for field in prune(schema, &[*id]).fields().iter().cloned() {
            merge(&mut fields, field);
        }
    }
    Ok(Schema::new(0, fields, vec![]))
}

/// Add a field to the fields of a level; a struct that is there already gets the fields of the new one.
fn merge(fields: &mut Vec<NestedField>, field: NestedField) {
    let Some(known) = fields.iter_mut().find(|known| known.id == field.id) else {
        fields.push(field);
        return;
    };
    if let (Type::Struct(known), Type::Struct(new)) = (&mut known.field_type, field.field_type) {
        for field in new.fields {
            merge(&mut known.fields, field);
        }
    }
}

//! Equality delete files whose keys form one set.

use std::collections::HashMap;
use std::ops::Range;

use arrow_schema::DataType;
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{NestedField, Schema, StructType, Type, primitive_from_arrow};

use super::delete_file::DeleteFile;
use super::load_once::LoadOnce;
use crate::error::Result;
use crate::formats::data_format::DataFormat;
use crate::resolve::file_columns::{FileColumn, file_columns};
use crate::resolve::key_set::KeySet;
use crate::resolve::prune::prune;
use crate::resolve::request::FileRequest;
use crate::store::FileIo;
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

/// The key fields as a schema of their own, from any schema the table had: keys of dropped columns still delete. A field of
/// a schema that was removed from the metadata is as the first of `files` that has it stores it.
///
/// Fields that the current schema lacks get the widest type that theirs promotes to: other delete files and data files may
/// be older or newer than a promotion, and a key equals the same value of any of these types.
///
/// # Errors
/// `InvalidArgument` for a field that is no primitive reached through structs; errors of opening `files`.
pub(crate) fn key_schema<'a>(
    (io, context): (&FileIo, &TableContext),
    field_ids: &[i32],
    files: impl Iterator<Item = &'a DeleteFile> + Clone,
) -> Result<Schema> {
    let mut fields: Vec<NestedField> = Vec::new();
    for id in field_ids {
        let known = match context.schema_with_field(*id) {
            Some(schema) => known_field(schema, *id),
            None => {
                let mut stored = files.clone().map(|file| stored_field((io, context), file, *id));
                stored.find_map(Result::transpose).transpose()?
            }
        };
        let Some(mut field) = known else {
            let reason = format!("expected ids of primitive columns, got {id}");
            return Err(FormatError::invalid("equality_ids", reason).into());
        };
        if context.may_be_promoted(*id) {
            promote(&mut field);
        }
        merge(&mut fields, field);
    }
    Ok(Schema::new(0, fields, vec![]))
}

/// Promote the primitives of a field to their widest types.
fn promote(field: &mut NestedField) {
    match &mut field.field_type {
        // A default is a JSON value of the field's own type: 0.1 is another number as a double than as a float.
        Type::Primitive(primitive) if field.initial_default.is_none() => {
            *primitive = primitive.widest_promotion();
        }
        Type::Struct(fields) => fields.fields.iter_mut().for_each(promote),
        _ => {}
    }
}

/// Return the column of a schema that has a primitive field, without its other fields.
fn known_field(schema: &Schema, id: i32) -> Option<NestedField> {
    let is_key = schema.primitive_type(id).is_some() && schema.position_path(id).is_some();
    prune(schema, &[id]).fields().first().filter(|_| is_key).cloned()
}

/// Return the column of a delete file that has a primitive field, without its other fields.
///
/// # Errors
/// Errors of opening the file.
fn stored_field(
    (io, context): (&FileIo, &TableContext),
    file: &DeleteFile,
    id: i32,
) -> Result<Option<NestedField>> {
    let no_columns = Schema::default();
    let what = (file.location.as_str(), file.record_count);
    let request = FileRequest::whole((io, context), what, &no_columns);
    let format = DataFormat::of(&file.file_format, &file.location)?;
    let schema = format.schema(&request).map_err(|error| error.at(&file.location))?;
    let columns = file_columns(&schema, context.name_mapping.as_ref());
    Ok(columns.iter().find_map(|column| field_of(column, id)))
}

fn field_of(column: &FileColumn, id: i32) -> Option<NestedField> {
    let data_type = column.field.data_type();
    let field_type = match data_type {
        DataType::Struct(_) => {
            let inner = column.children.iter().find_map(|child| field_of(child, id))?;
            Type::Struct(StructType { fields: vec![inner] })
        }
        // Nulls without a type: another file states the type.
        DataType::Null => return None,
        _ if column.id == Some(id) => primitive_from_arrow(data_type)?.into(),
        _ => return None,
    };
    Some(NestedField::optional(column.id?, column.field.name().as_str(), field_type))
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

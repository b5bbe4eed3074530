//! Names of fields that differ in the table and are the same in a file.

use icefloe_format::spec::{StructType, Type, same_legal_name};
use icefloe_format::{Error, Result};

/// Refuse a struct with two fields whose legal names in Avro are the same: Avro libraries do not read such a schema.
///
/// # Errors
/// `Unsupported` with both names.
pub(super) fn check_unique_names(fields: &StructType) -> Result<()> {
    let names = fields.fields.iter().map(|field| field.name.as_str());
    if let Some((other, name, legal)) = same_legal_name(names) {
        return Err(Error::unsupported(format!(
            "writing columns {other} and {name} to one Avro file, where both have the name {legal},"
        )));
    }
    fields.fields.iter().try_for_each(|field| check_type(&field.field_type))
}

fn check_type(field_type: &Type) -> Result<()> {
    match field_type {
        Type::Primitive(_) => Ok(()),
        Type::Struct(fields) => check_unique_names(fields),
        Type::List(list) => check_type(&list.element),
        Type::Map(map) => check_type(&map.key).and_then(|()| check_type(&map.value)),
    }
}

//! The Arrow types of values without a special layout.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};

/// Return the type with dictionaries, views and 64-bit offsets replaced by values with 32-bit offsets, at every level.
pub(super) fn plain_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::List(element) | DataType::LargeList(element) => {
            DataType::List(plain_field(element))
        }
        DataType::Map(entries, ordered) => DataType::Map(plain_field(entries), *ordered),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain_field).collect()),
        other => other.clone(),
    }
}

fn plain_field(field: &FieldRef) -> FieldRef {
    let plain = plain_type(field.data_type());
    if plain == *field.data_type() {
        return Arc::clone(field);
    }
    Arc::new(Field::new(field.name(), plain, field.is_nullable()))
}

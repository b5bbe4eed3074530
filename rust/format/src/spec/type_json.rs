//! Types and fields as metadata JSON.

use serde_json::{Map, Value, json};

use super::json::JsonObject;
use super::types::{ListType, MapType, NestedField, StructType, Type};
use crate::error::{Error, Result};

/// The deepest nesting of types. The limit prevents a stack overflow.
pub const MAX_TYPE_DEPTH: usize = 64;

impl Type {
    /// Parse the `type` member of a field: the name of a primitive type or the object of a nested type.
    pub fn from_value(value: &Value) -> Result<Self> {
        parse_type(value, 0)
    }

    /// Return the `type` member of a field.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Primitive(primitive) => Value::String(primitive.to_string()),
            Self::Struct(fields) => fields.to_value(),
            Self::List(list) => json!({
                "type": "list",
                "element-id": list.element_id,
                "element": list.element.to_value(),
                "element-required": list.element_required,
            }),
            Self::Map(map) => json!({
                "type": "map",
                "key-id": map.key_id,
                "key": map.key.to_value(),
                "value-id": map.value_id,
                "value": map.value.to_value(),
                "value-required": map.value_required,
            }),
        }
    }
}

impl StructType {
    /// Parse an object with the member `fields`.
    pub fn from_value(value: &Value) -> Result<Self> {
        parse_struct(value, 0)
    }

    /// Return the object `{"type":"struct","fields":[..]}`.
    pub fn to_value(&self) -> Value {
        json!({"type": "struct", "fields": fields_to_value(&self.fields)})
    }
}

/// Return the array of fields of a struct or schema.
pub(crate) fn fields_to_value(fields: &[NestedField]) -> Value {
    Value::Array(fields.iter().map(field_to_value).collect())
}

fn field_to_value(field: &NestedField) -> Value {
    let mut members = Map::new();
    members.insert("id".into(), field.id.into());
    members.insert("name".into(), field.name.as_str().into());
    members.insert("required".into(), field.required.into());
    members.insert("type".into(), field.field_type.to_value());
    if let Some(doc) = &field.doc {
        members.insert("doc".into(), doc.as_str().into());
    }
    if let Some(default) = &field.initial_default {
        members.insert("initial-default".into(), default.clone());
    }
    if let Some(default) = &field.write_default {
        members.insert("write-default".into(), default.clone());
    }
    Value::Object(members)
}

fn parse_type(value: &Value, depth: usize) -> Result<Type> {
    if depth > MAX_TYPE_DEPTH {
        return Err(Error::invalid(
            "type",
            format!("is nested too deep; expected at most {MAX_TYPE_DEPTH} levels"),
        ));
    }
    if let Value::String(name) = value {
        return name.parse().map(Type::Primitive);
    }
    let object = JsonObject::new("type", value)?;
    match object.str("type")? {
        "struct" => parse_struct(value, depth).map(Type::Struct),
        "list" => parse_list(object, depth).map(Type::from),
        "map" => parse_map(object, depth).map(Type::from),
        other => Err(Error::invalid(
            "type",
            format!("is unknown; expected struct, list or map, got {other:?}"),
        )),
    }
}

fn parse_struct(value: &Value, depth: usize) -> Result<StructType> {
    let fields = JsonObject::new("struct", value)?.array("fields")?;
    let fields = fields.iter().map(|field| parse_field(field, depth + 1));
    Ok(StructType { fields: fields.collect::<Result<_>>()? })
}

fn parse_list(object: JsonObject<'_>, depth: usize) -> Result<ListType> {
    Ok(ListType {
        element_id: object.int("element-id")?,
        element_required: object.bool("element-required")?,
        element: parse_type(object.value("element")?, depth + 1)?,
    })
}

fn parse_map(object: JsonObject<'_>, depth: usize) -> Result<MapType> {
    Ok(MapType {
        key_id: object.int("key-id")?,
        key: parse_type(object.value("key")?, depth + 1)?,
        value_id: object.int("value-id")?,
        value_required: object.bool("value-required")?,
        value: parse_type(object.value("value")?, depth + 1)?,
    })
}

fn parse_field(value: &Value, depth: usize) -> Result<NestedField> {
    let object = JsonObject::new("field", value)?;
    let doc = match object.get("doc") {
        Some(_) => Some(object.str("doc")?.to_owned()),
        None => None,
    };
    Ok(NestedField {
        id: object.int("id")?,
        name: object.str("name")?.to_owned(),
        required: object.bool("required")?,
        field_type: parse_type(object.value("type")?, depth)?,
        doc,
        initial_default: object.get("initial-default").cloned(),
        write_default: object.get("write-default").cloned(),
    })
}

//! Field ids by column name, for files without field ids. Spec: Column Projection, Name Mapping.

use std::collections::HashMap;

use icefloe_format::Error as FormatError;
use icefloe_format::spec::{NestedField, Schema, Type};
use serde_json::Value;

use crate::error::Result;

/// The deepest nesting that is accepted.
const MAX_DEPTH: usize = 64;

/// The fields of one level, by any of their names.
#[derive(Debug, Clone, Default)]
pub struct NameMapping {
    by_name: HashMap<String, MappedField>,
}

/// The field that a name is mapped to.
#[derive(Debug, Clone)]
pub(crate) struct MappedField {
    /// The field id; `None` where only children are mapped.
    pub(crate) id: Option<i32>,
    /// The mapping of the children; empty for a leaf.
    pub(crate) children: NameMapping,
}

impl NameMapping {
    /// Read `[{"field-id": 1, "names": ["id"], "fields": [...]}, ...]`.
    ///
    /// # Errors
    /// `InvalidArgument` where the JSON has another shape.
    pub fn from_value(value: &Value) -> Result<Self> {
        level(value, 0)
    }

    /// Return the mapping of every field by its name in a schema.
    pub(crate) fn of_schema(schema: &Schema) -> Self {
        of_fields(schema.fields())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&MappedField> {
        self.by_name.get(name)
    }
}

fn of_fields(fields: &[NestedField]) -> NameMapping {
    let named = |field: &NestedField| {
        let children = of_type(&field.field_type);
        (field.name.clone(), MappedField { id: Some(field.id), children })
    };
    NameMapping { by_name: fields.iter().map(named).collect() }
}

fn of_type(field_type: &Type) -> NameMapping {
    let parts = match field_type {
        Type::Primitive(_) => vec![],
        Type::Struct(fields) => return of_fields(&fields.fields),
        Type::List(list) => vec![("element", list.element_id, &list.element)],
        Type::Map(map) => {
            vec![("key", map.key_id, &map.key), ("value", map.value_id, &map.value)]
        }
    };
    let named = parts.into_iter().map(|(name, id, part)| {
        (name.to_owned(), MappedField { id: Some(id), children: of_type(part) })
    });
    NameMapping { by_name: named.collect() }
}

fn level(value: &Value, depth: usize) -> Result<NameMapping> {
    if depth > MAX_DEPTH {
        return Err(invalid("expected at most 64 levels of nesting, got more"));
    }
    let fields = value.as_array().ok_or_else(|| invalid("expected a JSON array of fields"))?;
    let mut by_name = HashMap::new();
    for field in fields {
        let mapped = MappedField {
            id: field_id(field.get("field-id"))?,
            children: match field.get("fields") {
                None | Some(Value::Null) => NameMapping::default(),
                Some(children) => level(children, depth + 1)?,
            },
        };
        let names = field.get("names").and_then(Value::as_array);
        for name in names.ok_or_else(|| {
            invalid("expected a list `names` in every field, got a field without it")
        })? {
            let name = name
                .as_str()
                .ok_or_else(|| invalid("expected names that are strings, got another type"))?;
            by_name.insert(name.to_owned(), mapped.clone());
        }
    }
    Ok(NameMapping { by_name })
}

fn field_id(value: Option<&Value>) -> Result<Option<i32>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(id) => {
            let number = id.as_i64().and_then(|id| i32::try_from(id).ok());
            let reason = || format!("expected a field-id that is a 32-bit integer, got {id}");
            number.map(Some).ok_or_else(|| invalid(&reason()))
        }
    }
}

fn invalid(reason: &str) -> crate::Error {
    FormatError::invalid("name mapping", reason).into()
}

//! A table's schema and the ways to find a field in it.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::json::{self, JsonObject};
use super::type_json::fields_to_value;
use super::types::{NestedField, PrimitiveType, StructType, Type};
use crate::error::{Error, Result};

/// The columns of a table at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schema {
    /// Identifies the schema within its table.
    pub schema_id: i32,
    /// The columns in order.
    pub fields: Vec<NestedField>,
    /// Ids of the columns that together identify a row.
    pub identifier_field_ids: Vec<i32>,
}

impl Schema {
    /// Parses a schema object of metadata JSON.
    ///
    /// # Errors
    /// `InvalidArgument` where it is malformed, nests too deep, or holds an id or full name twice.
    ///
    /// ```
    /// use icefloe_format::spec::{PrimitiveType, Schema};
    /// let schema = Schema::from_json(
    ///     r#"{"type":"struct","fields":[{"id":1,"name":"id","required":true,"type":"long"}]}"#,
    /// )?;
    /// assert_eq!(schema.primitive_type(1), Some(PrimitiveType::Long));
    /// # Ok::<(), icefloe_format::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self> {
        Self::from_value(&json::parse("schema", text)?)
    }

    /// Parses a schema object; see [`Schema::from_json`].
    pub fn from_value(value: &Value) -> Result<Self> {
        let object = JsonObject::new("schema", value)?;
        let schema = Self {
            schema_id: object.optional_int("schema-id")?.unwrap_or(0),
            fields: StructType::from_value(value)?.fields,
            identifier_field_ids: object.ints("identifier-field-ids")?,
        };
        schema.check_unique()?;
        Ok(schema)
    }

    /// The schema object of metadata JSON, compact.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// The schema object of metadata JSON.
    pub fn to_value(&self) -> Value {
        let mut members = Map::new();
        members.insert("type".into(), "struct".into());
        members.insert("schema-id".into(), self.schema_id.into());
        if !self.identifier_field_ids.is_empty() {
            members.insert("identifier-field-ids".into(), self.identifier_field_ids.clone().into());
        }
        members.insert("fields".into(), fields_to_value(&self.fields));
        Value::Object(members)
    }

    /// The columns as a struct type.
    pub fn as_struct(&self) -> StructType {
        StructType { fields: self.fields.clone() }
    }

    /// The field with an id, at any depth below structs. Elements, keys and values of lists and maps
    /// are not fields of their own here: see [`Schema::type_of`].
    pub fn field_by_id(&self, id: i32) -> Option<&NestedField> {
        let mut found = None;
        self.visit(&mut |node| {
            if node.id == id {
                found = node.field;
            }
            node.id == id
        });
        found
    }

    /// The field with a full name: `a.b` of structs, `tags.element`, `m.key`, `m.value.x` through
    /// lists and maps. Of names that differ in case only, the first that matches.
    pub fn field_by_name(&self, name: &str, case_sensitive: bool) -> Option<&NestedField> {
        let mut found = None;
        self.visit(&mut |node| {
            if node.field.is_some() && node.is_named(name, case_sensitive) {
                found = node.field;
            }
            found.is_some()
        });
        found
    }

    /// The id with a full name, elements, keys and values included.
    pub fn id_by_name(&self, name: &str, case_sensitive: bool) -> Option<i32> {
        let mut found = None;
        self.visit(&mut |node| {
            if node.is_named(name, case_sensitive) {
                found = Some(node.id);
            }
            found.is_some()
        });
        found
    }

    /// The type that an id has, elements, keys and values included.
    pub fn type_of(&self, id: i32) -> Option<&Type> {
        let mut found = None;
        self.visit(&mut |node| {
            if node.id == id {
                found = Some(node.field_type);
            }
            found.is_some()
        });
        found
    }

    /// The primitive type that an id has, elements, keys and values included.
    pub fn primitive_type(&self, id: i32) -> Option<PrimitiveType> {
        self.type_of(id).and_then(Type::as_primitive)
    }

    /// The full name of an id, elements, keys and values included.
    pub fn full_name(&self, id: i32) -> Option<String> {
        let mut found = None;
        self.visit(&mut |node| {
            if node.id == id {
                found = Some(node.path.join("."));
            }
            found.is_some()
        });
        found
    }

    /// All full names in order of the fields, parents first.
    pub fn full_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.visit(&mut |node| {
            names.push(node.path.join("."));
            false
        });
        names
    }

    /// All ids that have a primitive type, in order of the fields.
    pub fn leaf_ids(&self) -> Vec<i32> {
        let mut ids = Vec::new();
        self.visit(&mut |node| {
            if node.field_type.as_primitive().is_some() {
                ids.push(node.id);
            }
            false
        });
        ids
    }

    /// Whether an id is inside a list or a map, so that a row may hold any number of its values.
    pub fn is_nested(&self, id: i32) -> bool {
        let mut nested = false;
        self.visit(&mut |node| {
            nested = node.id == id && node.repeated;
            node.id == id
        });
        nested
    }

    /// Positions that lead to an id through structs only; `None` where it is absent or inside a list
    /// or a map.
    pub fn position_path(&self, id: i32) -> Option<Vec<usize>> {
        fn find(fields: &[NestedField], id: i32, path: &mut Vec<usize>) -> bool {
            for (position, field) in fields.iter().enumerate() {
                path.push(position);
                let below = field.field_type.as_struct();
                if field.id == id || below.is_some_and(|inner| find(&inner.fields, id, path)) {
                    return true;
                }
                path.pop();
            }
            false
        }
        let mut path = Vec::new();
        find(&self.fields, id, &mut path).then_some(path)
    }

    /// The greatest id in the schema, 0 where it has no columns.
    pub fn highest_field_id(&self) -> i32 {
        let mut highest = 0;
        self.visit(&mut |node| {
            highest = highest.max(node.id);
            false
        });
        highest
    }

    fn check_unique(&self) -> Result<()> {
        let mut ids = HashSet::new();
        let mut names = HashSet::new();
        let mut problem = None;
        self.visit(&mut |node| {
            let name = node.path.join(".");
            if !ids.insert(node.id) {
                problem = Some(format!("the field id {} occurs twice, again at {name}", node.id));
            } else if !names.insert(name.clone()) {
                problem = Some(format!("the name {name} occurs twice"));
            }
            problem.is_some()
        });
        problem.map_or(Ok(()), |reason| Err(Error::invalid("schema", reason)))
    }

    /// Visits every id, parents first, until the visitor returns true.
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&Node<'a, '_>) -> bool) {
        let mut path = Vec::new();
        visit_fields(&self.fields, false, &mut path, visitor);
    }
}

/// A place in a schema that has an id.
struct Node<'a, 'p> {
    id: i32,
    field_type: &'a Type,
    /// Absent for the element, key or value of a list or map.
    field: Option<&'a NestedField>,
    path: &'p [&'a str],
    repeated: bool,
}

impl Node<'_, '_> {
    fn is_named(&self, name: &str, case_sensitive: bool) -> bool {
        let full = self.path.join(".");
        if case_sensitive { full == name } else { full.to_lowercase() == name.to_lowercase() }
    }
}

type Visitor<'v, 'a> = &'v mut dyn FnMut(&Node<'a, '_>) -> bool;

fn visit_fields<'a>(
    fields: &'a [NestedField],
    repeated: bool,
    path: &mut Vec<&'a str>,
    visitor: Visitor<'_, 'a>,
) -> bool {
    fields.iter().any(|field| {
        path.push(&field.name);
        let node = Node {
            id: field.id,
            field_type: &field.field_type,
            field: Some(field),
            path,
            repeated,
        };
        let done = visitor(&node) || visit_parts(&field.field_type, repeated, path, visitor);
        path.pop();
        done
    })
}

fn visit_parts<'a>(
    parent: &'a Type,
    repeated: bool,
    path: &mut Vec<&'a str>,
    visitor: Visitor<'_, 'a>,
) -> bool {
    match parent {
        Type::Primitive(_) => false,
        Type::Struct(inner) => visit_fields(&inner.fields, repeated, path, visitor),
        Type::List(list) => {
            visit_anonymous("element", list.element_id, &list.element, path, visitor)
        }
        Type::Map(map) => {
            visit_anonymous("key", map.key_id, &map.key, path, visitor)
                || visit_anonymous("value", map.value_id, &map.value, path, visitor)
        }
    }
}

fn visit_anonymous<'a>(
    name: &'static str,
    id: i32,
    field_type: &'a Type,
    path: &mut Vec<&'a str>,
    visitor: Visitor<'_, 'a>,
) -> bool {
    path.push(name);
    let node = Node { id, field_type, field: None, path, repeated: true };
    let done = visitor(&node) || visit_parts(field_type, true, path, visitor);
    path.pop();
    done
}

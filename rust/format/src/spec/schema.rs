//! Schemas and the lookup of their fields.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::json::{self, JsonObject};
use super::schema_index::{LazyIndex, Node, SchemaIndex};
use super::type_json::fields_to_value;
use super::types::{NestedField, PrimitiveType, StructType, Type};
use crate::error::{Error, Result};

/// A schema of a table.
///
/// Lookups by id and by full name use an index that the first lookup builds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schema {
    schema_id: i32,
    fields: Vec<NestedField>,
    identifier_field_ids: Vec<i32>,
    index: LazyIndex,
}

impl Schema {
    /// Create a schema of columns in order, with the ids of its identifier fields. Ids and names are not checked
    /// to be unique; lookups return the first match.
    pub fn new(schema_id: i32, fields: Vec<NestedField>, identifier_field_ids: Vec<i32>) -> Self {
        Self { schema_id, fields, identifier_field_ids, index: LazyIndex::default() }
    }

    /// Parse a schema object of metadata JSON.
    ///
    /// # Errors
    /// `InvalidArgument` where the object is malformed, nests too deep, or has a duplicate id or full name.
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

    /// Parse a schema object; see [`Schema::from_json`].
    pub fn from_value(value: &Value) -> Result<Self> {
        let object = JsonObject::new("schema", value)?;
        let schema = Self::new(
            object.optional_int("schema-id")?.unwrap_or(0),
            StructType::from_value(value)?.fields,
            object.ints("identifier-field-ids")?,
        );
        schema.check_unique()?;
        Ok(schema)
    }

    /// Return the schema object of metadata JSON as compact text.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// Return the schema object of metadata JSON.
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

    /// Return the id of the schema within its table.
    pub fn schema_id(&self) -> i32 {
        self.schema_id
    }

    /// Return the columns in order.
    pub fn fields(&self) -> &[NestedField] {
        &self.fields
    }

    /// Return the ids of the identifier fields, which together identify a row.
    pub fn identifier_field_ids(&self) -> &[i32] {
        &self.identifier_field_ids
    }

    /// Return the columns as a struct type.
    pub fn as_struct(&self) -> StructType {
        StructType { fields: self.fields.clone() }
    }

    /// Return the field with an id, at any depth. List elements, map keys and map values are not fields: see
    /// [`Schema::type_of`].
    pub fn field_by_id(&self, id: i32) -> Option<&NestedField> {
        self.node(id)?.field
    }

    /// Return the field with a full name: `a.b` in a struct, `m.value.x` in a map of structs. Without case
    /// sensitivity, the first match.
    pub fn field_by_name(&self, name: &str, case_sensitive: bool) -> Option<&NestedField> {
        let index = self.index();
        let node = index.field_named(&self.fields, name, case_sensitive)?;
        index.node(&self.fields, node)?.field
    }

    /// Return the id with a full name, including list elements, map keys and map values.
    pub fn id_by_name(&self, name: &str, case_sensitive: bool) -> Option<i32> {
        let index = self.index();
        let node = index.nodes_named(&self.fields, name, case_sensitive).first()?;
        index.nodes.get(*node).map(|node| node.id)
    }

    /// Return all full names that equal a name without regard to case, in order of the fields.
    pub fn names_like(&self, name: &str) -> Vec<String> {
        let index = self.index();
        let nodes = index.nodes_named(&self.fields, name, false).iter();
        nodes.filter_map(|node| index.full_name(&self.fields, *node)).collect()
    }

    /// Return the type of an id, including list elements, map keys and map values.
    pub fn type_of(&self, id: i32) -> Option<&Type> {
        self.node(id).map(|node| node.field_type)
    }

    /// Return the type of an id if it is primitive; see [`Schema::type_of`].
    pub fn primitive_type(&self, id: i32) -> Option<PrimitiveType> {
        self.type_of(id).and_then(Type::as_primitive)
    }

    /// Return the full name of an id, including list elements, map keys and map values.
    pub fn full_name(&self, id: i32) -> Option<String> {
        let index = self.index();
        index.full_name(&self.fields, index.index_of(id)?)
    }

    /// Return all full names in order of the fields, parents first.
    pub fn full_names(&self) -> Vec<String> {
        let index = self.index();
        let nodes = 0..index.nodes.len();
        nodes.filter_map(|node| index.full_name(&self.fields, node)).collect()
    }

    /// Return all ids of primitive types, in order of the fields.
    pub fn leaf_ids(&self) -> Vec<i32> {
        let nodes = self.index().nodes.iter().filter(|node| node.is_primitive);
        nodes.map(|node| node.id).collect()
    }

    /// Return whether an id is inside a list or a map.
    pub fn is_nested(&self, id: i32) -> bool {
        let index = self.index();
        let node = index.index_of(id).and_then(|node| index.nodes.get(node));
        node.is_some_and(|node| node.repeated)
    }

    /// Return the positions of an id and its parents within their structs, from the column on; `None` where the id
    /// is absent or inside a list or a map.
    pub fn position_path(&self, id: i32) -> Option<Vec<usize>> {
        let index = self.index();
        let node = index.index_of(id)?;
        let repeated = index.nodes.get(node)?.repeated;
        (!repeated).then(|| index.position_path(node))
    }

    /// Return the greatest id in the schema, or 0 if it has no columns.
    pub fn highest_field_id(&self) -> i32 {
        self.index().nodes.iter().fold(0, |highest, node| highest.max(node.id))
    }

    fn check_unique(&self) -> Result<()> {
        let mut ids = HashSet::new();
        let mut names = HashSet::new();
        for (node, name) in self.index().nodes.iter().zip(self.full_names()) {
            if !ids.insert(node.id) {
                let reason = format!("field id {} occurs twice, again at {name}", node.id);
                return Err(Error::invalid("schema", reason));
            }
            if names.contains(&name) {
                return Err(Error::invalid("schema", format!("column name {name} occurs twice")));
            }
            names.insert(name);
        }
        Ok(())
    }

    fn index(&self) -> &SchemaIndex {
        self.index.get_or_build(&self.fields)
    }

    fn node(&self, id: i32) -> Option<Node<'_>> {
        let index = self.index();
        index.node(&self.fields, index.index_of(id)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use super::super::schema_index::visits;
    use super::*;

    const COLUMNS: i32 = 500;

    fn wide() -> Schema {
        let column = |id| NestedField::optional(id, format!("c{id}"), PrimitiveType::Long);
        Schema::new(0, (1..=COLUMNS).map(column).collect(), vec![])
    }

    #[test]
    fn id_lookups_visit_each_field_a_constant_number_of_times() {
        let schema = wide();
        visits::taken();
        for id in 1..=COLUMNS {
            assert_eq!(schema.primitive_type(id), Some(PrimitiveType::Long));
            assert_eq!(schema.field_by_id(id).unwrap().id, id);
            assert_eq!(schema.position_path(id), Some(vec![id as usize - 1]));
            assert_eq!(schema.full_name(id).unwrap(), format!("c{id}"));
            assert!(!schema.is_nested(id));
        }
        assert_eq!(visits::taken(), 4 * COLUMNS as usize);
    }

    #[test]
    fn schema_equality_ignores_the_index() {
        let (used, unused) = (wide(), wide());
        assert_eq!(used.highest_field_id(), COLUMNS);
        assert_eq!(used, unused);
        visits::taken();
        assert_eq!(used.clone().highest_field_id(), COLUMNS);
        assert_eq!(visits::taken(), 0, "a clone shares the index");
    }
}

//! A table's schema and the ways to find a field in it.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::json::{self, JsonObject};
use super::schema_index::{LazyIndex, Node, SchemaIndex};
use super::type_json::fields_to_value;
use super::types::{NestedField, PrimitiveType, StructType, Type};
use crate::error::{Error, Result};

/// The columns of a table at one time.
///
/// Fields are found by id and by full name through an index that the first look-up builds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schema {
    schema_id: i32,
    fields: Vec<NestedField>,
    identifier_field_ids: Vec<i32>,
    index: LazyIndex,
}

impl Schema {
    /// Makes a schema of columns in order, with the ids of the columns that together identify a row.
    /// Ids and names are not checked to be unique; of equal ones, look-ups return the first.
    pub fn new(schema_id: i32, fields: Vec<NestedField>, identifier_field_ids: Vec<i32>) -> Self {
        Self { schema_id, fields, identifier_field_ids, index: LazyIndex::default() }
    }

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
        let schema = Self::new(
            object.optional_int("schema-id")?.unwrap_or(0),
            StructType::from_value(value)?.fields,
            object.ints("identifier-field-ids")?,
        );
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

    /// The id that identifies the schema within its table.
    pub fn schema_id(&self) -> i32 {
        self.schema_id
    }

    /// The columns in order.
    pub fn fields(&self) -> &[NestedField] {
        &self.fields
    }

    /// The ids of the columns that together identify a row.
    pub fn identifier_field_ids(&self) -> &[i32] {
        &self.identifier_field_ids
    }

    /// The columns as a struct type.
    pub fn as_struct(&self) -> StructType {
        StructType { fields: self.fields.clone() }
    }

    /// The field with an id, at any depth below structs. Elements, keys and values of lists and maps
    /// are not fields of their own here: see [`Schema::type_of`].
    pub fn field_by_id(&self, id: i32) -> Option<&NestedField> {
        self.node(id)?.field
    }

    /// The field with a full name: `a.b` of structs, `tags.element`, `m.key`, `m.value.x` through
    /// lists and maps. Of names that differ in case only, the first that matches.
    pub fn field_by_name(&self, name: &str, case_sensitive: bool) -> Option<&NestedField> {
        let index = self.index();
        let place = index.field_named(&self.fields, name, case_sensitive)?;
        index.node(&self.fields, place)?.field
    }

    /// The id with a full name, elements, keys and values included.
    pub fn id_by_name(&self, name: &str, case_sensitive: bool) -> Option<i32> {
        let index = self.index();
        let place = index.places_named(&self.fields, name, case_sensitive).first()?;
        index.places.get(*place).map(|place| place.id)
    }

    /// All full names that equal a name when case does not count, in order of the fields.
    pub fn names_like(&self, name: &str) -> Vec<String> {
        let index = self.index();
        let places = index.places_named(&self.fields, name, false).iter();
        places.filter_map(|place| index.full_name(&self.fields, *place)).collect()
    }

    /// The type that an id has, elements, keys and values included.
    pub fn type_of(&self, id: i32) -> Option<&Type> {
        self.node(id).map(|node| node.field_type)
    }

    /// The primitive type that an id has, elements, keys and values included.
    pub fn primitive_type(&self, id: i32) -> Option<PrimitiveType> {
        self.type_of(id).and_then(Type::as_primitive)
    }

    /// The full name of an id, elements, keys and values included.
    pub fn full_name(&self, id: i32) -> Option<String> {
        let index = self.index();
        index.full_name(&self.fields, index.place_of(id)?)
    }

    /// All full names in order of the fields, parents first.
    pub fn full_names(&self) -> Vec<String> {
        let index = self.index();
        let places = 0..index.places.len();
        places.filter_map(|place| index.full_name(&self.fields, place)).collect()
    }

    /// All ids that have a primitive type, in order of the fields.
    pub fn leaf_ids(&self) -> Vec<i32> {
        let places = self.index().places.iter().filter(|place| place.is_primitive);
        places.map(|place| place.id).collect()
    }

    /// Whether an id is inside a list or a map, so that a row may hold any number of its values.
    pub fn is_nested(&self, id: i32) -> bool {
        let index = self.index();
        let place = index.place_of(id).and_then(|place| index.places.get(place));
        place.is_some_and(|place| place.repeated)
    }

    /// Positions that lead to an id through structs only; `None` where it is absent or inside a list
    /// or a map.
    pub fn position_path(&self, id: i32) -> Option<Vec<usize>> {
        let index = self.index();
        let place = index.place_of(id)?;
        let repeated = index.places.get(place)?.repeated;
        (!repeated).then(|| index.position_path(place))
    }

    /// The greatest id in the schema, 0 where it has no columns.
    pub fn highest_field_id(&self) -> i32 {
        self.index().places.iter().fold(0, |highest, place| highest.max(place.id))
    }

    fn check_unique(&self) -> Result<()> {
        let mut ids = HashSet::new();
        let mut names = HashSet::new();
        for (place, name) in self.index().places.iter().zip(self.full_names()) {
            if !ids.insert(place.id) {
                let reason = format!("the field id {} occurs twice, again at {name}", place.id);
                return Err(Error::invalid("schema", reason));
            }
            if names.contains(&name) {
                return Err(Error::invalid("schema", format!("the name {name} occurs twice")));
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
        index.node(&self.fields, index.place_of(id)?)
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
    fn test_looking_up_every_id_visits_each_field_a_constant_number_of_times() {
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
    fn test_an_index_takes_no_part_in_comparing_schemas() {
        let (used, unused) = (wide(), wide());
        assert_eq!(used.highest_field_id(), COLUMNS);
        assert_eq!(used, unused);
        visits::taken();
        assert_eq!(used.clone().highest_field_id(), COLUMNS);
        assert_eq!(visits::taken(), 0, "a clone shares the index");
    }
}

//! The places of a schema's ids and full names, found without a walk of the schema.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::types::{NestedField, Type};

/// The index of one schema, built by the first look-up and shared by clones of the schema.
///
/// An index follows from the fields, so it takes no part in comparing or hashing a schema.
#[derive(Clone, Default)]
pub(super) struct LazyIndex(OnceLock<Arc<SchemaIndex>>);

impl LazyIndex {
    pub(super) fn get_or_build(&self, fields: &[NestedField]) -> &SchemaIndex {
        self.0.get_or_init(|| Arc::new(SchemaIndex::new(fields)))
    }
}

impl std::fmt::Debug for LazyIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LazyIndex")
    }
}

impl PartialEq for LazyIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LazyIndex {}

impl Hash for LazyIndex {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A node of a schema: a field, an element, a key or a value.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) name: &'a str,
    pub(super) field_type: &'a Type,
    /// Absent for the element, key or value of a list or map.
    pub(super) field: Option<&'a NestedField>,
}

/// A node's id and the way to it from its parent.
pub(super) struct Place {
    pub(super) id: i32,
    /// Absent for a column.
    parent: Option<usize>,
    /// The position among the parent's children; a map's key is at 0, its value at 1.
    position: usize,
    is_field: bool,
    pub(super) is_primitive: bool,
    /// Whether the node is inside a list or a map.
    pub(super) repeated: bool,
}

/// Places in the order of the fields, parents first, by id and by full name.
pub(super) struct SchemaIndex {
    pub(super) places: Vec<Place>,
    /// The first place of each id.
    by_id: HashMap<i32, usize>,
    names: OnceLock<Names>,
}

#[derive(Default)]
struct Names {
    exact: HashMap<String, Vec<usize>>,
    lowercase: HashMap<String, Vec<usize>>,
}

impl SchemaIndex {
    fn new(fields: &[NestedField]) -> Self {
        let (places, by_id, names) = (Vec::new(), HashMap::new(), OnceLock::new());
        let mut index = Self { places, by_id, names };
        index.add_fields(fields, None, false);
        index
    }

    /// The place of an id.
    pub(super) fn place_of(&self, id: i32) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// The places with a full name, in the order of the fields.
    pub(super) fn places_named(
        &self,
        fields: &[NestedField],
        name: &str,
        case_sensitive: bool,
    ) -> &[usize] {
        let names = self.names.get_or_init(|| self.names(fields));
        let found = match case_sensitive {
            true => names.exact.get(name),
            false => names.lowercase.get(&name.to_lowercase()),
        };
        found.map_or(&[], Vec::as_slice)
    }

    /// The first place with a full name that is a field.
    pub(super) fn field_named(
        &self,
        fields: &[NestedField],
        name: &str,
        case_sensitive: bool,
    ) -> Option<usize> {
        let mut places = self.places_named(fields, name, case_sensitive).iter().copied();
        places.find(|place| self.places.get(*place).is_some_and(|it| it.is_field))
    }

    /// The node at a place of the schema with these fields.
    pub(super) fn node<'a>(&self, fields: &'a [NestedField], place: usize) -> Option<Node<'a>> {
        let Place { parent, position, .. } = self.places.get(place)?;
        let Some(parent) = parent else { return fields.get(*position).map(of_field) };
        match (self.node(fields, *parent)?.field_type, position) {
            (Type::Struct(inner), position) => inner.fields.get(*position).map(of_field),
            (Type::List(list), 0) => Some(anonymous("element", &list.element)),
            (Type::Map(map), 0) => Some(anonymous("key", &map.key)),
            (Type::Map(map), 1) => Some(anonymous("value", &map.value)),
            _ => None,
        }
    }

    /// The full name of a place.
    pub(super) fn full_name(&self, fields: &[NestedField], place: usize) -> Option<String> {
        let mut names = Vec::new();
        for place in self.way_to(place) {
            names.push(self.node(fields, place)?.name);
        }
        Some(names.join("."))
    }

    /// The positions that lead from the columns to a place.
    pub(super) fn position_path(&self, place: usize) -> Vec<usize> {
        let places = self.way_to(place).into_iter().filter_map(|place| self.places.get(place));
        places.map(|place| place.position).collect()
    }

    /// The places from a column to a place below it.
    fn way_to(&self, place: usize) -> Vec<usize> {
        let parent = |place: &usize| self.places.get(*place).and_then(|place| place.parent);
        let mut way: Vec<usize> = std::iter::successors(Some(place), parent).collect();
        way.reverse();
        way
    }

    fn names(&self, fields: &[NestedField]) -> Names {
        let mut names = Names::default();
        for place in 0..self.places.len() {
            let Some(name) = self.full_name(fields, place) else { continue };
            names.lowercase.entry(name.to_lowercase()).or_default().push(place);
            names.exact.entry(name).or_default().push(place);
        }
        names
    }

    fn add_fields(&mut self, fields: &[NestedField], parent: Option<usize>, repeated: bool) {
        for (position, field) in fields.iter().enumerate() {
            let place = Place {
                id: field.id,
                parent,
                position,
                is_field: true,
                is_primitive: field.field_type.as_primitive().is_some(),
                repeated,
            };
            self.add(place, &field.field_type);
        }
    }

    fn add_part(&mut self, parent: usize, position: usize, (id, part): (i32, &Type)) {
        let is_primitive = part.as_primitive().is_some();
        let parent = Some(parent);
        let place = Place { id, parent, position, is_field: false, is_primitive, repeated: true };
        self.add(place, part);
    }

    fn add(&mut self, place: Place, field_type: &Type) {
        #[cfg(test)]
        visits::count();
        let (number, repeated) = (self.places.len(), place.repeated);
        self.by_id.entry(place.id).or_insert(number);
        self.places.push(place);
        match field_type {
            Type::Primitive(_) => {}
            Type::Struct(inner) => self.add_fields(&inner.fields, Some(number), repeated),
            Type::List(list) => self.add_part(number, 0, (list.element_id, &list.element)),
            Type::Map(map) => {
                self.add_part(number, 0, (map.key_id, &map.key));
                self.add_part(number, 1, (map.value_id, &map.value));
            }
        }
    }
}

fn of_field(field: &NestedField) -> Node<'_> {
    #[cfg(test)]
    visits::count();
    Node { name: &field.name, field_type: &field.field_type, field: Some(field) }
}

fn anonymous<'a>(name: &'static str, field_type: &'a Type) -> Node<'a> {
    #[cfg(test)]
    visits::count();
    Node { name, field_type, field: None }
}

/// The number of nodes that look-ups of this thread visited.
#[cfg(test)]
pub(crate) mod visits {
    use std::cell::Cell;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    pub(crate) fn taken() -> usize {
        COUNT.take()
    }
}

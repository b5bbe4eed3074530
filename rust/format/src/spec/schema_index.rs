//! An index of a schema's nodes by id and by full name.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::types::{NestedField, Type};

/// The index of one schema, built by the first lookup and shared by clones of the schema.
///
/// The index is derived from the fields: equality and hashing of schemas ignore it.
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
    /// `None` for a list element, map key or map value.
    pub(super) field: Option<&'a NestedField>,
}

/// A node's id and its position within its parent.
pub(super) struct NodeEntry {
    pub(super) id: i32,
    /// `None` for a column.
    parent: Option<usize>,
    /// The position among the parent's children; 0 for a map key, 1 for a map value.
    position: usize,
    is_field: bool,
    pub(super) is_primitive: bool,
    /// Whether the node is inside a list or a map.
    pub(super) repeated: bool,
}

/// The nodes in order of the fields, parents first, by id and by full name.
pub(super) struct SchemaIndex {
    pub(super) nodes: Vec<NodeEntry>,
    /// The first node of each id.
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
        let (nodes, by_id, names) = (Vec::new(), HashMap::new(), OnceLock::new());
        let mut index = Self { nodes, by_id, names };
        index.add_fields(fields, None, false);
        index
    }

    /// Return the index of the node with an id.
    pub(super) fn index_of(&self, id: i32) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Return the indices of the nodes with a full name, in order of the fields.
    pub(super) fn nodes_named(
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

    /// Return the index of the first field with a full name.
    pub(super) fn field_named(
        &self,
        fields: &[NestedField],
        name: &str,
        case_sensitive: bool,
    ) -> Option<usize> {
        let mut nodes = self.nodes_named(fields, name, case_sensitive).iter().copied();
        nodes.find(|index| self.nodes.get(*index).is_some_and(|it| it.is_field))
    }

    /// Return the node at an index. `fields` are the columns of the schema.
    pub(super) fn node<'a>(&self, fields: &'a [NestedField], index: usize) -> Option<Node<'a>> {
        let NodeEntry { parent, position, .. } = self.nodes.get(index)?;
        let Some(parent) = parent else { return fields.get(*position).map(field_node) };
        match (self.node(fields, *parent)?.field_type, position) {
            (Type::Struct(inner), position) => inner.fields.get(*position).map(field_node),
            (Type::List(list), 0) => Some(anonymous("element", &list.element)),
            (Type::Map(map), 0) => Some(anonymous("key", &map.key)),
            (Type::Map(map), 1) => Some(anonymous("value", &map.value)),
            _ => None,
        }
    }

    /// Return the full name of a node.
    pub(super) fn full_name(&self, fields: &[NestedField], index: usize) -> Option<String> {
        let mut names = Vec::new();
        for index in self.ancestors(index) {
            names.push(self.node(fields, index)?.name);
        }
        Some(names.join("."))
    }

    /// Return the positions of a node and its parents, from the column on.
    pub(super) fn position_path(&self, index: usize) -> Vec<usize> {
        let nodes = self.ancestors(index).into_iter().filter_map(|index| self.nodes.get(index));
        nodes.map(|index| index.position).collect()
    }

    /// Return the indices of a node and its parents, from the column on.
    fn ancestors(&self, index: usize) -> Vec<usize> {
        let parent = |index: &usize| self.nodes.get(*index).and_then(|index| index.parent);
        let mut way: Vec<usize> = std::iter::successors(Some(index), parent).collect();
        way.reverse();
        way
    }

    fn names(&self, fields: &[NestedField]) -> Names {
        let mut names = Names::default();
        for index in 0..self.nodes.len() {
            let Some(name) = self.full_name(fields, index) else { continue };
            names.lowercase.entry(name.to_lowercase()).or_default().push(index);
            names.exact.entry(name).or_default().push(index);
        }
        names
    }

    fn add_fields(&mut self, fields: &[NestedField], parent: Option<usize>, repeated: bool) {
        for (position, field) in fields.iter().enumerate() {
            let index = NodeEntry {
                id: field.id,
                parent,
                position,
                is_field: true,
                is_primitive: field.field_type.as_primitive().is_some(),
                repeated,
            };
            self.add(index, &field.field_type);
        }
    }

    fn add_part(&mut self, parent: usize, position: usize, (id, part): (i32, &Type)) {
        let is_primitive = part.as_primitive().is_some();
        let parent = Some(parent);
        let index =
            NodeEntry { id, parent, position, is_field: false, is_primitive, repeated: true };
        self.add(index, part);
    }

    fn add(&mut self, index: NodeEntry, field_type: &Type) {
        #[cfg(test)]
        visits::count();
        let (number, repeated) = (self.nodes.len(), index.repeated);
        self.by_id.entry(index.id).or_insert(number);
        self.nodes.push(index);
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

fn field_node(field: &NestedField) -> Node<'_> {
    #[cfg(test)]
    visits::count();
    Node { name: &field.name, field_type: &field.field_type, field: Some(field) }
}

fn anonymous<'a>(name: &'static str, field_type: &'a Type) -> Node<'a> {
    #[cfg(test)]
    visits::count();
    Node { name, field_type, field: None }
}

/// The number of nodes that lookups of this thread visited.
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

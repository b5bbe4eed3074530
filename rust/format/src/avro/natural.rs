//! What a data file holds by its own schema: as Arrow columns, and as the columns of a selection of leaves.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};

use super::presence::Presence;
use super::schema::{AvroType, Kind, Record};
use crate::spec::arrow_schema::primitive_to_arrow;
use crate::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use crate::{Error, Result};

/// Where an Arrow field carries its field id.
const FIELD_ID: &str = "PARQUET:field_id";

/// The Arrow schema that a writer's record suggests, with its field ids. A type that no column can be made
/// of is `Null` there.
///
/// # Errors
/// [`Error::Corrupt`] where the schema is no record.
pub fn arrow_schema(written: &AvroType) -> Result<Schema> {
    Ok(Schema::new(fields(root(written)?)))
}

/// The columns of some leaves of a record whose fields are numbered, by their numbers and all optional.
///
/// Leaves are counted depth first, in the writer's order (of a map, the key first): whatever is no list, no
/// map and no struct that has fields.
///
/// # Errors
/// As for [`arrow_schema`].
pub fn columns_of(numbered: &AvroType, leaves: &BTreeSet<usize>) -> Result<StructType> {
    Ok(Selected { leaves, next: 0 }.record(root(numbered)?))
}

fn root(written: &AvroType) -> Result<&Record> {
    written.as_record().ok_or_else(|| Error::corrupt("Avro schema", "a file's schema is no record"))
}

/// What is written where a value is there; `None` for null and for unions that are not of null and one type.
fn value_of(written: &AvroType) -> Option<&AvroType> {
    Presence::of(written).ok().and_then(|(_, value)| value)
}

/// A type as far as its shape goes.
enum Shape<'a> {
    Leaf(PrimitiveType),
    Struct(&'a Record),
    List(&'a AvroType, Option<i32>),
    Map(MapParts<'a>),
}

struct MapParts<'a> {
    /// `None` for the strings that an Avro map has.
    key: Option<&'a AvroType>,
    value: &'a AvroType,
    ids: [Option<i32>; 2],
    /// Numbers of key and value in the record of an entry.
    numbers: [i32; 2],
}

impl<'a> Shape<'a> {
    fn of(written: &'a AvroType) -> Self {
        let Some(value) = value_of(written) else { return Self::Leaf(PrimitiveType::Unknown) };
        match &value.kind {
            Kind::Record(record) => Self::Struct(record),
            Kind::Array { items, element_id } => {
                let is_map = value.logical == Some(super::Logical::Map) || is_entry(items);
                let parts = if is_map { MapParts::of_entries(items) } else { None };
                parts.map_or(Self::List(items, *element_id), Self::Map)
            }
            Kind::Map { values, key_id, value_id } => Self::Map(MapParts {
                key: None,
                value: values,
                ids: [*key_id, *value_id],
                numbers: [0, 1],
            }),
            _ => Self::Leaf(value.primitive_type().unwrap_or(PrimitiveType::Unknown)),
        }
    }
}

/// Whether a record is named as Iceberg names a map's entries, `k<key id>_v<value id>`: some Avro libraries
/// lose the mark of the array.
fn is_entry(items: &AvroType) -> bool {
    let name = items.as_record().map_or("", |record| &record.name);
    let ids = name.strip_prefix('k').and_then(|ids| ids.split_once("_v"));
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    ids.is_some_and(|(key, value)| number(key) && number(value))
}

impl<'a> MapParts<'a> {
    fn of_entries(items: &'a AvroType) -> Option<Self> {
        let [first, second] = items.as_record()?.fields.as_slice() else { return None };
        let swapped = first.name == "value" && second.name == "key";
        let (key, value) = if swapped { (second, first) } else { (first, second) };
        Some(Self {
            key: Some(&key.field_type),
            value: &value.field_type,
            ids: [key.field_id, value.field_id],
            numbers: if swapped { [1, 0] } else { [0, 1] },
        })
    }
}

fn fields(record: &Record) -> Fields {
    let field = |field: &super::RecordField| named(&field.name, field.field_id, &field.field_type);
    record.fields.iter().map(field).collect()
}

fn named(name: &str, id: Option<i32>, written: &AvroType) -> FieldRef {
    with_id(Field::new(name, data_type(written), true), id)
}

fn with_id(field: Field, id: Option<i32>) -> FieldRef {
    let metadata = id.map(|id| (FIELD_ID.to_owned(), id.to_string()));
    Arc::new(field.with_metadata(HashMap::from_iter(metadata)))
}

fn data_type(written: &AvroType) -> DataType {
    match Shape::of(written) {
        Shape::Leaf(primitive) => primitive_to_arrow(&primitive),
        Shape::Struct(record) => DataType::Struct(fields(record)),
        Shape::List(items, id) => DataType::List(named("element", id, items)),
        Shape::Map(parts) => {
            let key = parts.key.map_or(DataType::Utf8, data_type);
            let [key_id, value_id] = parts.ids;
            let key = with_id(Field::new("key", key, false), key_id);
            let entries = DataType::Struct([key, named("value", value_id, parts.value)].into());
            DataType::Map(Arc::new(Field::new("key_value", entries, false)), false)
        }
    }
}

struct Selected<'a> {
    leaves: &'a BTreeSet<usize>,
    next: usize,
}

impl Selected<'_> {
    fn record(&mut self, record: &Record) -> StructType {
        let fields = record.fields.iter().filter_map(|field| {
            let kept = self.kept(&field.field_type)?;
            Some(NestedField::optional(field.field_id?, &field.name, kept))
        });
        StructType { fields: fields.collect() }
    }

    /// The selected part of a type; `None` if it has none.
    fn kept(&mut self, written: &AvroType) -> Option<Type> {
        let first = self.next;
        let kept = self.part(written);
        self.leaves.range(first..self.next).next().map(|_| kept)
    }

    fn part(&mut self, written: &AvroType) -> Type {
        match Shape::of(written) {
            Shape::Leaf(primitive) => {
                self.next += 1;
                Type::Primitive(primitive)
            }
            Shape::Struct(record) => {
                self.next += usize::from(record.fields.is_empty());
                Type::Struct(self.record(record))
            }
            Shape::List(items, _) => {
                let element = self.part(items);
                Type::List(Box::new(ListType { element_id: 0, element_required: false, element }))
            }
            Shape::Map(parts) => {
                let key = parts.key.map(|key| self.part(key));
                let key = key.unwrap_or_else(|| {
                    self.next += 1;
                    Type::Primitive(PrimitiveType::String)
                });
                let value = self.part(parts.value);
                let [key_id, value_id] = parts.numbers;
                let map = MapType { key_id, key, value_id, value_required: false, value };
                Type::Map(Box::new(map))
            }
        }
    }
}

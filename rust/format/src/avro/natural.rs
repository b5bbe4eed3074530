//! The columns of a data file by its own Avro schema: as Arrow fields, and as a selection of leaves.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};

use super::presence::Presence;
use super::schema::{AvroType, Kind, Record};
use crate::spec::arrow_schema::primitive_to_arrow;
use crate::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use crate::{Error, Result};

/// Key of the field id in the metadata of an Arrow field.
const FIELD_ID: &str = "PARQUET:field_id";

/// A predicate on the lengths of `fixed` columns of the table, which files may use beyond the greatest length that a file
/// alone may state.
pub type TableFixed<'a> = &'a dyn Fn(u32) -> bool;

/// Return the Arrow schema of a writer's record, with field ids. Types that cannot be decoded are null.
///
/// # Errors
/// [`Error::Corrupt`] where the schema is not a record.
pub fn arrow_schema(written: &AvroType, table_fixed: TableFixed<'_>) -> Result<Schema> {
    Ok(Schema::new(fields(root(written)?, table_fixed)))
}

/// Return the columns that contain some leaves of a record with numbered fields; all are optional.
///
/// Leaves are numbered depth first in the writer's order, with a map's key first. A leaf is any type other than a list,
/// a map and a struct with fields.
///
/// # Errors
/// As for [`arrow_schema`].
pub fn columns_of(
    numbered: &AvroType,
    leaves: &BTreeSet<usize>,
    table_fixed: TableFixed<'_>,
) -> Result<StructType> {
    Ok(Selected { leaves, next: 0, table_fixed }.record(root(numbered)?))
}

/// Return the dotted name of the first column of a record whose type no scan decodes, such as a union of several types. Arrow
/// has nulls in its place.
pub fn undecodable(written: &AvroType, table_fixed: TableFixed<'_>) -> Option<String> {
    let inside = |name: &str, inner: &AvroType| {
        undecodable(inner, table_fixed).map(|path| match path.as_str() {
            "" => name.to_owned(),
            path => format!("{name}.{path}"),
        })
    };
    match Shape::of(written, table_fixed) {
        Shape::Leaf(PrimitiveType::Unknown) => (!is_never(written)).then(String::new),
        Shape::Leaf(_) => None,
        Shape::Struct(record) => {
            record.fields.iter().find_map(|field| inside(&field.name, &field.field_type))
        }
        Shape::List(items, _) => inside("element", items),
        Shape::Map(parts) => {
            let key = parts.key.and_then(|key| inside("key", key));
            key.or_else(|| inside("value", parts.value))
        }
    }
}

fn root(written: &AvroType) -> Result<&Record> {
    written.as_record().ok_or_else(|| {
        Error::corrupt(
            "Avro schema",
            "the schema of the file is of another type; expected a record",
        )
    })
}

/// Return the type of present values; `None` for null and for unions other than of null and one type.
fn value_of(written: &AvroType) -> Option<&AvroType> {
    Presence::of(written).ok().and_then(|(_, value)| value)
}

/// Return whether a type has no value other than null.
fn is_never(written: &AvroType) -> bool {
    matches!(Presence::of(written), Ok((_, None)))
}

/// The shape of a type.
enum Shape<'a> {
    Leaf(PrimitiveType),
    Struct(&'a Record),
    List(&'a AvroType, Option<i32>),
    Map(MapParts<'a>),
}

struct MapParts<'a> {
    /// `None` for the string keys of an Avro map.
    key: Option<&'a AvroType>,
    value: &'a AvroType,
    ids: [Option<i32>; 2],
    /// Numbers of key and value in the record of an entry.
    numbers: [i32; 2],
}

impl<'a> Shape<'a> {
    fn of(written: &'a AvroType, table_fixed: TableFixed<'_>) -> Self {
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
            _ => Self::Leaf(value.primitive_type_in(table_fixed).unwrap_or(PrimitiveType::Unknown)),
        }
    }
}

/// Return whether a record has the name of Iceberg's map entries, `k<key id>_v<value id>`: some Avro libraries drop the
/// logical type of the array.
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

fn fields(record: &Record, table_fixed: TableFixed<'_>) -> Fields {
    let field = |field: &super::RecordField| {
        named(&field.name, field.field_id, &field.field_type, table_fixed)
    };
    record.fields.iter().map(field).collect()
}

fn named(name: &str, id: Option<i32>, written: &AvroType, table_fixed: TableFixed<'_>) -> FieldRef {
    with_id(Field::new(name, data_type(written, table_fixed), true), id)
}

fn with_id(field: Field, id: Option<i32>) -> FieldRef {
    let metadata = id.map(|id| (FIELD_ID.to_owned(), id.to_string()));
    Arc::new(field.with_metadata(HashMap::from_iter(metadata)))
}

fn data_type(written: &AvroType, table_fixed: TableFixed<'_>) -> DataType {
    match Shape::of(written, table_fixed) {
        Shape::Leaf(primitive) => primitive_to_arrow(&primitive),
        Shape::Struct(record) => DataType::Struct(fields(record, table_fixed)),
        Shape::List(items, id) => DataType::List(named("element", id, items, table_fixed)),
        Shape::Map(parts) => {
            let key = parts.key.map_or(DataType::Utf8, |key| data_type(key, table_fixed));
            let [key_id, value_id] = parts.ids;
            let key = with_id(Field::new("key", key, false), key_id);
            let value = named("value", value_id, parts.value, table_fixed);
            let entries = DataType::Struct([key, value].into());
            DataType::Map(Arc::new(Field::new("key_value", entries, false)), false)
        }
    }
}

struct Selected<'a> {
    leaves: &'a BTreeSet<usize>,
    next: usize,
    table_fixed: TableFixed<'a>,
}

impl Selected<'_> {
    fn record(&mut self, record: &Record) -> StructType {
        let fields = record.fields.iter().filter_map(|field| {
            let selected = self.selected(&field.field_type)?;
            Some(NestedField::optional(field.field_id?, &field.name, selected))
        });
        StructType { fields: fields.collect() }
    }

    /// Return the selected part of a type; `None` if no leaf is selected.
    fn selected(&mut self, written: &AvroType) -> Option<Type> {
        let first = self.next;
        let selected = self.part(written);
        self.leaves.range(first..self.next).next().map(|_| selected)
    }

    fn part(&mut self, written: &AvroType) -> Type {
        match Shape::of(written, self.table_fixed) {
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

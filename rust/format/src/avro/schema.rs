//! The writer's schema, parsed from its JSON.
//!
//! Tolerant where writers differ: ids as integers or numeric strings, unions in either order,
//! named types defined once and then referenced. Names of fields carry no meaning here.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

pub use super::logical::Logical;
use crate::{Error, Result};

/// Deeper than any table schema; bounds the recursion of everything that walks a schema.
const MAX_DEPTH: usize = 64;
/// References let a short schema stand for an exponentially large tree; this bounds the tree.
const MAX_NODES: usize = 1 << 20;
/// Types without any bytes cost time all the same; this bounds what a byte of data can cost.
const MAX_WEIGHTLESS: usize = 1 << 10;

/// One node of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvroType {
    /// What is encoded.
    pub kind: Kind,
    /// What the encoded value means, where that differs.
    pub logical: Option<Logical>,
    min_bytes: usize,
    nodes: usize,
    weightless: usize,
    height: usize,
}

/// The encodings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Nothing at all.
    Null,
    /// One byte, 0 or 1.
    Boolean,
    /// A zigzag varint of 32 bits.
    Int,
    /// A zigzag varint of 64 bits.
    Long,
    /// Four bytes, little-endian.
    Float,
    /// Eight bytes, little-endian.
    Double,
    /// A length, then bytes.
    Bytes,
    /// A length, then UTF-8.
    String,
    /// As many bytes as said here.
    Fixed(usize),
    /// The index of a symbol.
    Enum(Arc<[String]>),
    /// Blocks of items; `element_id` is the list's element field id.
    Array {
        /// The items' type.
        items: Arc<AvroType>,
        /// The `element-id` property.
        element_id: Option<i32>,
    },
    /// Blocks of string keys and values.
    Map {
        /// The values' type.
        values: Arc<AvroType>,
        /// The `key-id` property.
        key_id: Option<i32>,
        /// The `value-id` property.
        value_id: Option<i32>,
    },
    /// The index of a branch, then its value.
    Union(Arc<[AvroType]>),
    /// Fields one after another.
    Record(Arc<Record>),
}

/// A record's fields in encoding order.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// The full name.
    pub name: String,
    /// The fields.
    pub fields: Vec<RecordField>,
}

/// A field of a record.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordField {
    /// The name, as far as the writer's sanitising left it.
    pub name: String,
    /// The `field-id` property.
    pub field_id: Option<i32>,
    /// The type.
    pub field_type: AvroType,
}

impl fmt::Display for Kind {
    /// The name alone: what a type holds may be of any size.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bytes => "bytes",
            Self::String => "string",
            Self::Fixed(size) => return write!(f, "fixed({size})"),
            Self::Enum(_) => "enum",
            Self::Array { .. } => "array",
            Self::Map { .. } => "map",
            Self::Union(_) => "union",
            Self::Record(_) => "record",
        })
    }
}

impl AvroType {
    /// Parse a schema.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the text is no Avro schema, or one that is recursive or absurdly large.
    pub fn parse(json: &str) -> Result<Self> {
        Self::parse_with(json, false)
    }

    /// Parse a schema, the fields of each record numbered from 0 on in place of their ids: what a file
    /// holds can be told apart by these though it carries no ids.
    ///
    /// # Errors
    /// As for [`AvroType::parse`].
    pub fn parse_numbered(json: &str) -> Result<Self> {
        Self::parse_with(json, true)
    }

    fn parse_with(json: &str, numbered: bool) -> Result<Self> {
        let value: Value =
            serde_json::from_str(json).map_err(|error| corrupt(error.to_string()))?;
        Parser { named: HashMap::new(), numbered }.parse(&value, "", 0)
    }

    /// The fewest bytes that a value of this type occupies.
    pub fn min_bytes(&self) -> usize {
        self.min_bytes
    }

    /// The record, if this is one.
    pub fn as_record(&self) -> Option<&Record> {
        match &self.kind {
            Kind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// The type of a map's keys.
    pub(super) fn string() -> Result<Self> {
        Self::new(Kind::String, None)
    }

    fn new(kind: Kind, logical: Option<Logical>) -> Result<Self> {
        let children: Vec<&AvroType> = match &kind {
            Kind::Array { items, .. } => vec![items],
            Kind::Map { values, .. } => vec![values],
            Kind::Union(branches) => branches.iter().collect(),
            Kind::Record(record) => record.fields.iter().map(|f| &f.field_type).collect(),
            _ => Vec::new(),
        };
        let min_bytes = match &kind {
            Kind::Null => 0,
            Kind::Float => 4,
            Kind::Double => 8,
            Kind::Fixed(size) => *size,
            Kind::Union(branches) => {
                let smallest = branches.iter().map(|b| b.min_bytes).min().unwrap_or(0);
                smallest.saturating_add(1)
            }
            Kind::Record(_) => total(children.iter().map(|child| child.min_bytes)),
            _ => 1,
        };
        let nodes = total(children.iter().map(|child| child.nodes)).saturating_add(1);
        let weightless = total(children.iter().map(|child| child.weightless));
        let weightless = weightless.saturating_add(usize::from(min_bytes == 0));
        let height = children.iter().map(|child| child.height).max().unwrap_or(0) + 1;
        if nodes > MAX_NODES || height > MAX_DEPTH {
            let limits = format!("it has over {MAX_NODES} types or {MAX_DEPTH} levels");
            return Err(corrupt(limits));
        }
        if weightless > MAX_WEIGHTLESS {
            return Err(corrupt(format!("it has over {MAX_WEIGHTLESS} types without any bytes")));
        }
        Ok(Self { kind, logical, min_bytes, nodes, weightless, height })
    }
}

struct Parser {
    // None marks a record whose definition is still open: a reference to it would be recursive.
    named: HashMap<String, Option<AvroType>>,
    numbered: bool,
}

impl Parser {
    fn parse(&mut self, value: &Value, namespace: &str, depth: usize) -> Result<AvroType> {
        if depth > MAX_DEPTH {
            return Err(corrupt(format!("it is nested deeper than {MAX_DEPTH}")));
        }
        match value {
            Value::String(name) => self.reference(name, namespace),
            Value::Array(branches) => {
                let branches = branches
                    .iter()
                    .map(|branch| self.parse(branch, namespace, depth + 1))
                    .collect::<Result<Vec<_>>>()?;
                AvroType::new(Kind::Union(branches.into()), None)
            }
            Value::Object(object) => self.object(object, namespace, depth),
            other => Err(corrupt(format!("{other} is no type"))),
        }
    }

    fn reference(&self, name: &str, namespace: &str) -> Result<AvroType> {
        if let Some(kind) = primitive(name) {
            return AvroType::new(kind, None);
        }
        let known = self.named.get(&full_name(name, namespace)).or_else(|| self.named.get(name));
        match known {
            Some(Some(found)) => Ok(found.clone()),
            Some(None) => Err(Error::unsupported(format!("recursive Avro type {name}"))),
            None => Err(corrupt(format!("the type {name} is not defined"))),
        }
    }

    fn object(&mut self, object: &Map<String, Value>, ns: &str, depth: usize) -> Result<AvroType> {
        let Some(Value::String(name)) = object.get("type") else {
            // {"type": {"type": ...}} nests a definition without adding to it.
            let inner = object.get("type").ok_or_else(|| corrupt("a type without \"type\""))?;
            return self.parse(inner, ns, depth + 1);
        };
        match name.as_str() {
            "record" | "error" => self.record(object, ns, depth),
            "fixed" => {
                let size = object.get("size").and_then(Value::as_u64);
                let size = size.and_then(|size| usize::try_from(size).ok());
                let size = size.ok_or_else(|| corrupt("a fixed type without a size"))?;
                self.define(object, ns, annotated(Kind::Fixed(size), object)?)
            }
            "enum" => {
                let symbols = object.get("symbols").and_then(Value::as_array);
                let symbols = symbols.into_iter().flatten().filter_map(Value::as_str);
                let symbols = symbols.map(str::to_owned).collect();
                self.define(object, ns, annotated(Kind::Enum(symbols), object)?)
            }
            "array" => {
                let items = self.child(object, "items", ns, depth)?;
                let element_id = id(object, "element-id")?;
                annotated(Kind::Array { items: Arc::new(items), element_id }, object)
            }
            "map" => {
                let values = Arc::new(self.child(object, "values", ns, depth)?);
                let (key_id, value_id) = (id(object, "key-id")?, id(object, "value-id")?);
                annotated(Kind::Map { values, key_id, value_id }, object)
            }
            other => match primitive(other) {
                Some(kind) => annotated(kind, object),
                None => self.reference(other, ns),
            },
        }
    }

    fn record(&mut self, object: &Map<String, Value>, ns: &str, depth: usize) -> Result<AvroType> {
        let (name, namespace) = definition_name(object, ns)?;
        self.named.insert(name.clone(), None);
        let Some(Value::Array(list)) = object.get("fields") else {
            return Err(corrupt(format!("the record {name} has no fields")));
        };
        let mut fields = Vec::with_capacity(list.len());
        for (field, number) in list.iter().zip(0..) {
            let Value::Object(field) = field else {
                return Err(corrupt(format!("{field} is no field")));
            };
            let field_type = self.child(field, "type", &namespace, depth)?;
            let field_name = field.get("name").and_then(Value::as_str).unwrap_or_default();
            let field_id = if self.numbered { Some(number) } else { id(field, "field-id")? };
            fields.push(RecordField { name: field_name.to_owned(), field_id, field_type });
        }
        let record = Arc::new(Record { name: name.clone(), fields });
        let parsed = AvroType::new(Kind::Record(record), None)?;
        self.named.insert(name, Some(parsed.clone()));
        Ok(parsed)
    }

    fn define(
        &mut self,
        object: &Map<String, Value>,
        ns: &str,
        defined: AvroType,
    ) -> Result<AvroType> {
        let (name, _) = definition_name(object, ns)?;
        self.named.insert(name, Some(defined.clone()));
        Ok(defined)
    }

    fn child(
        &mut self,
        object: &Map<String, Value>,
        key: &str,
        ns: &str,
        depth: usize,
    ) -> Result<AvroType> {
        let child = object.get(key).ok_or_else(|| corrupt(format!("a type without {key:?}")))?;
        self.parse(child, ns, depth + 1)
    }
}

fn annotated(kind: Kind, object: &Map<String, Value>) -> Result<AvroType> {
    let logical = Logical::of(object, &kind);
    AvroType::new(kind, logical)
}

fn primitive(name: &str) -> Option<Kind> {
    Some(match name {
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "int" => Kind::Int,
        "long" => Kind::Long,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "bytes" => Kind::Bytes,
        "string" => Kind::String,
        _ => return None,
    })
}

fn id(object: &Map<String, Value>, key: &str) -> Result<Option<i32>> {
    let id = match object.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(id)) => id.trim().parse().ok(),
        Some(value) => value.as_i64().and_then(|id| i32::try_from(id).ok()),
    };
    id.map(Some).ok_or_else(|| corrupt(format!("{key} is no integer")))
}

fn definition_name(object: &Map<String, Value>, ns: &str) -> Result<(String, String)> {
    let name = object.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| corrupt("a named type without a name"))?;
    let own = object.get("namespace").and_then(Value::as_str).unwrap_or(ns);
    let full = full_name(name, own);
    let namespace = full.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_owned();
    Ok((full, namespace))
}

fn full_name(name: &str, ns: &str) -> String {
    if ns.is_empty() || name.contains('.') { name.to_owned() } else { format!("{ns}.{name}") }
}

fn total(parts: impl Iterator<Item = usize>) -> usize {
    parts.fold(0, usize::saturating_add)
}

fn corrupt(reason: impl Into<String>) -> Error {
    Error::corrupt("Avro schema", reason)
}

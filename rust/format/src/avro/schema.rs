//! The types of an Avro schema, with the bounds that decoding relies on.

use std::fmt;
use std::sync::Arc;

use crate::{Error, Result};

/// The deepest nesting of types, which bounds recursion over schemas.
pub(super) const MAX_DEPTH: usize = 64;
/// The most nodes of a schema: references let a short text define an exponentially large tree.
const MAX_NODES: usize = 1 << 20;
/// The most types without bytes, which bounds the time to decode one byte of data.
const MAX_WEIGHTLESS: usize = 1 << 10;

/// A node of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvroType {
    /// The encoding.
    pub kind: Kind,
    /// The logical type, if any.
    pub logical: Option<Logical>,
    min_bytes: usize,
    nodes: usize,
    weightless: usize,
    height: usize,
}

/// The encodings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// No bytes.
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
    /// This many bytes.
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
    /// The name, as sanitised by the writer.
    pub name: String,
    /// The `field-id` property.
    pub field_id: Option<i32>,
    /// The type.
    pub field_type: AvroType,
}

/// The logical types that Iceberg uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Logical {
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    TimeMicros,
    /// Microseconds since 1970-01-01, with `adjust-to-utc`.
    TimestampMicros {
        /// Whether the value is an instant.
        utc: bool,
    },
    /// Nanoseconds since 1970-01-01, with `adjust-to-utc`.
    TimestampNanos {
        /// Whether the value is an instant.
        utc: bool,
    },
    /// Two's complement, big-endian.
    Decimal {
        /// The number of digits.
        precision: u8,
        /// The number of digits after the point.
        scale: i8,
    },
    /// Sixteen bytes, big-endian.
    Uuid,
    /// An array of key-value records that represents a map.
    Map,
    /// Milliseconds since midnight; read as microseconds.
    TimeMillis,
    /// Milliseconds since 1970-01-01; read as microseconds.
    TimestampMillis {
        /// Whether the value is an instant.
        utc: bool,
    },
}

impl fmt::Display for Kind {
    /// Write the name of the encoding, without its children.
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
    /// Return the least number of bytes of a value of this type.
    pub fn min_bytes(&self) -> usize {
        self.min_bytes
    }

    /// Return the most bytes of the `enum` symbols in a value, without those inside arrays and maps.
    pub fn symbol_bytes(&self) -> usize {
        match &self.kind {
            Kind::Enum(symbols) => symbols.iter().map(String::len).max().unwrap_or(0),
            Kind::Union(branches) => {
                branches.iter().map(|branch| branch.symbol_bytes()).max().unwrap_or(0)
            }
            Kind::Record(record) => {
                total(record.fields.iter().map(|field| field.field_type.symbol_bytes()))
            }
            _ => 0,
        }
    }

    /// Return the record if the type is one.
    pub fn as_record(&self) -> Option<&Record> {
        match &self.kind {
            Kind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// Return the type of the keys of an Avro map.
    pub(super) fn string() -> Result<Self> {
        Self::new(Kind::String, None)
    }

    pub(super) fn new(kind: Kind, logical: Option<Logical>) -> Result<Self> {
        let children: Vec<&AvroType> = match &kind {
            Kind::Array { items, .. } => vec![items],
            Kind::Map { values, .. } => vec![values],
            Kind::Union(branches) => branches.iter().collect(),
            Kind::Record(record) => record.fields.iter().map(|f| &f.field_type).collect(),
            _ => Vec::new(),
        };
        let min_bytes = min_bytes(&kind);
        let nodes = total(children.iter().map(|child| child.nodes)).saturating_add(1);
        let weightless = total(children.iter().map(|child| child.weightless));
        let weightless = weightless.saturating_add(usize::from(min_bytes == 0));
        let height = children.iter().map(|child| child.height).max().unwrap_or(0) + 1;
        if nodes > MAX_NODES || height > MAX_DEPTH {
            let limits = format!(
                "it is too large; expected at most {MAX_NODES} types and {MAX_DEPTH} levels"
            );
            return Err(corrupt(limits));
        }
        if weightless > MAX_WEIGHTLESS {
            return Err(corrupt(format!(
                "it is too large; expected at most {MAX_WEIGHTLESS} types without bytes"
            )));
        }
        Ok(Self { kind, logical, min_bytes, nodes, weightless, height })
    }
}

fn min_bytes(kind: &Kind) -> usize {
    match kind {
        Kind::Null => 0,
        Kind::Float => 4,
        Kind::Double => 8,
        Kind::Fixed(size) => *size,
        Kind::Union(branches) => {
            let smallest = branches.iter().map(|branch| branch.min_bytes).min().unwrap_or(0);
            smallest.saturating_add(1)
        }
        Kind::Record(record) => total(record.fields.iter().map(|field| field.field_type.min_bytes)),
        _ => 1,
    }
}

fn total(parts: impl Iterator<Item = usize>) -> usize {
    parts.fold(0, usize::saturating_add)
}

pub(super) fn corrupt(reason: impl Into<String>) -> Error {
    Error::corrupt("Avro schema", reason)
}

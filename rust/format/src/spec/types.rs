//! The types of columns and their names in metadata JSON.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::error::{Error, Result};

/// A primitive type. `Display` and `FromStr` use the name in metadata JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrimitiveType {
    /// True or false.
    Boolean,
    /// 32-bit signed integer.
    Int,
    /// 64-bit signed integer.
    Long,
    /// IEEE 754 binary32.
    Float,
    /// IEEE 754 binary64.
    Double,
    /// Fixed-point number.
    Decimal {
        /// The number of digits, 1 to 38.
        precision: u8,
        /// The number of digits after the point. It may exceed the precision, and is negative where trailing zeros
        /// before the point are not stored.
        scale: i8,
    },
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Microseconds since 1970-01-01T00:00:00, without a zone.
    Timestamp,
    /// Microseconds since 1970-01-01T00:00:00 UTC.
    Timestamptz,
    /// Nanoseconds since 1970-01-01T00:00:00, without a zone.
    TimestampNs,
    /// Nanoseconds since 1970-01-01T00:00:00 UTC.
    TimestamptzNs,
    /// UTF-8 text.
    String,
    /// 16 bytes, big-endian.
    Uuid,
    /// Bytes of a fixed length.
    Fixed(u32),
    /// Bytes of any length.
    Binary,
    /// An unknown type, whose values are all null.
    Unknown,
}

/// The greatest precision of a decimal.
pub const MAX_DECIMAL_PRECISION: u8 = 38;

impl PrimitiveType {
    /// Return the widest type that the type promotes to; the type itself if it promotes to no other. Spec: Schema Evolution.
    #[must_use]
    pub fn widest_promotion(self) -> Self {
        match self {
            Self::Int => Self::Long,
            Self::Float => Self::Double,
            Self::Decimal { scale, .. } => {
                Self::Decimal { precision: MAX_DECIMAL_PRECISION, scale }
            }
            other => other,
        }
    }
}

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Decimal { precision, scale } => {
                return write!(f, "decimal({precision}, {scale})");
            }
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::Timestamptz => "timestamptz",
            Self::TimestampNs => "timestamp_ns",
            Self::TimestamptzNs => "timestamptz_ns",
            Self::String => "string",
            Self::Uuid => "uuid",
            Self::Fixed(length) => return write!(f, "fixed[{length}]"),
            Self::Binary => "binary",
            Self::Unknown => "unknown",
        };
        f.write_str(name)
    }
}

impl FromStr for PrimitiveType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // The reference implementation writes lower case and accepts any case.
        let name = &*text.to_ascii_lowercase();
        Ok(match name {
            "boolean" => Self::Boolean,
            "int" => Self::Int,
            "long" => Self::Long,
            "float" => Self::Float,
            "double" => Self::Double,
            "date" => Self::Date,
            "time" => Self::Time,
            "timestamp" => Self::Timestamp,
            "timestamptz" => Self::Timestamptz,
            "timestamp_ns" => Self::TimestampNs,
            "timestamptz_ns" => Self::TimestamptzNs,
            "string" => Self::String,
            "uuid" => Self::Uuid,
            "binary" => Self::Binary,
            "unknown" => Self::Unknown,
            _ => return parse_parameterised(name),
        })
    }
}

fn parse_parameterised(name: &str) -> Result<PrimitiveType> {
    if let Some(arguments) = enclosed(name, "decimal", '(', ')') {
        return parse_decimal(name, arguments);
    }
    if let Some(length) = enclosed(name, "fixed", '[', ']') {
        return length.trim().parse().map(PrimitiveType::Fixed).map_err(|_| {
            Error::invalid("type", format!("fixed has no valid length; expected a length in bytes as in fixed[16], got {name:?}"))
        });
    }
    if name == "variant" || name.starts_with("geometry") || name.starts_with("geography") {
        return Err(Error::unsupported(format!("the type {name}")));
    }
    Err(Error::invalid(
        "type",
        format!("is unknown; expected the name of an Iceberg type, got {name:?}"),
    ))
}

fn enclosed<'a>(name: &'a str, prefix: &str, open: char, close: char) -> Option<&'a str> {
    name.strip_prefix(prefix)?.trim_start().strip_prefix(open)?.strip_suffix(close)
}

fn parse_decimal(name: &str, arguments: &str) -> Result<PrimitiveType> {
    let parsed = arguments.split_once(',').and_then(|(precision, scale)| {
        Some((precision.trim().parse::<u8>().ok()?, scale.trim().parse::<i8>().ok()?))
    });
    match parsed {
        Some((precision @ 1..=MAX_DECIMAL_PRECISION, scale)) => {
            Ok(PrimitiveType::Decimal { precision, scale })
        }
        _ => Err(Error::invalid(
            "type",
            format!(
                "decimal has no valid precision and scale; expected a precision of 1 to 38 and a scale of -128 to 127 as in decimal(9, 2), got {name:?}"
            ),
        )),
    }
}

/// The type of a column, or of a nested field, element, key or value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A primitive type.
    Primitive(PrimitiveType),
    /// A struct of named fields.
    Struct(StructType),
    /// A list of elements of one type.
    List(Box<ListType>),
    /// A map from keys of one type to values of one type.
    Map(Box<MapType>),
}

/// A struct type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StructType {
    /// The fields in order.
    pub fields: Vec<NestedField>,
}

/// A list type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListType {
    /// Field id of the element.
    pub element_id: i32,
    /// Whether elements are never null.
    pub element_required: bool,
    /// Type of the elements.
    pub element: Type,
}

/// A map type; keys are never null.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MapType {
    /// Field id of the key.
    pub key_id: i32,
    /// Type of the keys.
    pub key: Type,
    /// Field id of the value.
    pub value_id: i32,
    /// Whether values are never null.
    pub value_required: bool,
    /// Type of the values.
    pub value: Type,
}

/// A field of a struct or a column of a table; its id is its identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NestedField {
    /// Id, unique within the table and never reused.
    pub id: i32,
    /// Name, without the names of its parents.
    pub name: String,
    /// Whether values are never null.
    pub required: bool,
    /// Type of the values.
    pub field_type: Type,
    /// Documentation.
    pub doc: Option<String>,
    /// Value of the field in rows written before the field was added, as a JSON single value.
    pub initial_default: Option<Value>,
    /// Value of the field in rows written without it, as a JSON single value.
    pub write_default: Option<Value>,
}

impl NestedField {
    /// Create an optional field, without doc or defaults.
    pub fn optional(id: i32, name: impl Into<String>, field_type: impl Into<Type>) -> Self {
        Self::plain(id, name.into(), false, field_type.into())
    }

    /// Create a required field, without doc or defaults.
    pub fn required(id: i32, name: impl Into<String>, field_type: impl Into<Type>) -> Self {
        Self::plain(id, name.into(), true, field_type.into())
    }

    fn plain(id: i32, name: String, required: bool, field_type: Type) -> Self {
        Self {
            id,
            name,
            required,
            field_type,
            doc: None,
            initial_default: None,
            write_default: None,
        }
    }
}

impl Type {
    /// Return the type if it is primitive.
    pub fn as_primitive(&self) -> Option<PrimitiveType> {
        match self {
            Self::Primitive(primitive) => Some(*primitive),
            _ => None,
        }
    }

    /// Return the type if it is a struct.
    pub fn as_struct(&self) -> Option<&StructType> {
        match self {
            Self::Struct(fields) => Some(fields),
            _ => None,
        }
    }
}

impl From<PrimitiveType> for Type {
    fn from(primitive: PrimitiveType) -> Self {
        Self::Primitive(primitive)
    }
}

impl From<StructType> for Type {
    fn from(fields: StructType) -> Self {
        Self::Struct(fields)
    }
}

impl From<ListType> for Type {
    fn from(list: ListType) -> Self {
        Self::List(Box::new(list))
    }
}

impl From<MapType> for Type {
    fn from(map: MapType) -> Self {
        Self::Map(Box::new(map))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primitive(primitive) => primitive.fmt(f),
            Self::Struct(fields) => fields.fmt(f),
            Self::List(list) => write!(f, "list<{}>", list.element),
            Self::Map(map) => write!(f, "map<{}, {}>", map.key, map.value),
        }
    }
}

impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct<")?;
        for (index, field) in self.fields.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            field.fmt(f)?;
        }
        f.write_str(">")
    }
}

impl fmt::Display for NestedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let presence = if self.required { "required" } else { "optional" };
        write!(f, "{}: {}: {presence} {}", self.id, self.name, self.field_type)
    }
}

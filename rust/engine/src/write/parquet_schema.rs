//! A table's schema as a Parquet schema: an id on every node, the spec's physical types.

use std::sync::Arc;

use icefloe_format::spec::{NestedField, PrimitiveType, Schema, Type, sanitize_name};
use icefloe_format::{Error, Result};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{
    ColumnDescPtr, ColumnPath, SchemaDescriptor, Type as ParquetType, TypePtr,
};

/// Name of the root message, as in the Java reference.
const ROOT: &str = "table";

/// Return the Parquet schema of a table's data files.
///
/// Names are made legal (letter or `_`, then letters, digits, `_`); structs, lists, maps, elements, keys and
/// values have field ids. Spec: Appendix A, Parquet.
///
/// # Errors
/// `Unsupported` for a column of type unknown, which no data file holds.
pub fn parquet_schema(schema: &Schema) -> Result<SchemaDescriptor> {
    let fields = schema.fields().iter().map(field).collect::<Result<Vec<_>>>()?;
    let root = ParquetType::group_type_builder(ROOT).with_fields(fields).build();
    Ok(SchemaDescriptor::new(Arc::new(root.map_err(refused)?)))
}

/// Return the place of the leaf with a field id.
pub(super) fn path_of(schema: &SchemaDescriptor, id: i32) -> Option<ColumnPath> {
    let is_wanted = |column: &&ColumnDescPtr| {
        let info = column.self_type().get_basic_info();
        info.has_id() && info.id() == id
    };
    schema.columns().iter().find(is_wanted).map(|column| column.path().clone())
}

fn field(field: &NestedField) -> Result<TypePtr> {
    node(&sanitize_name(&field.name), field.id, field.required, &field.field_type)
}

fn node(name: &str, id: i32, required: bool, node_type: &Type) -> Result<TypePtr> {
    let repetition = if required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
    match node_type {
        Type::Primitive(primitive) => leaf(name, id, repetition, *primitive),
        Type::Struct(inner) if inner.fields.is_empty() => {
            Err(Error::unsupported(format!("a struct without fields ({name}) in Parquet")))
        }
        Type::Struct(inner) => {
            let fields = inner.fields.iter().map(field).collect::<Result<Vec<_>>>()?;
            group(name, Some(id), repetition, None, fields)
        }
        Type::List(list) => {
            let element = node("element", list.element_id, list.element_required, &list.element)?;
            let repeated = group("list", None, Repetition::REPEATED, None, vec![element])?;
            group(name, Some(id), repetition, Some(LogicalType::List), vec![repeated])
        }
        Type::Map(map) => {
            let key = node("key", map.key_id, true, &map.key)?;
            let value = node("value", map.value_id, map.value_required, &map.value)?;
            let repeated = group("key_value", None, Repetition::REPEATED, None, vec![key, value])?;
            group(name, Some(id), repetition, Some(LogicalType::Map), vec![repeated])
        }
    }
}

fn group(
    name: &str,
    id: Option<i32>,
    repetition: Repetition,
    logical: Option<LogicalType>,
    fields: Vec<TypePtr>,
) -> Result<TypePtr> {
    ParquetType::group_type_builder(name)
        .with_id(id)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .with_fields(fields)
        .build()
        .map(Arc::new)
        .map_err(refused)
}

/// The storage of values of a primitive type.
struct Physical {
    physical: PhysicalType,
    logical: Option<LogicalType>,
    /// Bytes of each value; -1 for physical types of one size.
    length: i32,
}

fn leaf(name: &str, id: i32, repetition: Repetition, primitive: PrimitiveType) -> Result<TypePtr> {
    if let PrimitiveType::Decimal { precision, scale } = primitive
        && !(0..=i16::from(precision)).contains(&i16::from(scale))
    {
        return Err(Error::unsupported(format!(
            "writing column {name} of type {primitive} to Parquet, whose decimals have a scale of 0 to their \
             precision,"
        )));
    }
    let Physical { physical, logical, length } = physical(primitive)?;
    let mut builder = ParquetType::primitive_type_builder(name, physical)
        .with_id(Some(id))
        .with_repetition(repetition)
        .with_logical_type(logical)
        .with_length(length);
    if let PrimitiveType::Decimal { precision, scale } = primitive {
        builder = builder.with_precision(i32::from(precision)).with_scale(i32::from(scale));
    }
    builder.build().map(Arc::new).map_err(refused)
}

fn physical(primitive: PrimitiveType) -> Result<Physical> {
    use PrimitiveType as P;
    let timestamp = |adjusted, unit| Some(LogicalType::timestamp(adjusted, unit));
    let (physical, logical, length) = match primitive {
        P::Boolean => (PhysicalType::BOOLEAN, None, -1),
        P::Int => (PhysicalType::INT32, None, -1),
        P::Long => (PhysicalType::INT64, None, -1),
        P::Float => (PhysicalType::FLOAT, None, -1),
        P::Double => (PhysicalType::DOUBLE, None, -1),
        P::Decimal { precision, scale } => {
            let logical = LogicalType::decimal(i32::from(scale), i32::from(precision));
            let (physical, length) = decimal_storage(precision);
            (physical, Some(logical), length)
        }
        P::Date => (PhysicalType::INT32, Some(LogicalType::Date), -1),
        P::Time => (PhysicalType::INT64, Some(LogicalType::time(false, TimeUnit::MICROS)), -1),
        P::Timestamp => (PhysicalType::INT64, timestamp(false, TimeUnit::MICROS), -1),
        P::Timestamptz => (PhysicalType::INT64, timestamp(true, TimeUnit::MICROS), -1),
        P::TimestampNs => (PhysicalType::INT64, timestamp(false, TimeUnit::NANOS), -1),
        P::TimestamptzNs => (PhysicalType::INT64, timestamp(true, TimeUnit::NANOS), -1),
        P::String => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String), -1),
        P::Uuid => (PhysicalType::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid), 16),
        P::Fixed(length) => {
            let length = i32::try_from(length).map_err(|_| {
                Error::invalid(
                    "schema",
                    format!("expected a length that Parquet can store, got fixed[{length}]"),
                )
            })?;
            (PhysicalType::FIXED_LEN_BYTE_ARRAY, None, length)
        }
        P::Binary => (PhysicalType::BYTE_ARRAY, None, -1),
        P::Unknown => return Err(Error::unsupported("writing a column of type unknown")),
    };
    Ok(Physical { physical, logical, length })
}

/// Return the physical type of a decimal and its length: 32 bits hold 9 digits, 64 bits hold 18; beyond that, the
/// fewest bytes that hold the precision.
fn decimal_storage(precision: u8) -> (PhysicalType, i32) {
    match precision {
        0..=9 => (PhysicalType::INT32, -1),
        10..=18 => (PhysicalType::INT64, -1),
        _ => (PhysicalType::FIXED_LEN_BYTE_ARRAY, decimal_bytes(precision)),
    }
}

/// Return the fewest bytes whose two's complement holds every number of `precision` digits.
fn decimal_bytes(precision: u8) -> i32 {
    let limit = 10i128.pow(u32::from(precision.min(38)));
    let mut bytes = 1;
    while bytes < 16 && (1i128 << (8 * bytes - 1)) < limit {
        bytes += 1;
    }
    bytes
}

fn refused(error: ParquetError) -> Error {
    Error::invalid("schema", error.to_string())
}

//! Iceberg types as Arrow types.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};

use super::schema::Schema;
use super::types::{MAX_DECIMAL_PRECISION, NestedField, PrimitiveType, StructType, Type};

/// Key of the field id in the metadata of an Arrow field. The Parquet writer stores it in the file.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";
/// Name of Arrow's extension type for UUIDs, which are stored as 16 bytes.
const UUID_EXTENSION: &str = "arrow.uuid";
/// Arrow time zone of `timestamptz` and `timestamptz_ns`.
pub const UTC: &str = "UTC";

/// Options of the conversion of a schema to an Arrow schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrowOptions {
    /// Convert string and binary to view types.
    pub string_views: bool,
    /// Store field ids in the metadata of fields, under [`FIELD_ID_KEY`].
    pub field_ids: bool,
    /// Mark uuid fields with Arrow's extension type `arrow.uuid`.
    pub extension_types: bool,
}

/// Return the Arrow schema of a table's columns.
pub fn schema_to_arrow(schema: &Schema, options: ArrowOptions) -> arrow_schema::Schema {
    arrow_schema::Schema::new(fields_to_arrow(schema.fields(), options))
}

/// Return the Arrow fields of a struct.
pub fn struct_to_arrow(fields: &StructType, options: ArrowOptions) -> Fields {
    fields_to_arrow(&fields.fields, options)
}

/// Return the Arrow field of a field.
pub fn field_to_arrow(field: &NestedField, options: ArrowOptions) -> Field {
    let data_type = type_to_arrow(&field.field_type, options);
    arrow_field(&field.name, (&field.field_type, data_type), field.required, field.id, options)
}

fn fields_to_arrow(fields: &[NestedField], options: ArrowOptions) -> Fields {
    fields.iter().map(|field| field_to_arrow(field, options)).collect()
}

/// Return the Arrow type of a type.
pub fn type_to_arrow(value_type: &Type, options: ArrowOptions) -> DataType {
    match value_type {
        Type::Primitive(PrimitiveType::String) if options.string_views => DataType::Utf8View,
        Type::Primitive(PrimitiveType::Binary) if options.string_views => DataType::BinaryView,
        Type::Primitive(primitive) => primitive_to_arrow(primitive),
        Type::Struct(fields) => DataType::Struct(struct_to_arrow(fields, options)),
        Type::List(list) => DataType::List(Arc::new(arrow_field(
            "element",
            (&list.element, type_to_arrow(&list.element, options)),
            list.element_required,
            list.element_id,
            options,
        ))),
        Type::Map(map) => {
            let key = type_to_arrow(&map.key, options);
            let value = type_to_arrow(&map.value, options);
            let entries: [FieldRef; 2] = [
                Arc::new(arrow_field("key", (&map.key, key), true, map.key_id, options)),
                Arc::new(arrow_field(
                    "value",
                    (&map.value, value),
                    map.value_required,
                    map.value_id,
                    options,
                )),
            ];
            let entries = DataType::Struct(Fields::from_iter(entries));
            DataType::Map(Arc::new(Field::new("key_value", entries, false)), false)
        }
    }
}

fn arrow_field(
    name: &str,
    (value_type, data_type): (&Type, DataType),
    required: bool,
    id: i32,
    options: ArrowOptions,
) -> Field {
    let mut metadata = HashMap::new();
    if options.field_ids {
        metadata.insert(FIELD_ID_KEY.to_owned(), id.to_string());
    }
    if options.extension_types && *value_type == Type::Primitive(PrimitiveType::Uuid) {
        metadata.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), UUID_EXTENSION.to_owned());
        metadata.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), String::new());
    }
    Field::new(name, data_type, !required).with_metadata(metadata)
}

/// Return the Arrow type of a primitive type, without views. A fixed length above 2^31 - 1, which Arrow does not
/// support, gives binary.
pub fn primitive_to_arrow(primitive: &PrimitiveType) -> DataType {
    let utc = || Some(Arc::from(UTC));
    match primitive {
        PrimitiveType::Boolean => DataType::Boolean,
        PrimitiveType::Int => DataType::Int32,
        PrimitiveType::Long => DataType::Int64,
        PrimitiveType::Float => DataType::Float32,
        PrimitiveType::Double => DataType::Float64,
        PrimitiveType::Decimal { precision, scale } => DataType::Decimal128(*precision, *scale),
        PrimitiveType::Date => DataType::Date32,
        PrimitiveType::Time => DataType::Time64(TimeUnit::Microsecond),
        PrimitiveType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        PrimitiveType::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, utc()),
        PrimitiveType::TimestampNs => DataType::Timestamp(TimeUnit::Nanosecond, None),
        PrimitiveType::TimestamptzNs => DataType::Timestamp(TimeUnit::Nanosecond, utc()),
        PrimitiveType::String => DataType::Utf8,
        PrimitiveType::Uuid => DataType::FixedSizeBinary(16),
        PrimitiveType::Fixed(length) => {
            i32::try_from(*length).map_or(DataType::Binary, DataType::FixedSizeBinary)
        }
        PrimitiveType::Binary => DataType::Binary,
        PrimitiveType::Unknown => DataType::Null,
    }
}

/// Return the primitive type of an Arrow type's values; `None` where Iceberg has no such type. Fixed-size binary
/// gives fixed, whether or not the values are UUIDs.
pub fn primitive_from_arrow(data_type: &DataType) -> Option<PrimitiveType> {
    use DataType as D;
    use PrimitiveType as P;
    Some(match data_type {
        D::Null => P::Unknown,
        D::Boolean => P::Boolean,
        D::Int8 | D::Int16 | D::Int32 | D::UInt8 | D::UInt16 => P::Int,
        D::UInt32 | D::Int64 => P::Long,
        D::Float16 | D::Float32 => P::Float,
        D::Float64 => P::Double,
        D::Decimal32(precision, scale)
        | D::Decimal64(precision, scale)
        | D::Decimal128(precision, scale)
        | D::Decimal256(precision, scale) => {
            let valid = *precision <= MAX_DECIMAL_PRECISION;
            valid.then_some(P::Decimal { precision: *precision, scale: *scale })?
        }
        D::Date32 | D::Date64 => P::Date,
        D::Time32(_) | D::Time64(TimeUnit::Microsecond) => P::Time,
        D::Timestamp(TimeUnit::Nanosecond, None) => P::TimestampNs,
        D::Timestamp(TimeUnit::Nanosecond, Some(_)) => P::TimestamptzNs,
        D::Timestamp(_, None) => P::Timestamp,
        D::Timestamp(_, Some(_)) => P::Timestamptz,
        D::Utf8 | D::LargeUtf8 | D::Utf8View => P::String,
        D::Binary | D::LargeBinary | D::BinaryView => P::Binary,
        D::FixedSizeBinary(length) => P::Fixed(u32::try_from(*length).ok()?),
        D::Dictionary(_, values) => return primitive_from_arrow(values),
        D::RunEndEncoded(_, values) => return primitive_from_arrow(values.data_type()),
        _ => return None,
    })
}

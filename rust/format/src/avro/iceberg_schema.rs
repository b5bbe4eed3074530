//! Conversion between Iceberg types and Avro types.
//!
//! Schemas are written as by the reference implementation, since some readers resolve records by name: nested records are
//! `r<field id>`, maps with keys other than string are arrays of `k<key id>_v<value id>` records, optional types are
//! `["null", T]`, and a named type is defined once.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::natural::TableFixed;
use super::schema::{AvroType, Kind, Logical};
use crate::spec::decimal::storage_bytes;
use crate::spec::names::sanitize_name;
use crate::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};
use crate::{Error, Result};

/// The greatest length of a `fixed` that only the file states. A column of `fixed` allocates its length for every row,
/// including null.
const MAX_FIXED: u32 = 1 << 10;

/// Return the Avro schema of `fields` as a record named `name`.
pub fn record_schema(name: &str, fields: &StructType) -> Value {
    Writer { defined: HashSet::new() }.record(name, fields)
}

impl AvroType {
    /// Return the Iceberg type of values of this Avro type.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where Iceberg has no such type.
    pub fn primitive_type(&self) -> Result<PrimitiveType> {
        self.primitive_type_in(&|_| false)
    }

    /// As [`Self::primitive_type`], in a table that has `fixed` columns of the lengths for which `table_fixed` is true.
    pub(super) fn primitive_type_in(&self, table_fixed: TableFixed<'_>) -> Result<PrimitiveType> {
        Ok(match (&self.kind, &self.logical) {
            (Kind::Boolean, _) => PrimitiveType::Boolean,
            (Kind::Int, Some(Logical::Date)) => PrimitiveType::Date,
            (Kind::Int, None) => PrimitiveType::Int,
            (Kind::Long, None) => PrimitiveType::Long,
            (Kind::Long, Some(Logical::TimeMicros)) | (Kind::Int, Some(Logical::TimeMillis)) => {
                PrimitiveType::Time
            }
            (
                Kind::Long,
                Some(
                    Logical::TimestampMicros { utc: false }
                    | Logical::TimestampMillis { utc: false },
                ),
            ) => PrimitiveType::Timestamp,
            (
                Kind::Long,
                Some(
                    Logical::TimestampMicros { utc: true } | Logical::TimestampMillis { utc: true },
                ),
            ) => PrimitiveType::Timestamptz,
            (Kind::Long, Some(Logical::TimestampNanos { utc: false })) => {
                PrimitiveType::TimestampNs
            }
            (Kind::Long, Some(Logical::TimestampNanos { utc: true })) => {
                PrimitiveType::TimestamptzNs
            }
            (Kind::Float, None) => PrimitiveType::Float,
            (Kind::Double, None) => PrimitiveType::Double,
            (Kind::String | Kind::Enum(_), None) => PrimitiveType::String,
            (Kind::Fixed(16), Some(Logical::Uuid)) => PrimitiveType::Uuid,
            (Kind::Fixed(_) | Kind::Bytes, Some(Logical::Decimal { precision, scale }))
                if (1..=38).contains(precision) =>
            {
                PrimitiveType::Decimal { precision: *precision, scale: *scale }
            }
            (Kind::Fixed(length), None) if *length > 0 => {
                let known = u32::try_from(*length)
                    .ok()
                    .filter(|length| *length <= MAX_FIXED || table_fixed(*length));
                PrimitiveType::Fixed(
                    known.ok_or_else(|| {
                        Error::unsupported(format!("the Avro type fixed({length})"))
                    })?,
                )
            }
            (Kind::Bytes, None) => PrimitiveType::Binary,
            (kind, logical) => {
                let logical = logical.as_ref().map(|l| format!(" of {l:?}")).unwrap_or_default();
                return Err(Error::unsupported(format!("the Avro type {kind}{logical}")));
            }
        })
    }
}

struct Writer {
    defined: HashSet<String>,
}

impl Writer {
    fn record(&mut self, name: &str, fields: &StructType) -> Value {
        let fields: Vec<Value> = fields.fields.iter().map(|field| self.field(field)).collect();
        json!({ "type": "record", "name": name, "fields": fields })
    }

    fn field(&mut self, field: &NestedField) -> Value {
        let name = sanitize_name(&field.name);
        let inner = self.any(&field.field_type, field.id);
        let mut out = json!({ "name": name, "type": optional(inner, field.required) });
        if let Some(doc) = &field.doc {
            out["doc"] = json!(doc);
        }
        if !field.required {
            out["default"] = Value::Null;
        }
        out["field-id"] = json!(field.id);
        if name != field.name {
            out["iceberg-field-name"] = json!(field.name);
        }
        out
    }

    /// Return the type of the field, element, key or value `id`.
    fn any(&mut self, any: &Type, id: i32) -> Value {
        match any {
            Type::Primitive(primitive) => self.primitive(*primitive),
            Type::Struct(fields) => self.record(&format!("r{id}"), fields),
            Type::List(list) => self.list(list),
            Type::Map(map) => self.map(map),
        }
    }

    fn list(&mut self, list: &ListType) -> Value {
        let element = self.any(&list.element, list.element_id);
        json!({
            "type": "array",
            "items": optional(element, list.element_required),
            "element-id": list.element_id,
        })
    }

    fn map(&mut self, map: &MapType) -> Value {
        let value = |writer: &mut Self| {
            let value = writer.any(&map.value, map.value_id);
            optional(value, map.value_required)
        };
        if map.key == Type::Primitive(PrimitiveType::String) {
            let values = value(self);
            let (key_id, value_id) = (map.key_id, map.value_id);
            return json!({ "type": "map", "values": values, "key-id": key_id, "value-id": value_id });
        }
        let name = format!("k{}_v{}", map.key_id, map.value_id);
        let key = NestedField::required(map.key_id, "key", map.key.clone());
        let mut entry = NestedField::required(map.value_id, "value", map.value.clone());
        entry.required = map.value_required;
        let entry = StructType { fields: vec![key, entry] };
        let items = self.record(&name, &entry);
        json!({ "type": "array", "items": items, "logicalType": "map" })
    }

    fn primitive(&mut self, primitive: PrimitiveType) -> Value {
        let instant = |logical: &str, utc: bool| json!({ "type": "long", "logicalType": logical, "adjust-to-utc": utc });
        match primitive {
            PrimitiveType::Boolean => json!("boolean"),
            PrimitiveType::Int => json!("int"),
            PrimitiveType::Long => json!("long"),
            PrimitiveType::Float => json!("float"),
            PrimitiveType::Double => json!("double"),
            PrimitiveType::Date => json!({ "type": "int", "logicalType": "date" }),
            PrimitiveType::Time => json!({ "type": "long", "logicalType": "time-micros" }),
            PrimitiveType::Timestamp => instant("timestamp-micros", false),
            PrimitiveType::Timestamptz => instant("timestamp-micros", true),
            PrimitiveType::TimestampNs => instant("timestamp-nanos", false),
            PrimitiveType::TimestamptzNs => instant("timestamp-nanos", true),
            PrimitiveType::String => json!("string"),
            PrimitiveType::Binary => json!("bytes"),
            PrimitiveType::Uuid => {
                let logical = [("logicalType", json!("uuid"))];
                self.fixed("uuid_fixed".to_owned(), 16, &logical)
            }
            PrimitiveType::Fixed(length) => self.fixed(
                format!("fixed_{length}"),
                usize::try_from(length).unwrap_or(usize::MAX),
                &[],
            ),
            PrimitiveType::Decimal { precision, scale } => {
                let logical = [
                    ("logicalType", json!("decimal")),
                    ("precision", json!(precision)),
                    ("scale", json!(scale)),
                ];
                let name = format!("decimal_{precision}_{scale}");
                self.fixed(name, storage_bytes(precision), &logical)
            }
            PrimitiveType::Unknown => json!("null"),
        }
    }

    fn fixed(&mut self, name: String, size: usize, logical: &[(&str, Value)]) -> Value {
        if self.defined.contains(&name) {
            return json!(name);
        }
        let mut out = json!({ "type": "fixed", "name": name, "size": size });
        for (key, value) in logical {
            out[*key] = value.clone();
        }
        self.defined.insert(name);
        out
    }
}

fn optional(inner: Value, required: bool) -> Value {
    // A union may hold null only once, and unknown is written as null already.
    if required || inner == json!("null") { inner } else { json!(["null", inner]) }
}

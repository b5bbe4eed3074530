//! Partition specs.

use serde_json::{Value, json};

use super::json::{self, JsonObject};
use super::schema::Schema;
use super::types::{NestedField, PrimitiveType, StructType};
use crate::error::{Error, Result};
use crate::spec::Transform;

/// The id of the first partition field.
pub const FIRST_PARTITION_FIELD_ID: i32 = 1000;

/// A field of a partition spec.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionField {
    /// Id of the source column.
    pub source_id: i32,
    /// Id of the partition field, unique over all specs of a v2 table.
    pub field_id: i32,
    /// Name of the field in partition tuples and paths.
    pub name: String,
    /// The function from source values to partition values.
    pub transform: Transform,
}

/// The partition fields of a table. Tables retain all their specs, as older files refer to them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartitionSpec {
    /// Identifies the spec within its table.
    pub spec_id: i32,
    /// The fields of a partition tuple in order.
    pub fields: Vec<PartitionField>,
}

impl PartitionSpec {
    /// Parse a spec object `{"spec-id":..,"fields":[..]}`.
    pub fn from_json(text: &str) -> Result<Self> {
        Self::from_value(&json::parse("partition spec", text)?)
    }

    /// Parse a spec object.
    pub fn from_value(value: &Value) -> Result<Self> {
        let object = JsonObject::new("partition spec", value)?;
        Ok(Self {
            spec_id: object.optional_int("spec-id")?.unwrap_or(0),
            fields: parse_fields(object.array("fields")?)?,
        })
    }

    /// Parse the array of fields in a manifest header or in v1 metadata; the spec id is 0. A whole spec object,
    /// which some old writers store there, is accepted.
    pub fn from_fields_json(text: &str) -> Result<Self> {
        match json::parse("partition spec", text)? {
            Value::Array(fields) => Ok(Self { spec_id: 0, fields: parse_fields(&fields)? }),
            other => Self::from_value(&other),
        }
    }

    /// Return the spec object of metadata JSON as compact text.
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// Return the spec object of metadata JSON.
    pub fn to_value(&self) -> Value {
        json!({"spec-id": self.spec_id, "fields": self.fields_to_value()})
    }

    /// Return the array of fields as compact text, the form in manifest headers.
    pub fn fields_to_json(&self) -> String {
        self.fields_to_value().to_string()
    }

    fn fields_to_value(&self) -> Value {
        let field_to_value = |field: &PartitionField| {
            json!({
                "name": field.name,
                "transform": field.transform.to_string(),
                "source-id": field.source_id,
                "field-id": field.field_id,
            })
        };
        self.fields.iter().map(field_to_value).collect()
    }

    /// Return whether the spec has no fields, or only void ones.
    pub fn is_unpartitioned(&self) -> bool {
        self.fields.iter().all(|field| field.transform == Transform::Void)
    }

    /// Return the type of partition tuples: one optional field per spec field, with its id and name.
    ///
    /// A field whose source column was dropped from the schema has the transform's fixed result type, or else
    /// unknown; see [`PartitionSpec::partition_type_among`].
    pub fn partition_type(&self, schema: &Schema) -> StructType {
        self.partition_type_among(std::slice::from_ref(schema))
    }

    /// Return the type of partition tuples. The first of `schemas` that has a source column determines its type:
    /// pass the current schema first, then the historical ones.
    ///
    /// Fields of `void` and of unknown transforms have the type unknown, so that manifests are read whatever type their
    /// writers chose for these fields.
    pub fn partition_type_among(&self, schemas: &[Schema]) -> StructType {
        self.tuple_type(|field| match field.transform {
            Transform::Void | Transform::Unknown(_) => PrimitiveType::Unknown,
            _ => result_type(field, schemas),
        })
    }

    /// Return the type of partition tuples in new manifests: as [`PartitionSpec::partition_type_among`], but with the
    /// source column's type for `void`, as the reference implementation writes it.
    pub fn written_partition_type(&self, schemas: &[Schema]) -> StructType {
        self.tuple_type(|field| match field.transform {
            Transform::Unknown(_) => PrimitiveType::Unknown,
            _ => result_type(field, schemas),
        })
    }

    fn tuple_type(&self, value_type: impl Fn(&PartitionField) -> PrimitiveType) -> StructType {
        let fields = self.fields.iter().map(|field| {
            NestedField::optional(field.field_id, field.name.as_str(), value_type(field))
        });
        StructType { fields: fields.collect() }
    }
}

/// Return the type of a field's values; unknown if no schema has the source column and the transform's type depends on it.
fn result_type(field: &PartitionField, schemas: &[Schema]) -> PrimitiveType {
    schemas
        .iter()
        .find_map(|schema| schema.primitive_type(field.source_id))
        .and_then(|source| field.transform.result_type(&source).ok())
        .or_else(|| field.transform.fixed_result_type())
        .unwrap_or(PrimitiveType::Unknown)
}

fn parse_fields(values: &[Value]) -> Result<Vec<PartitionField>> {
    let mut next_id = FIRST_PARTITION_FIELD_ID;
    let fields = values.iter().map(|value| {
        let object = JsonObject::new("partition field", value)?;
        let field = PartitionField {
            source_id: object.source_id()?,
            field_id: object.optional_int("field-id")?.unwrap_or(next_id),
            name: object.str("name")?.to_owned(),
            transform: object.str("transform")?.parse()?,
        };
        next_id += 1;
        Ok(field)
    });
    let fields: Vec<PartitionField> = fields.collect::<Result<_>>()?;
    check_unique_ids(&fields)?;
    Ok(fields)
}

fn check_unique_ids(fields: &[PartitionField]) -> Result<()> {
    for (index, field) in fields.iter().enumerate() {
        if fields.iter().take(index).any(|other| other.field_id == field.field_id) {
            return Err(Error::invalid(
                "partition spec",
                format!("field id {} occurs twice, again at field {}", field.field_id, field.name),
            ));
        }
    }
    Ok(())
}

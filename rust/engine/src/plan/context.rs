//! What planning and reading know of a table, from the JSON that crosses the boundary.

use std::collections::{BTreeMap, HashMap};

use icefloe_format::Error as FormatError;
use icefloe_format::spec::{NestedField, PartitionSpec, Schema, StructType};
use serde_json::Value;

use crate::error::Result;
use crate::scan::NameMapping;

/// A table as of one snapshot.
#[derive(Debug, Clone)]
pub struct TableContext {
    /// Binds filters; what projections are made of.
    pub schema: Schema,
    /// Every schema the table had.
    pub schemas: Vec<Schema>,
    /// Every partition spec, by id.
    pub specs: HashMap<i32, PartitionSpec>,
    /// Ids for files that carry none.
    pub name_mapping: Option<NameMapping>,
    /// Whether column names in filters are compared case-sensitively.
    pub case_sensitive: bool,
    /// Table properties.
    pub properties: BTreeMap<String, String>,
}

impl TableContext {
    /// Read `{"schema", "schemas", "partition-specs", "name-mapping", "case-sensitive",
    /// "properties"}`; all but `schema` may be absent.
    ///
    /// # Errors
    /// `InvalidArgument` naming what is wrong.
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        let schema = value.get("schema").ok_or_else(|| invalid("no schema".into()))?;
        let specs: Vec<_> = items(&value, "partition-specs")?
            .iter()
            .map(PartitionSpec::from_value)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            schema: Schema::from_value(schema)?,
            schemas: items(&value, "schemas")?
                .iter()
                .map(Schema::from_value)
                .collect::<Result<_, _>>()?,
            specs: specs.into_iter().map(|spec| (spec.spec_id, spec)).collect(),
            name_mapping: match value.get("name-mapping") {
                None | Some(Value::Null) => None,
                Some(mapping) => Some(NameMapping::from_value(mapping)?),
            },
            case_sensitive: value.get("case-sensitive").and_then(Value::as_bool).unwrap_or(true),
            properties: properties(&value)?,
        })
    }

    /// A partition spec.
    ///
    /// # Errors
    /// `InvalidArgument` if the table has none with this id.
    pub fn spec(&self, spec_id: i32) -> Result<&PartitionSpec> {
        Ok(self
            .specs
            .get(&spec_id)
            .ok_or_else(|| invalid(format!("no partition spec with id {spec_id}")))?)
    }

    /// The type of a spec's partition tuples. Source columns are looked for in every schema: a spec
    /// outlives the columns that it was made of.
    pub fn partition_type(&self, spec: &PartitionSpec) -> StructType {
        spec.partition_type(self.schema_of_spec(spec))
    }

    /// The schema that has most of a spec's source columns; the current one if none has more.
    pub fn schema_of_spec(&self, spec: &PartitionSpec) -> &Schema {
        let sources = |schema: &Schema| {
            spec.fields.iter().filter(|field| schema.field_by_id(field.source_id).is_some()).count()
        };
        let mut best = &self.schema;
        for schema in &self.schemas {
            if sources(schema) > sources(best) {
                best = schema;
            }
        }
        best
    }

    /// A field by id, at any depth, of the current schema or of any the table had.
    pub fn schema_with_field(&self, field_id: i32) -> Option<&Schema> {
        std::iter::once(&self.schema)
            .chain(self.schemas.iter().rev())
            .find(|schema| schema.field_by_id(field_id).is_some())
    }

    /// A field by id, at any depth, of the current schema or of any the table had.
    pub fn field(&self, field_id: i32) -> Option<&NestedField> {
        self.schema_with_field(field_id)?.field_by_id(field_id)
    }
}

fn items<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(invalid(format!("{key} is not an array")).into()),
    }
}

fn properties(value: &Value) -> Result<BTreeMap<String, String>> {
    match value.get("properties") {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(properties) => serde_json::from_value(properties.clone())
            .map_err(|error| invalid(format!("properties: {error}")).into()),
    }
}

fn invalid(reason: String) -> FormatError {
    FormatError::invalid("context", reason)
}

//! What planning and reading know of a table, from the JSON that crosses the boundary.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use icefloe_format::Error as FormatError;
use icefloe_format::spec::{PartitionSpec, Schema, StructType};
use serde_json::Value;

use super::name_mapping::NameMapping;
use crate::error::Result;

/// A table as of one snapshot.
#[derive(Debug, Clone)]
pub struct TableContext {
    /// Binds filters; what projections are made of.
    pub schema: Schema,
    /// The current schema, then every other the table had, newest first.
    pub schemas: Vec<Schema>,
    /// Every partition spec, by id.
    pub specs: HashMap<i32, PartitionSpec>,
    /// Ids for files that carry none.
    pub name_mapping: Option<NameMapping>,
    /// Whether column names in filters are compared case-sensitively.
    pub case_sensitive: bool,
    /// Table properties.
    pub properties: BTreeMap<String, String>,
    /// The JSON that all this is from.
    pub source: Arc<str>,
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
        let schema = Schema::from_value(schema)?;
        let mut schemas = vec![schema.clone()];
        for older in items(&value, "schemas")?.iter().rev() {
            schemas.push(Schema::from_value(older)?);
        }
        let specs: Vec<_> = items(&value, "partition-specs")?
            .iter()
            .map(PartitionSpec::from_value)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            schema,
            schemas,
            specs: specs.into_iter().map(|spec| (spec.spec_id, spec)).collect(),
            name_mapping: match value.get("name-mapping") {
                None | Some(Value::Null) => None,
                Some(mapping) => Some(NameMapping::from_value(mapping)?),
            },
            case_sensitive: value.get("case-sensitive").and_then(Value::as_bool).unwrap_or(true),
            properties: properties(&value)?,
            source: text.into(),
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
        spec.partition_type_among(&self.schemas)
    }

    /// A schema that has a field, at any depth: the current one, else the newest that had it.
    pub fn schema_with_field(&self, field_id: i32) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.field_by_id(field_id).is_some())
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

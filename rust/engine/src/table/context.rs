//! The read context: the parts of a table's metadata that planning and reading use, from JSON.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use icefloe_format::Error as FormatError;
use icefloe_format::spec::{PartitionSpec, PrimitiveType, Schema, StructType, Type};
use serde_json::Value;

use super::name_mapping::NameMapping;
use crate::error::Result;

/// The schemas, partition specs, name mapping and properties of a table as of one snapshot.
#[derive(Debug, Clone)]
pub struct TableContext {
    /// The schema that filters and projections are bound to.
    pub schema: Schema,
    /// The current schema, then all older schemas, newest first.
    pub schemas: Vec<Schema>,
    /// Every partition spec, by id.
    pub specs: HashMap<i32, PartitionSpec>,
    /// Field ids for files without ids.
    pub name_mapping: Option<NameMapping>,
    /// Whether column names in filters are compared case-sensitively.
    pub case_sensitive: bool,
    /// Table properties.
    pub properties: BTreeMap<String, String>,
    /// The JSON text of the context.
    pub source: Arc<str>,
}

impl TableContext {
    /// Read `{"schema", "schemas", "partition-specs", "name-mapping", "case-sensitive",
    /// "properties"}`; all but `schema` may be absent.
    ///
    /// # Errors
    /// `InvalidArgument` naming the key that is absent or has another type.
    pub fn from_json(text: &str) -> Result<Self> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        let schema =
            value.get("schema").ok_or_else(|| invalid("expected a schema, got none".into()))?;
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

    /// Return a partition spec.
    ///
    /// # Errors
    /// `InvalidArgument` if the table has none with this id.
    pub fn spec(&self, spec_id: i32) -> Result<&PartitionSpec> {
        Ok(self.specs.get(&spec_id).ok_or_else(|| self.unknown_spec(spec_id))?)
    }

    /// Return the error for a spec id that the table does not have.
    pub(crate) fn unknown_spec(&self, spec_id: i32) -> FormatError {
        let mut known: Vec<i32> = self.specs.keys().copied().collect();
        known.sort_unstable();
        invalid(format!("expected the id of a partition spec in {known:?}, got {spec_id}"))
    }

    /// Return the struct type of a spec's partition tuples. Source columns may be in any schema, since a spec outlives
    /// its source columns.
    pub fn partition_type(&self, spec: &PartitionSpec) -> StructType {
        spec.partition_type_among(&self.schemas)
    }

    /// Return whether a schema has a column or nested field of type `fixed` with this length.
    pub fn has_fixed(&self, length: u32) -> bool {
        let is_fixed = |schema: &Schema, id| {
            let found = schema.type_of(id).and_then(Type::as_primitive);
            found == Some(PrimitiveType::Fixed(length))
        };
        self.schemas.iter().any(|schema| schema.leaf_ids().iter().any(|id| is_fixed(schema, *id)))
    }

    /// Return the newest schema that has a field at any depth.
    pub fn schema_with_field(&self, field_id: i32) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.field_by_id(field_id).is_some())
    }

    /// Return whether files may store a wider type of a field than [`TableContext::schema_with_field`] has: the metadata
    /// may lack the schemas between the promotion of a column and its removal.
    pub fn may_be_promoted(&self, field_id: i32) -> bool {
        self.schema.field_by_id(field_id).is_none()
    }
}

fn items<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(invalid(format!("{key}: expected a JSON array, got {other}")).into()),
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

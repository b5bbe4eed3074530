//! A table's schemas and partition specs, as far as manifests need them.

use icefloe_format::spec::{PartitionSpec, Schema, StructType};
use icefloe_format::{Error as FormatError, Result};

/// Schemas, the current one first, and every partition spec that manifests may be of.
#[derive(Debug, Clone)]
pub struct TableTypes {
    schemas: Vec<Schema>,
    specs: Vec<PartitionSpec>,
}

impl TableTypes {
    /// Types out of metadata JSON.
    ///
    /// `schema` is the current schema, or an array of it and the historical ones: columns that a
    /// spec partitions by may be gone from the current one. `specs` is an array of spec objects.
    ///
    /// # Errors
    /// [`FormatError::InvalidArgument`] if either text is not that.
    pub fn from_json(schema: &str, specs: &str) -> Result<Self> {
        let schemas = match parse("schema", schema)? {
            serde_json::Value::Array(schemas) => {
                schemas.iter().map(Schema::from_value).collect::<Result<Vec<_>>>()?
            }
            one => vec![Schema::from_value(&one)?],
        };
        if schemas.is_empty() {
            return Err(FormatError::invalid("schema", "there is none"));
        }
        let serde_json::Value::Array(specs) = parse("specs", specs)? else {
            return Err(FormatError::invalid("specs", "must be a JSON array of partition specs"));
        };
        let specs = specs.iter().map(PartitionSpec::from_value).collect::<Result<_>>()?;
        Ok(Self { schemas, specs })
    }

    /// These schemas, the current one first, and specs.
    ///
    /// # Errors
    /// [`FormatError::InvalidArgument`] if there is no schema.
    pub fn new(schemas: Vec<Schema>, specs: Vec<PartitionSpec>) -> Result<Self> {
        if schemas.is_empty() {
            return Err(FormatError::invalid("schema", "there is none"));
        }
        Ok(Self { schemas, specs })
    }

    /// The current schema.
    ///
    /// # Errors
    /// None: there is always one.
    pub fn schema(&self) -> Result<&Schema> {
        self.schemas.first().ok_or_else(|| FormatError::invalid("schema", "there is none"))
    }

    /// A spec by id.
    ///
    /// # Errors
    /// [`FormatError::InvalidArgument`] if the table has no such spec.
    pub fn spec(&self, spec_id: i32) -> Result<&PartitionSpec> {
        self.specs.iter().find(|spec| spec.spec_id == spec_id).ok_or_else(|| {
            let known: Vec<String> = self.specs.iter().map(|s| s.spec_id.to_string()).collect();
            let reason = format!("the table has no spec {spec_id}, only {}", known.join(", "));
            FormatError::invalid("spec_id", reason)
        })
    }

    /// The type of a spec's tuples.
    ///
    /// # Errors
    /// As for [`Self::spec`].
    pub fn partition_type(&self, spec_id: i32) -> Result<StructType> {
        Ok(self.spec(spec_id)?.partition_type_among(&self.schemas))
    }
}

fn parse(what: &str, text: &str) -> Result<serde_json::Value> {
    serde_json::from_str(text).map_err(|error| FormatError::invalid(what, error.to_string()))
}

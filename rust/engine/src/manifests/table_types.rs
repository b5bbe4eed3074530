//! The schemas and partition specs of a table, which manifests are written and read with.

use icefloe_format::spec::{PartitionSpec, Schema, StructType};
use icefloe_format::{Error as FormatError, Result};

/// Schemas, the current one first, and the partition specs of a table.
#[derive(Debug, Clone)]
pub struct TableTypes {
    schemas: Vec<Schema>,
    specs: Vec<PartitionSpec>,
}

impl TableTypes {
    /// Parse schemas and partition specs from metadata JSON.
    ///
    /// `schema` is the current schema, or an array of it and older schemas, which may hold source columns that the
    /// current one lacks. `specs` is an array of spec objects.
    ///
    /// # Errors
    /// [`FormatError::InvalidArgument`] if either text has another shape.
    pub fn from_json(schema: &str, specs: &str) -> Result<Self> {
        let schemas = match parse("schema", schema)? {
            serde_json::Value::Array(schemas) => {
                schemas.iter().map(Schema::from_value).collect::<Result<Vec<_>>>()?
            }
            one => vec![Schema::from_value(&one)?],
        };
        if schemas.is_empty() {
            return Err(FormatError::invalid("schema", "expected at least one schema, got none"));
        }
        let serde_json::Value::Array(specs) = parse("specs", specs)? else {
            return Err(FormatError::invalid("specs", "expected a JSON array of partition specs"));
        };
        let specs = specs.iter().map(PartitionSpec::from_value).collect::<Result<_>>()?;
        Ok(Self { schemas, specs })
    }

    /// Create the types of a table from its schemas, the current one first, and its partition specs.
    ///
    /// # Errors
    /// [`FormatError::InvalidArgument`] if there is no schema.
    pub fn new(schemas: Vec<Schema>, specs: Vec<PartitionSpec>) -> Result<Self> {
        if schemas.is_empty() {
            return Err(FormatError::invalid("schema", "expected at least one schema, got none"));
        }
        Ok(Self { schemas, specs })
    }

    /// Return the current schema.
    ///
    /// # Errors
    /// `InvalidArgument` if there is none, which the constructors exclude.
    pub fn schema(&self) -> Result<&Schema> {
        self.schemas
            .first()
            .ok_or_else(|| FormatError::invalid("schema", "expected at least one schema, got none"))
    }

    /// Return a spec by id.
    ///
    /// # Errors
    /// [`FormatError::InvalidArgument`] if the table has no such spec.
    pub fn spec(&self, spec_id: i32) -> Result<&PartitionSpec> {
        self.specs.iter().find(|spec| spec.spec_id == spec_id).ok_or_else(|| {
            let known: Vec<String> = self.specs.iter().map(|s| s.spec_id.to_string()).collect();
            let reason = format!(
                "expected one of the table's partition specs {}, got {spec_id}",
                known.join(", ")
            );
            FormatError::invalid("spec_id", reason)
        })
    }

    /// Return the struct type of a spec's partition tuples.
    ///
    /// # Errors
    /// As for [`Self::spec`].
    pub fn partition_type(&self, spec_id: i32) -> Result<StructType> {
        Ok(self.spec(spec_id)?.partition_type_among(&self.schemas))
    }

    /// Return the struct type of a spec's partition tuples in new manifests.
    ///
    /// # Errors
    /// As for [`Self::spec`].
    pub fn written_partition_type(&self, spec_id: i32) -> Result<StructType> {
        Ok(self.spec(spec_id)?.written_partition_type(&self.schemas))
    }
}

fn parse(what: &str, text: &str) -> Result<serde_json::Value> {
    serde_json::from_str(text).map_err(|error| FormatError::invalid(what, error.to_string()))
}

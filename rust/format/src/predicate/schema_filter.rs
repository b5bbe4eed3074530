//! Filters as JSON, for callers that hold JSON: validation, projection, residuals and evaluation.

use arrow_array::cast::AsArray;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{DataType, Fields};
use serde_json::Value;

use super::bind::bind;
use super::evaluate::{Pruner, evaluate_inclusive};
use super::file_stats::FileStats;
use super::json::{parse_json, to_unbound_json};
use super::partition_stats::ManifestSummaries;
use super::project::{project_inclusive, project_strict};
use super::residual::residual;
use super::row_filter::filter_mask;
use super::tree::BoundPredicate;
use crate::error::{Error, Result};
use crate::spec::{NestedField, PartitionSpec, Schema, Type, partition_from_json};

/// A filter bound to a schema.
#[derive(Debug, Clone)]
pub struct SchemaFilter {
    schema: Schema,
    bound: BoundPredicate,
}

impl SchemaFilter {
    /// Bind the JSON of a filter to the JSON of a schema.
    ///
    /// # Errors
    /// Those of parsing either and of [`bind`].
    pub fn new(schema: &str, filter: &str, case_sensitive: bool) -> Result<Self> {
        let schema = Schema::from_json(schema)?;
        let bound = bind(&parse_json(filter)?, &schema, case_sensitive)?;
        Ok(Self { schema, bound })
    }

    /// The filter over partition values, as JSON whose terms are names of partition fields.
    ///
    /// # Errors
    /// Those of parsing the spec and of projection.
    pub fn project(&self, spec: &str, strict: bool) -> Result<String> {
        let spec = PartitionSpec::from_json(spec)?;
        let project = if strict { project_strict } else { project_inclusive };
        project(&self.bound, &self.schema, &spec).map(|projected| to_unbound_json(&projected))
    }

    /// What is left to filter in a file whose partition tuple is this JSON array.
    ///
    /// # Errors
    /// Those of parsing and of [`residual`].
    pub fn residual(&self, spec: &str, partition: &str) -> Result<String> {
        let spec = PartitionSpec::from_json(spec)?;
        let tuple = partition_from_json(&spec.partition_type(&self.schema), partition)?;
        residual(&self.bound, &spec, &self.schema, &tuple).map(|left| to_unbound_json(&left))
    }

    /// Which rows of a batch satisfy the filter. Columns are found by name; an absent one is null.
    ///
    /// # Errors
    /// `Mismatch` where a column is of another type than the schema says.
    pub fn rows(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let place = |field_id: i32| {
            let path = self.schema.position_path(field_id)?;
            places(self.schema.fields(), batch.schema_ref().fields(), &path)
        };
        filter_mask(&self.bound, batch, &place)
    }

    /// Which files of a data file batch might have a row that satisfies the filter, and of which
    /// every row must, by their statistics.
    ///
    /// # Errors
    /// `Corrupt` where statistics cannot be decoded.
    pub fn files(&self, files: &RecordBatch) -> Result<(BooleanArray, BooleanArray)> {
        let (pruner, stats) = (Pruner::new(&self.bound), FileStats::new(files));
        Ok((pruner.might_match(&stats)?, pruner.must_match(&stats)?))
    }

    /// Which manifests of a spec, as manifest file columns, might have a file with a matching row.
    ///
    /// # Errors
    /// `InvalidArgument` where the batch has no partition summaries.
    pub fn manifests(&self, spec: &str, manifests: &RecordBatch) -> Result<BooleanArray> {
        let spec = PartitionSpec::from_json(spec)?;
        let projected = project_inclusive(&self.bound, &self.schema, &spec)?;
        let summaries = manifests.column_by_name("partitions").and_then(|it| it.as_list_opt());
        let summaries = summaries.ok_or_else(|| {
            Error::invalid("manifests", "there is no column partitions of field summaries")
        })?;
        let partition_type = spec.partition_type(&self.schema);
        evaluate_inclusive(&projected, &ManifestSummaries::new(summaries, &partition_type))
    }
}

/// The same path in a batch whose columns may be in another order.
fn places(fields: &[NestedField], columns: &Fields, path: &[usize]) -> Option<Vec<usize>> {
    let (first, rest) = path.split_first()?;
    let field = fields.get(*first)?;
    let (place, column) = columns.find(&field.name)?;
    let mut found = vec![place];
    if let (Type::Struct(inner), DataType::Struct(children)) =
        (&field.field_type, column.data_type())
        && !rest.is_empty()
    {
        found.extend(places(&inner.fields, children, rest)?);
    }
    (found.len() == path.len()).then_some(found)
}

/// Bind a filter to the schema of a context, `{"schema": .., "case-sensitive": true, ..}`, and
/// give it back as JSON: full column names, literals of the columns' types, constants folded.
///
/// # Errors
/// `InvalidArgument` where the context has no schema; those of [`parse_json`] and [`bind`].
pub fn validate(context: &str, filter: &str) -> Result<String> {
    let context: Value = serde_json::from_str(context)
        .map_err(|error| Error::invalid("context", format!("not JSON: {error}")))?;
    let schema =
        context.get("schema").ok_or_else(|| Error::invalid("context", "it has no schema"))?;
    let schema = Schema::from_value(schema)?;
    let case_sensitive = context.get("case-sensitive").and_then(Value::as_bool).unwrap_or(true);
    Ok(to_unbound_json(&bind(&parse_json(filter)?, &schema, case_sensitive)?))
}

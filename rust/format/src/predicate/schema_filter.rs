//! Filters as JSON, for callers that hold JSON: validation, projection, residuals and evaluation.

use arrow_array::cast::AsArray;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{DataType, Fields};
use serde_json::Value;

use super::bind::bind;
use super::evaluate::{Pruner, evaluate_inclusive};
use super::file_stats::FileStats;
use super::json::{parse_json, to_unbound_json};
use super::partition_stats::{ManifestSummaries, PartitionTuples};
use super::project::{project_inclusive, project_strict};
use super::residual::{residual, residuals};
use super::row_filter::filter_mask;
use super::tree::{BoundPredicate, Predicate};
use crate::error::{Error, Result};
use crate::spec::{NestedField, PartitionSpec, Schema, Type, partition_from_json};

/// A filter bound to a schema.
#[derive(Debug, Clone)]
pub struct SchemaFilter {
    schema: Schema,
    bound: BoundPredicate,
}

impl SchemaFilter {
    /// Bind a filter to a schema, both as JSON.
    ///
    /// # Errors
    /// Errors of parsing either and of [`bind`].
    pub fn new(schema: &str, filter: &str, case_sensitive: bool) -> Result<Self> {
        let schema = Schema::from_json(schema)?;
        let bound = bind(&parse_json(filter)?, &schema, case_sensitive)?;
        Ok(Self { schema, bound })
    }

    /// Project the filter on partition values. Returns JSON whose terms are names of partition fields.
    ///
    /// # Errors
    /// Errors of parsing the spec and of projection.
    pub fn project(&self, spec: &str, strict: bool) -> Result<String> {
        let spec = PartitionSpec::from_json(spec)?;
        let project = if strict { project_strict } else { project_inclusive };
        project(&self.bound, &self.schema, &spec).map(|projected| to_unbound_json(&projected))
    }

    /// Return the residual of the filter for a partition tuple, both as JSON.
    ///
    /// # Errors
    /// Errors of parsing and of [`residual`].
    pub fn residual(&self, spec: &str, partition: &str) -> Result<String> {
        let spec = PartitionSpec::from_json(spec)?;
        let tuple = partition_from_json(&spec.partition_type(&self.schema), partition)?;
        residual(&self.bound, &spec, &self.schema, &tuple).map(|left| to_unbound_json(&left))
    }

    /// Return in which partitions every row matches the filter, as their tuples, JSON arrays, prove.
    ///
    /// # Errors
    /// Errors of parsing and of [`residuals`].
    pub fn covers<'a>(
        &self,
        spec: &str,
        partitions: impl IntoIterator<Item = &'a str>,
    ) -> Result<BooleanArray> {
        let spec = PartitionSpec::from_json(spec)?;
        let partition_type = spec.partition_type(&self.schema);
        let tuples = partitions.into_iter().map(|it| partition_from_json(&partition_type, it));
        let tuples = tuples.collect::<Result<Vec<_>>>()?;
        let tuples = PartitionTuples::from_partitions(&partition_type, &tuples)?;
        let left = residuals(&self.bound, &spec, &self.schema, &tuples)?;
        let is_true = |place: &usize| left.predicates.get(*place) == Some(&Predicate::AlwaysTrue);
        Ok(left.index.iter().map(is_true).collect::<Vec<_>>().into())
    }

    /// Return which rows of a batch match the filter. Columns are resolved by name; a missing column is null.
    ///
    /// # Errors
    /// `Mismatch` where a column's type differs from the schema's.
    pub fn rows(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let place = |field_id: i32| {
            let path = self.schema.position_path(field_id)?;
            batch_path(self.schema.fields(), batch.schema_ref().fields(), &path)
        };
        filter_mask(&self.bound, batch, &place)
    }

    /// Return which data files might have a matching row, and which files' rows must all match, by their statistics.
    ///
    /// # Errors
    /// `Corrupt` where statistics cannot be decoded.
    pub fn files(&self, files: &RecordBatch) -> Result<(BooleanArray, BooleanArray)> {
        let (pruner, stats) = (Pruner::new(&self.bound), FileStats::new(files));
        Ok((pruner.might_match(&stats)?, pruner.must_match(&stats)?))
    }

    /// Return which manifests of a spec, as manifest file columns, might have a file with a matching row.
    ///
    /// # Errors
    /// `InvalidArgument` where the batch has no partition summaries.
    pub fn manifests(&self, spec: &str, manifests: &RecordBatch) -> Result<BooleanArray> {
        let spec = PartitionSpec::from_json(spec)?;
        let projected = project_inclusive(&self.bound, &self.schema, &spec)?;
        let summaries = manifests.column_by_name("partitions").and_then(|it| it.as_list_opt());
        let summaries = summaries.ok_or_else(|| {
            Error::invalid("manifests", "the batch has no column partitions with field summaries")
        })?;
        let partition_type = spec.partition_type(&self.schema);
        evaluate_inclusive(&projected, &ManifestSummaries::new(summaries, &partition_type))
    }
}

/// Return the path in a batch, resolved by name, of a path in the schema.
fn batch_path(fields: &[NestedField], columns: &Fields, path: &[usize]) -> Option<Vec<usize>> {
    let (first, rest) = path.split_first()?;
    let field = fields.get(*first)?;
    let (place, column) = columns.find(&field.name)?;
    let mut found = vec![place];
    if let (Type::Struct(inner), DataType::Struct(children)) =
        (&field.field_type, column.data_type())
        && !rest.is_empty()
    {
        found.extend(batch_path(&inner.fields, children, rest)?);
    }
    (found.len() == path.len()).then_some(found)
}

/// Bind a filter to the schema of a read context, `{"schema": .., "case-sensitive": true, ..}`, and return it as JSON with
/// full column names, literals of the columns' types and folded constants.
///
/// # Errors
/// `InvalidArgument` where the context has no schema; errors of [`parse_json`] and [`bind`].
pub fn validate(context: &str, filter: &str) -> Result<String> {
    let context: Value = serde_json::from_str(context)
        .map_err(|error| Error::invalid("context", format!("is not valid JSON: {error}")))?;
    let schema = context.get("schema").ok_or_else(|| Error::invalid("context", "has no schema"))?;
    let schema = Schema::from_value(schema)?;
    let case_sensitive = context.get("case-sensitive").and_then(Value::as_bool).unwrap_or(true);
    Ok(to_unbound_json(&bind(&parse_json(filter)?, &schema, case_sensitive)?))
}

//! Row filters that run while a file is decoded: other columns of filtered rows are not decoded.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use icefloe_format::predicate::{BoundPredicate, RowFilter, references};
use icefloe_format::spec::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ArrowPredicate;
use parquet::schema::types::SchemaDescriptor;

use super::columns::{BatchPlan, FileFacts};
use super::prune::prune;
use crate::error::{Error, Result};

/// A predicate to evaluate on every row of a file.
#[derive(Clone)]
pub(crate) struct RowTest {
    columns: BatchPlan,
    /// The path of each field in the batches of `columns`.
    paths: Arc<[(i32, Vec<usize>)]>,
    filter: Arc<RowFilter>,
}

impl RowTest {
    /// Return a test for rows that satisfy a predicate over `schema`, for batches that contain the decoded `leaves` as
    /// well.
    ///
    /// # Errors
    /// Errors of resolving the predicate's columns.
    pub(crate) fn matches(
        predicate: BoundPredicate,
        schema: &Schema,
        facts: &FileFacts<'_>,
        leaves: BTreeSet<usize>,
    ) -> Result<Self> {
        let field_ids = references(&predicate);
        let pruned = prune(schema, &field_ids);
        let paths = field_ids
            .iter()
            .filter_map(|id| Some((*id, pruned.position_path(*id)?)))
            .collect::<Vec<_>>();
        // Predicates are evaluated on views.
        let columns = BatchPlan::beside(&pruned, facts, true, leaves)?;
        let filter = Arc::new(RowFilter::new(&predicate));
        Ok(Self { columns, paths: paths.into(), filter })
    }

    /// Return the columns to decode for the test.
    pub(crate) fn columns(&self) -> &BatchPlan {
        &self.columns
    }

    /// Return the test as a step of the decoder.
    pub(crate) fn step(&self, descriptor: &SchemaDescriptor) -> Box<dyn ArrowPredicate> {
        Box::new(Step { mask: self.columns.mask(descriptor), test: self.clone() })
    }

    /// Return a mask of the rows of a decoded batch that satisfy the predicate.
    ///
    /// # Errors
    /// `Corrupt` for columns that cannot be converted to the table's types.
    pub(crate) fn passing(&self, decoded: &RecordBatch) -> Result<BooleanArray> {
        let batch = self.columns.make(decoded);
        let batch = batch.map_err(|error| data_error(self.columns.what, &error))?;
        let path_of = |id: i32| {
            self.paths.iter().find(|(known, _)| *known == id).map(|(_, path)| path.clone())
        };
        Ok(self.filter.mask(&batch, &path_of)?)
    }
}

struct Step {
    mask: ProjectionMask,
    test: RowTest,
}

impl ArrowPredicate for Step {
    fn projection(&self) -> &ProjectionMask {
        &self.mask
    }

    fn evaluate(&mut self, batch: RecordBatch) -> Result<BooleanArray, ArrowError> {
        let kept = self
            .test
            .passing(&batch)
            .map_err(|error| ArrowError::from_external_error(Box::new(error)))?;
        debug_assert_eq!(kept.len(), batch.num_rows());
        Ok(kept)
    }
}

fn data_error(what: &str, error: &ArrowError) -> Error {
    icefloe_format::Error::corrupt(what, error.to_string()).into()
}

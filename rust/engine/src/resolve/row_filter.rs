//! Row filters that run while a file is decoded: columns of rows they drop are never decoded.

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

/// One question asked of every row of a file.
#[derive(Clone)]
pub(crate) struct RowTest {
    columns: BatchPlan,
    /// Where each field is in the batches that `columns` makes.
    paths: Arc<[(i32, Vec<usize>)]>,
    question: Question,
}

#[derive(Clone)]
enum Question {
    /// Does the row satisfy a predicate?
    Matches(Arc<RowFilter>),
}

impl RowTest {
    /// Keep the rows that satisfy a predicate over `schema`, told from batches in which these leaves are
    /// decoded too.
    ///
    /// # Errors
    /// Those of resolving the predicate's columns.
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
        // No question needs strings gathered.
        let columns = BatchPlan::beside(&pruned, facts, true, leaves)?;
        let question = Question::Matches(Arc::new(RowFilter::new(&predicate)));
        Ok(Self { columns, paths: paths.into(), question })
    }

    /// What is decoded to answer.
    pub(crate) fn columns(&self) -> &BatchPlan {
        &self.columns
    }

    /// The test as a step of the decoder.
    pub(crate) fn step(&self, descriptor: &SchemaDescriptor) -> Box<dyn ArrowPredicate> {
        Box::new(Step { mask: self.columns.mask(descriptor), test: self.clone() })
    }

    /// Which rows of a decoded batch satisfy the predicate.
    ///
    /// # Errors
    /// `Corrupt` where the columns do not become the table's.
    pub(crate) fn kept(&self, decoded: &RecordBatch) -> Result<BooleanArray> {
        let batch = self.columns.make(decoded);
        let batch = batch.map_err(|error| data_error(self.columns.what, &error))?;
        match &self.question {
            Question::Matches(filter) => {
                let place = |id: i32| {
                    self.paths.iter().find(|(known, _)| *known == id).map(|(_, path)| path.clone())
                };
                Ok(filter.mask(&batch, &place)?)
            }
        }
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
            .kept(&batch)
            .map_err(|error| ArrowError::from_external_error(Box::new(error)))?;
        debug_assert_eq!(kept.len(), batch.num_rows());
        Ok(kept)
    }
}

fn data_error(what: &str, error: &ArrowError) -> Error {
    icefloe_format::Error::corrupt(what, error.to_string()).into()
}

//! Batches of formats that decode all columns of a row at once: Avro and ORC.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, Field, Fields, Schema as ArrowSchema};
use arrow_select::filter::filter_record_batch;
use icefloe_format::Error as FormatError;
use roaring::RoaringTreemap;

use crate::error::{Error, Result};
use crate::resolve::columns::BatchPlan;
use crate::resolve::deleted_rows::DeletedRows;
use crate::resolve::file_columns::FileColumn;
use crate::resolve::key_filters::KeyFilters;
use crate::resolve::prune::prune;
use crate::resolve::request::FileRequest;
use crate::resolve::row_filter::RowTest;

/// The filter, the deletes and the conversion of the decoded rows of a file.
pub(crate) struct WholeRows {
    pub(crate) location: String,
    what: &'static str,
    output: BatchPlan,
    tests: Vec<RowTest>,
    keys: Option<KeyFilters>,
    deleted: Option<Arc<RoaringTreemap>>,
}

impl WholeRows {
    /// Resolve a request against the columns of a file.
    ///
    /// # Errors
    /// Errors of resolving columns.
    pub(crate) fn new(
        request: &FileRequest<'_>,
        columns: &[FileColumn],
        what: &'static str,
    ) -> Result<Self> {
        Self::resolved(request, columns, what, |leaves| leaves)
    }

    /// As [`WholeRows::new`], for a decoder that decodes top-level columns with all of their children.
    ///
    /// # Errors
    /// As for [`WholeRows::new`].
    pub(crate) fn of_whole_columns(
        request: &FileRequest<'_>,
        columns: &[FileColumn],
        what: &'static str,
    ) -> Result<Self> {
        Self::resolved(request, columns, what, |leaves| {
            let touched = columns.iter().map(|column| column.leaves.clone());
            touched.filter(|all| leaves.range(all.clone()).next().is_some()).flatten().collect()
        })
    }

    fn resolved(
        request: &FileRequest<'_>,
        columns: &[FileColumn],
        what: &'static str,
        widened: impl Fn(BTreeSet<usize>) -> BTreeSet<usize>,
    ) -> Result<Self> {
        let facts = request.facts(what, columns, None);
        let alone = request.tests(&facts)?;
        let leaves = alone.iter().flat_map(|test| test.columns().leaves.iter().copied()).collect();
        let (projection, views) = (request.projection, request.string_views);
        let output = BatchPlan::beside(projection, &facts, views, leaves)?;
        let mut leaves = output.leaves;
        let sets = &request.deletes.keys;
        for set in sets {
            leaves
                .extend(BatchPlan::new(&prune(&set.schema, &set.field_ids), &facts, true)?.leaves);
        }
        let output = BatchPlan::beside(projection, &facts, views, widened(leaves))?;
        let wanted = (projection, &output, views);
        let keys = KeyFilters::new(sets, wanted, &facts, &|_| Ok(vec![0]))?;
        let output = keys.as_ref().map_or(output, |keys| keys.output.clone());
        let tests = request.tests_beside(&facts, &output.leaves)?;
        let (location, deleted) = (request.location.to_owned(), request.deletes.positions.clone());
        Ok(Self { location, what, output, tests, keys, deleted })
    }

    /// Return the leaves that are decoded.
    pub(crate) fn leaves(&self) -> &BTreeSet<usize> {
        &self.output.leaves
    }

    /// Return the batch of decoded rows, which may be empty. `columns` are the decoded leaves in file order;
    /// `first_row` is the position of the first row.
    ///
    /// # Errors
    /// `Corrupt` for columns that cannot be converted to the table's types.
    pub(crate) fn batch(
        &self,
        mut columns: Vec<ArrayRef>,
        rows: usize,
        first_row: u64,
    ) -> Result<RecordBatch> {
        let failed = |error: ArrowError| self.failed(&error);
        if self.output.needs_positions() {
            let first = i64::try_from(first_row).unwrap_or(i64::MAX);
            columns.push(Arc::new(Int64Array::from_iter_values((first..).take(rows))));
        }
        let decoded = batch_of(columns, rows).map_err(failed)?;
        let keys = self.keys.as_ref().map(|keys| keys.of_row_group(0)).unwrap_or_default();
        let mut deleted = DeletedRows { positions: self.deleted.as_deref(), keys, next: first_row };
        let mut kept = deleted.drop_from(decoded)?;
        for test in &self.tests {
            kept = filter_record_batch(&kept, &test.passing(&kept)?).map_err(failed)?;
        }
        self.output.make(&kept).map_err(failed)
    }

    /// Return the error of a failed conversion.
    fn failed(&self, error: &ArrowError) -> Error {
        Error::in_file(&self.location, FormatError::corrupt(self.what, error.to_string()))
    }
}

/// Return the columns as a batch without names.
fn batch_of(columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ArrowError> {
    let field = |column: &ArrayRef| Field::new("", column.data_type().clone(), true);
    let fields: Fields = columns.iter().map(field).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(ArrowSchema::new(fields)), columns, &options)
}

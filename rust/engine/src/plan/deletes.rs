//! The delete files of a plan, paired with its data files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{Field, Schema as ArrowSchema};
use arrow_select::concat::concat;
use arrow_select::take::take_record_batch;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{
    DeleteIndex, DeleteRuns, TableFacts, delete_runs_type, referenced_paths,
};
use icefloe_format::spec::PrimitiveType;

use super::columns::invalid;
use super::counters::PlanCounters;
use super::entries::PlannedEntries;
use super::residuals;
use crate::error::Result;
use crate::table::TableContext;

/// Columns of the deletes batch, and the entry columns they come from.
const COLUMNS: [(&str, &str); 10] = [
    ("content", "content"),
    ("file_path", "file_path"),
    ("file_format", "file_format"),
    ("spec_id", "spec_id"),
    ("partition", "partition"),
    ("record_count", "record_count"),
    ("file_size_in_bytes", "file_size_in_bytes"),
    ("data_sequence_number", "sequence_number"),
    ("equality_ids", "equality_ids"),
    (REFERENCED, REFERENCED),
];

/// The column of the one data file of a delete file, which equal bounds of `file_path` may state as well.
const REFERENCED: &str = "referenced_data_file";

/// Live delete files and the index that pairs them.
pub(crate) struct PlannedDeletes {
    entries: RecordBatch,
    referenced: ArrayRef,
    index: DeleteIndex,
}

impl TableFacts for TableContext {
    fn is_unpartitioned(&self, spec_id: i32) -> bool {
        self.specs.get(&spec_id).is_some_and(|spec| spec.is_unpartitioned())
    }

    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)> {
        let schema = self.schema_with_field(field_id)?;
        let inside_struct = schema.position_path(field_id).is_none_or(|path| path.len() > 1);
        let known = schema.primitive_type(field_id)?;
        // Bounds of a narrower type are read as the wider one.
        let promoted = self.may_be_promoted(field_id).then(|| known.widest_promotion());
        Some((promoted.unwrap_or(known), inside_struct))
    }
}

impl PlannedDeletes {
    pub(crate) fn new(
        planned: PlannedEntries,
        context: Arc<TableContext>,
        counters: &mut PlanCounters,
    ) -> Result<Self> {
        counters.delete_files_total = planned.total;
        let index = DeleteIndex::new(&planned.entries, context.as_ref())?;
        let referenced: StringArray = referenced_paths(&planned.entries)?.into_iter().collect();
        Ok(Self { entries: planned.entries, referenced: Arc::new(referenced), index })
    }

    /// Return the ids of the fields that equality deletes compare.
    pub(crate) fn equality_ids(&self) -> Vec<i32> {
        let lists = self.entries.column_by_name("equality_ids");
        let Some(lists) = lists.and_then(|lists| lists.as_list_opt::<i32>()) else { return vec![] };
        let mut ids: Vec<i32> = lists
            .iter()
            .flatten()
            .filter_map(|ids| ids.as_primitive_opt::<Int32Type>().map(|ids| ids.values().to_vec()))
            .flatten()
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Return for each data file runs of rows of a batch of delete files, and this batch, which has only delete files
    /// that some data file needs.
    pub(crate) fn pair(&self, data: &RecordBatch) -> Result<(ListArray, RecordBatch)> {
        if self.index.is_empty() || data.num_rows() == 0 {
            return Ok((DeleteRuns::none(data.num_rows()).into_array()?, self.batch(&[])?));
        }
        let order = self.index.order();
        let (runs, used) = self.index.applying(data)?.compact(order.len());
        let rows: Vec<u32> =
            used.iter().filter_map(|index| order.get(*index as usize).copied()).collect();
        Ok((runs.into_array()?, self.batch(&rows)?))
    }

    fn batch(&self, rows: &[u32]) -> Result<RecordBatch> {
        let (mut fields, mut columns) = (vec![], vec![]);
        for (name, entry_name) in COLUMNS {
            let stored = self.entries.column_by_name(entry_name);
            let column = if name == REFERENCED { Some(&self.referenced) } else { stored };
            let column = column.ok_or_else(|| unexpected("expected all entry columns"))?;
            fields.push(Field::new(name, column.data_type().clone(), true));
            columns.push(Arc::clone(column));
        }
        let all = RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns);
        let rows = UInt32Array::from(rows.to_vec());
        take_record_batch(&all.map_err(invalid)?, &rows).map_err(invalid)
    }
}

/// Columns of files with runs of rows of the deletes.
const RUNS: [&str; 2] = ["deletes", "marks"];

/// Return the files of a plan with only their own deletes and residuals.
///
/// # Errors
/// `InvalidArgument` where `files` has no column of runs of deletes.
pub fn own_deletes(
    files: &RecordBatch,
    deletes: &RecordBatch,
) -> Result<(RecordBatch, RecordBatch)> {
    let schema = files.schema();
    let mut columns = files.columns().to_vec();
    let indices: Vec<usize> = RUNS.iter().filter_map(|name| schema.index_of(name).ok()).collect();
    let mut needed = Vec::with_capacity(indices.len());
    for index in &indices {
        let runs = columns.get(*index).and_then(|column| column.as_list_opt::<i32>());
        let runs = runs.filter(|runs| *runs.data_type() == delete_runs_type());
        needed.push(runs.cloned().ok_or_else(|| unexpected("expected deletes as runs of rows"))?);
    }
    if needed.is_empty() {
        return Err(unexpected("expected a column of deletes"));
    }
    let both: Vec<&dyn Array> = needed.iter().map(|runs| runs as &dyn Array).collect();
    let all = concat(&both).map_err(invalid)?;
    let (runs, used) = DeleteRuns::of(all.as_list::<i32>()).compact(deletes.num_rows());
    let runs = runs.into_array()?;
    for (number, (index, old)) in indices.iter().zip(&needed).enumerate() {
        let own = runs.slice(number * files.num_rows(), files.num_rows());
        let (field, offsets, values, _) = own.into_parts();
        let own = ListArray::try_new(field, offsets, values, old.nulls().cloned());
        if let Some(column) = columns.get_mut(*index) {
            *column = Arc::new(own.map_err(invalid)?);
        }
    }
    let files =
        residuals::with_own_residuals(RecordBatch::try_new(schema, columns).map_err(invalid)?)?;
    let deletes = take_record_batch(deletes, &UInt32Array::from(used)).map_err(invalid)?;
    Ok((files, deletes))
}

fn unexpected(reason: &str) -> crate::Error {
    FormatError::invalid("delete files", reason).into()
}

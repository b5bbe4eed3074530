//! The delete files of a plan, paired with its data files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, Int32Array, ListArray, RecordBatch, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use arrow_select::take::take_record_batch;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{DeleteIndex, TableFacts};
use icefloe_format::spec::PrimitiveType;

use super::context::TableContext;
use super::counters::PlanCounters;
use super::entries::{PlannedEntries, invalid};
use crate::error::Result;

/// Columns of the deletes batch, and the entry columns that they are.
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
    ("referenced_data_file", "referenced_data_file"),
];

/// Live delete files and the index that pairs them.
pub(crate) struct PlannedDeletes {
    entries: RecordBatch,
    index: DeleteIndex,
}

impl TableFacts for TableContext {
    fn is_unpartitioned(&self, spec_id: i32) -> bool {
        self.specs.get(&spec_id).is_some_and(|spec| spec.is_unpartitioned())
    }

    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)> {
        let schema = self.schema_with_field(field_id)?;
        let inside_struct = schema.position_path(field_id).is_none_or(|path| path.len() > 1);
        Some((schema.primitive_type(field_id)?, inside_struct))
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
        Ok(Self { entries: planned.entries, index })
    }

    /// Fields that equality deletes compare.
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

    /// For each data file the rows of the batch beside it, which has only those delete files that some data
    /// file needs.
    pub(crate) fn pair(&self, data: &RecordBatch) -> Result<(ListArray, RecordBatch)> {
        if self.index.is_empty() || data.num_rows() == 0 {
            return Ok((empty_lists(data.num_rows()), self.batch(&[])?));
        }
        let lists = self.index.applying(data)?;
        let applying = lists.values().as_primitive_opt::<Int32Type>();
        let applying = applying.ok_or_else(|| unexpected("delete rows are not int32"))?;
        let (numbers, used) = renumber(applying.values(), self.entries.num_rows());
        let deletes = self.batch(&used)?;
        if used.len() == numbers.len() {
            return Ok((lists, deletes));
        }
        let number = |row: i32| numbers.get(row.cast_unsigned() as usize).copied().unwrap_or(row);
        let values = Arc::new(applying.unary::<_, Int32Type>(number));
        let lists = ListArray::try_new(item(), lists.offsets().clone(), values, None);
        Ok((lists.map_err(invalid)?, deletes))
    }

    fn batch(&self, rows: &[u32]) -> Result<RecordBatch> {
        let (mut fields, mut columns) = (vec![], vec![]);
        for (name, entry_name) in COLUMNS {
            let column = self.entries.column_by_name(entry_name);
            let column = column.ok_or_else(|| unexpected("an entry column is absent"))?;
            fields.push(Field::new(name, column.data_type().clone(), true));
            columns.push(Arc::clone(column));
        }
        let all = RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns);
        let rows = UInt32Array::from(rows.to_vec());
        take_record_batch(&all.map_err(invalid)?, &rows).map_err(invalid)
    }
}

/// The rows that are used, in their order, and for each row its number among them.
fn renumber(applying: &[i32], rows: usize) -> (Vec<i32>, Vec<u32>) {
    let mut is_used = vec![false; rows];
    for row in applying {
        if let Some(used) = is_used.get_mut(row.cast_unsigned() as usize) {
            *used = true;
        }
    }
    let (mut numbers, mut used) = (Vec::with_capacity(rows), Vec::new());
    for (row, is_used) in (0..).zip(is_used) {
        numbers.push((used.len() as u32).cast_signed());
        if is_used {
            used.push(row);
        }
    }
    (numbers, used)
}

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Int32, true))
}

fn empty_lists(rows: usize) -> ListArray {
    let offsets = OffsetBuffer::new_zeroed(rows);
    ListArray::new(item(), offsets, Arc::new(Int32Array::from(Vec::<i32>::new())), None)
}

fn unexpected(reason: &str) -> crate::Error {
    FormatError::invalid("delete files", reason).into()
}

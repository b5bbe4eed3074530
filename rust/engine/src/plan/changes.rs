//! The difference between two states of a table, as tasks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder, StructBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Fields, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use icefloe_format::Error as FormatError;

use super::columns::invalid;
use crate::error::Result;

/// The rows of one state that another lacks, as tasks.
#[derive(Debug, Clone)]
pub struct PlanChanges {
    /// Tasks of the rows that only the later state has.
    pub inserted: RecordBatch,
    /// Tasks of the rows that only the earlier state has.
    pub deleted: RecordBatch,
    /// The delete files that both refer to.
    pub deletes: RecordBatch,
}

/// Compare the plans (files and deletes) of two states of a table, both of whole files. A file of one state is read as
/// that state reads it. In a file of both states, the rows are marked that delete files of only one state delete.
///
/// # Errors
/// `InvalidArgument` for batches that are not of plans.
pub fn changes(
    before: (&RecordBatch, &RecordBatch),
    after: (&RecordBatch, &RecordBatch),
) -> Result<PlanChanges> {
    let known = before.1.num_rows();
    let mut numbers = HashMap::with_capacity(known);
    for (number, key) in (0_i32..).zip(delete_keys(before.1)?) {
        numbers.entry(key).or_insert(number);
    }
    let after_numbers = (0_i32..).zip(delete_keys(after.1)?).map(|(row, key)| {
        let own = row.saturating_add(i32::try_from(known).unwrap_or(i32::MAX));
        numbers.get(&key).copied().unwrap_or(own)
    });
    let after_numbers: Vec<i32> = after_numbers.collect();
    let before_lists = lists(column(before.0, "deletes")?)?;
    let mut after_lists = lists(column(after.0, "deletes")?)?;
    for number in after_lists.iter_mut().flatten() {
        let index = usize::try_from(*number).unwrap_or(usize::MAX);
        *number = *after_numbers.get(index).ok_or_else(|| unexpected("deletes"))?;
    }
    let (inserted, deleted) =
        compared((paths(before.0)?, before_lists), (paths(after.0)?, after_lists));
    let deletes = concat_batches(&before.1.schema(), [before.1, after.1]).map_err(invalid)?;
    Ok(PlanChanges { inserted: inserted.of(after.0)?, deleted: deleted.of(before.0)?, deletes })
}

type Lists = Vec<Vec<i32>>;

/// Tasks made from rows of a plan's files.
#[derive(Default)]
struct Tasks {
    rows: Vec<u32>,
    deletes: Vec<Option<Vec<i32>>>,
    marks: Vec<Option<Vec<i32>>>,
}

fn compared(
    (before_paths, before_lists): (&StringArray, Lists),
    (after_paths, after_lists): (&StringArray, Lists),
) -> (Tasks, Tasks) {
    let (mut inserted, mut deleted) = (Tasks::default(), Tasks::default());
    let after: HashMap<_, _> = after_paths.iter().zip(0..).collect();
    let before: HashMap<_, _> = before_paths.iter().zip(0..).collect();
    for ((path, row), list) in before_paths.iter().zip(0..).zip(&before_lists) {
        match after.get(&path).and_then(|row: &usize| after_lists.get(*row)) {
            None => deleted.push(row, list, None),
            Some(later) => deleted.push_marked(row, list, later),
        }
    }
    for ((path, row), list) in after_paths.iter().zip(0..).zip(&after_lists) {
        match before.get(&path).and_then(|row: &usize| before_lists.get(*row)) {
            None => inserted.push(row, list, None),
            Some(earlier) => inserted.push_marked(row, list, earlier),
        }
    }
    (inserted, deleted)
}

impl Tasks {
    fn push(&mut self, row: u32, deletes: &[i32], marks: Option<Vec<i32>>) {
        self.rows.push(row);
        self.deletes.push(Some(deletes.to_vec()));
        self.marks.push(marks);
    }

    /// Add a task for the rows that `marks` delete and `deletes` do not.
    fn push_marked(&mut self, row: u32, own: &[i32], others: &[i32]) {
        if own == others {
            return;
        }
        let known: HashSet<_> = own.iter().collect();
        let marks: Vec<i32> = others.iter().filter(|it| !known.contains(it)).copied().collect();
        if !marks.is_empty() {
            self.push(row, own, Some(marks));
        }
    }

    fn of(self, files: &RecordBatch) -> Result<RecordBatch> {
        let taken = take_record_batch(files, &UInt32Array::from(self.rows)).map_err(invalid)?;
        let index = files.schema().index_of("deletes").map_err(invalid)?;
        let like = taken.column(index).data_type().clone();
        let mut fields: Vec<_> = taken.schema().fields().iter().cloned().collect();
        let mut columns = taken.columns().to_vec();
        if let Some(column) = columns.get_mut(index) {
            *column = list_column(&self.deletes, &like)?;
        }
        fields.push(Arc::new(Field::new("marks", like.clone(), true)));
        columns.push(list_column(&self.marks, &like)?);
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(invalid)
    }
}

/// Return the delete files of each row of a column of numbers or of runs of numbers.
fn lists(column: &ArrayRef) -> Result<Lists> {
    let lists = column.as_list_opt::<i32>().ok_or_else(|| unexpected("deletes"))?;
    let of_row = |row: usize| -> Option<Vec<i32>> {
        let values = lists.value(row);
        if let Some(numbers) = values.as_primitive_opt::<Int32Type>() {
            return Some(numbers.values().to_vec());
        }
        let runs = values.as_struct_opt()?;
        let firsts = runs.column_by_name("first")?.as_primitive_opt::<Int32Type>()?;
        let counts = runs.column_by_name("count")?.as_primitive_opt::<Int32Type>()?;
        let ranges = firsts.values().iter().zip(counts.values());
        Some(ranges.flat_map(|(first, count)| *first..first.saturating_add(*count)).collect())
    };
    let rows = (0..lists.len()).map(|row| match lists.is_valid(row) {
        true => of_row(row).ok_or_else(|| unexpected("deletes")),
        false => Ok(vec![]),
    });
    rows.collect()
}

fn list_column(lists: &[Option<Vec<i32>>], like: &DataType) -> Result<ArrayRef> {
    let DataType::List(item) = like else { return Err(unexpected("deletes")) };
    if let DataType::Struct(fields) = item.data_type() {
        return Ok(run_column(lists, item, fields));
    }
    let mut builder = ListBuilder::new(Int32Builder::new()).with_field(Arc::clone(item));
    for list in lists {
        if let Some(numbers) = list {
            builder.values().append_slice(numbers);
        }
        builder.append(list.is_some());
    }
    Ok(Arc::new(builder.finish()))
}

fn run_column(lists: &[Option<Vec<i32>>], item: &Arc<Field>, fields: &Fields) -> ArrayRef {
    let runs = StructBuilder::from_fields(fields.clone(), lists.len());
    let mut builder = ListBuilder::new(runs).with_field(Arc::clone(item));
    for list in lists {
        let mut numbers = list.clone().unwrap_or_default();
        numbers.sort_unstable();
        for (first, count) in runs_of(&numbers) {
            for (index, value) in [first, count].into_iter().enumerate() {
                if let Some(field) = builder.values().field_builder::<Int32Builder>(index) {
                    field.append_value(value);
                }
            }
            builder.values().append(true);
        }
        builder.append(list.is_some());
    }
    Arc::new(builder.finish())
}

/// Return ascending numbers as runs, each a first number and a count.
fn runs_of(numbers: &[i32]) -> Vec<(i32, i32)> {
    let mut runs: Vec<(i32, i32)> = vec![];
    for number in numbers {
        match runs.last_mut() {
            Some((first, count)) if first.checked_add(*count) == Some(*number) => *count += 1,
            _ => runs.push((*number, 1)),
        }
    }
    runs
}

fn paths(files: &RecordBatch) -> Result<&StringArray> {
    column(files, "file_path")?.as_string_opt::<i32>().ok_or_else(|| unexpected("file_path"))
}

/// Return the identity of a delete: one delete file may hold the deletes of several data files.
fn delete_keys(deletes: &RecordBatch) -> Result<impl Iterator<Item = (&str, Option<&str>)>> {
    let references = deletes.column_by_name("referenced_data_file");
    let references = references.and_then(|column| column.as_string_opt::<i32>());
    let keys = paths(deletes)?.iter().enumerate().map(move |(row, path)| {
        let reference = references.filter(|column| column.is_valid(row));
        (path.unwrap_or_default(), reference.map(|column| column.value(row)))
    });
    Ok(keys)
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(|| unexpected(name))
}

fn unexpected(name: &str) -> crate::Error {
    FormatError::invalid("files", format!("expected the column {name} of a plan")).into()
}

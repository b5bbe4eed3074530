//! The difference between two states of a table, as tasks.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StringArray, UInt32Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{DeleteRuns, delete_runs, delete_runs_type};

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
/// Runs of delete files are compared as runs: their numbers are as many as the product of files and delete files.
///
/// # Errors
/// `InvalidArgument` for batches that are not of plans.
pub fn changes(
    before: (&RecordBatch, &RecordBatch),
    after: (&RecordBatch, &RecordBatch),
) -> Result<PlanChanges> {
    let (before_numbers, after_numbers) = numberings(before.1, after.1)?;
    let before_runs = numbered_runs(before.0, &before_numbers)?;
    let after_runs = numbered_runs(after.0, &after_numbers)?;
    let before_files = Files { paths: paths(before.0)?, runs: &before_runs };
    let after_files = Files { paths: paths(after.0)?, runs: &after_runs };
    let deleted = before_files.tasks(&after_files).of(before.0, &before_runs)?;
    let inserted = after_files.tasks(&before_files).of(after.0, &after_runs)?;
    let deletes = concat_batches(&before.1.schema(), [before.1, after.1]).map_err(invalid)?;
    Ok(PlanChanges { inserted, deleted, deletes })
}

/// Numbers of delete files, ascending and separate.
type Runs = Vec<Range<u32>>;

/// The numbers of a state's delete files among the delete files of both states.
#[derive(Debug, Default)]
struct Numbering {
    /// Rows of the state's delete files with consecutive numbers, and the first number. The pieces cover all rows.
    pieces: Vec<(Range<u32>, u32)>,
}

/// Return the numberings of the earlier and of the later state. A delete file of both states has one number.
fn numberings(before: &RecordBatch, after: &RecordBatch) -> Result<(Numbering, Numbering)> {
    let mut known = HashMap::with_capacity(before.num_rows());
    for (number, key) in (0_u32..).zip(delete_keys(before)?) {
        known.entry(key).or_insert(number);
    }
    let rows =
        |batch: &RecordBatch| u32::try_from(batch.num_rows()).map_err(|_| unexpected("deletes"));
    let added = rows(before)?;
    added.checked_add(rows(after)?).ok_or_else(|| unexpected("deletes"))?;
    let later = (added..).zip(delete_keys(after)?);
    let later = later.map(|(number, key)| known.get(&key).copied().unwrap_or(number));
    Ok(((0..added).collect(), later.collect()))
}

impl FromIterator<u32> for Numbering {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Self {
        let mut pieces: Vec<(Range<u32>, u32)> = Vec::new();
        for (row, number) in (0..).zip(numbers) {
            match pieces.last_mut() {
                Some((rows, first)) if *first + (row - rows.start) == number => rows.end = row + 1,
                _ => pieces.push((row..row + 1, number)),
            }
        }
        Self { pieces }
    }
}

impl Numbering {
    /// Add the numbers of a run of rows to `found`. `None` if the rows are not in the state.
    fn add(&self, run: &Range<u32>, found: &mut Runs) -> Option<()> {
        let first = self.pieces.partition_point(|(rows, _)| rows.end <= run.start);
        let mut next = run.start;
        let pieces = self.pieces.iter().skip(first);
        for (rows, number) in pieces.take_while(|(rows, _)| rows.start < run.end) {
            let (start, end) = (next - rows.start, run.end.min(rows.end) - rows.start);
            found.push(number + start..number + end);
            next = rows.start + end;
        }
        (next >= run.end).then_some(())
    }
}

/// Return the numbers of the delete files of each file of a plan.
fn numbered_runs(files: &RecordBatch, numbering: &Numbering) -> Result<Vec<Runs>> {
    let lists = column(files, "deletes")?;
    let lists = lists.as_list_opt::<i32>().filter(|_| *lists.data_type() == delete_runs_type());
    let lists = lists.ok_or_else(|| unexpected("deletes"))?;
    let rows = |(first, count): (i32, i32)| {
        let (first, count) = (u32::try_from(first).ok()?, u32::try_from(count).ok()?);
        Some(first..first.checked_add(count)?)
    };
    let files = (0..lists.len()).map(|file| {
        let mut found = Runs::new();
        for run in delete_runs(lists, file) {
            let added = rows(run).and_then(|run| numbering.add(&run, &mut found));
            added.ok_or_else(|| unexpected("deletes"))?;
        }
        Ok(merged(found))
    });
    files.collect()
}

/// Sort runs and merge runs that overlap or touch.
fn merged(mut runs: Runs) -> Runs {
    runs.sort_unstable_by_key(|run| (run.start, run.end));
    runs.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    runs
}

/// Return the numbers of `runs` that are not in `others`.
fn without(runs: &[Range<u32>], others: &[Range<u32>]) -> Runs {
    let mut found = Runs::new();
    for run in runs {
        let first = others.partition_point(|other| other.end <= run.start);
        let mut next = run.start;
        let others = others.iter().skip(first);
        for other in others.take_while(|other| other.start < run.end) {
            found.push(next..other.start);
            next = other.end;
        }
        found.push(next..run.end);
    }
    found.retain(|run| !run.is_empty());
    found
}

/// The files of a plan, and the numbers of the delete files of each file.
struct Files<'a> {
    paths: &'a StringArray,
    runs: &'a [Runs],
}

/// Tasks made from rows of a plan's files.
#[derive(Default)]
struct Tasks {
    rows: Vec<u32>,
    marks: Vec<Option<Runs>>,
}

impl Files<'_> {
    /// Return the tasks of the rows that another state lacks.
    fn tasks(&self, other: &Files<'_>) -> Tasks {
        let others: HashMap<_, _> = other.paths.iter().zip(other.runs).collect();
        let mut tasks = Tasks::default();
        for (row, (path, own)) in (0..).zip(self.paths.iter().zip(self.runs)) {
            let marks = others.get(&path).map(|others| without(others, own));
            if marks.as_ref().is_none_or(|marks| !marks.is_empty()) {
                tasks.rows.push(row);
                tasks.marks.push(marks);
            }
        }
        tasks
    }
}

impl Tasks {
    /// Return the tasks as a batch. `runs` has the numbers of the delete files of each of `files`.
    fn of(self, files: &RecordBatch, runs: &[Runs]) -> Result<RecordBatch> {
        let deletes = self.rows.iter().map(|row| runs.get(*row as usize));
        let deletes = run_column(deletes.map(|runs| runs.map_or(&[][..], Vec::as_slice)))?;
        let marks =
            run_column(self.marks.iter().map(|marks| marks.as_deref().unwrap_or_default()))?;
        let (field, offsets, values, _) = marks.into_parts();
        let is_marked = NullBuffer::from_iter(self.marks.iter().map(Option::is_some));
        let marks = ListArray::try_new(field, offsets, values, Some(is_marked)).map_err(invalid)?;
        let taken = take_record_batch(files, &UInt32Array::from(self.rows)).map_err(invalid)?;
        let index = files.schema().index_of("deletes").map_err(invalid)?;
        let mut fields: Vec<_> = taken.schema().fields().iter().cloned().collect();
        let mut columns = taken.columns().to_vec();
        if let Some(column) = columns.get_mut(index) {
            *column = Arc::new(deletes);
        }
        fields.push(Arc::new(Field::new("marks", delete_runs_type(), true)));
        columns.push(Arc::new(marks));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(invalid)
    }
}

/// Return a column of runs, of which none is null.
fn run_column<'a>(lists: impl Iterator<Item = &'a [Range<u32>]>) -> Result<ListArray> {
    let mut column = DeleteRuns::default();
    for runs in lists {
        let mut runs: Vec<_> = runs.iter().map(|run| (run.start, run.end - run.start)).collect();
        column.push(&mut runs)?;
    }
    Ok(column.into_array()?)
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

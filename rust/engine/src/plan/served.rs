//! Plans that a catalog server made: the tasks in its replies, as columns. Spec: REST catalog, plan table scan.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    StructArray, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;
use icefloe_format::Error as FormatError;
use icefloe_format::delete::delete_runs_type;
use serde::Deserialize;
use serde_json::Value;

use super::columns::invalid;
use super::counters::PlanCounters;
use super::residuals;
use super::splits::append_splits;
use super::tasks::ScanPlan;
use crate::error::Result;
use crate::table::TableContext;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Reply {
    file_scan_tasks: Option<Vec<Task>>,
    delete_files: Option<Vec<File>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Task {
    data_file: File,
    delete_file_references: Option<Vec<usize>>,
    residual_filter: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct File {
    content: String,
    file_path: String,
    file_format: String,
    spec_id: i32,
    partition: Option<Value>,
    record_count: i64,
    file_size_in_bytes: i64,
    split_offsets: Option<Vec<i64>>,
    equality_ids: Option<Vec<i32>>,
    sort_order_id: Option<i32>,
    data_sequence_number: Option<i64>,
    referenced_data_file: Option<String>,
    content_offset: Option<i64>,
}

/// Return the plan in the replies of a server.
///
/// # Arguments
/// * `replies`: JSON objects with `file-scan-tasks` and `delete-files`; references of tasks are positions in the same
///   reply.
/// * `filter`: the filter of the scan, by which the rows of each file are read, unless the server proved that all match.
/// * `split_size`: target bytes of a task; `None` for whole files.
///
/// # Errors
/// `InvalidArgument` for a reply of another form.
pub fn served(
    replies: &[Vec<u8>],
    context: &TableContext,
    filter: &str,
    split_size: Option<u64>,
) -> Result<ScanPlan> {
    let (mut tasks, mut deletes) = (Vec::new(), Vec::new());
    let mut known: HashMap<String, usize> = HashMap::new();
    for reply in replies {
        let reply: Reply =
            serde_json::from_slice(reply).map_err(|error| unexpected(error.to_string()))?;
        let mut rows = Vec::new();
        for file in reply.delete_files.into_iter().flatten() {
            let row = *known.entry(file.file_path.clone()).or_insert(deletes.len());
            if row == deletes.len() {
                deletes.push(file);
            }
            rows.push(row);
        }
        for task in reply.file_scan_tasks.into_iter().flatten() {
            let references = task.delete_file_references.iter().flatten();
            let own = references.map(|at| rows.get(*at).copied().ok_or(*at));
            let mut own = own.collect::<std::result::Result<Vec<_>, _>>().map_err(|at| {
                unexpected(format!(
                    "delete-file-references: expected one of {}, got {at}",
                    rows.len()
                ))
            })?;
            own.sort_unstable();
            own.dedup();
            let all_match = task.residual_filter.as_ref().is_some_and(is_true);
            tasks.push(Planned { file: task.data_file, deletes: own, all_match });
        }
    }
    assemble(&tasks, &deletes, context, filter, split_size)
}

struct Planned {
    file: File,
    /// Rows of the delete files.
    deletes: Vec<usize>,
    all_match: bool,
}

fn assemble(
    tasks: &[Planned],
    deletes: &[File],
    context: &TableContext,
    filter: &str,
    split_size: Option<u64>,
) -> Result<ScanPlan> {
    let files = data_files(&parts(tasks, split_size)?, context, filter)?;
    let sum = |number: fn(&File) -> i64| {
        let numbers = tasks.iter().map(|task| u64::try_from(number(&task.file)).unwrap_or(0));
        numbers.fold(0, u64::saturating_add)
    };
    let counters = PlanCounters {
        files_planned: tasks.len() as u64,
        delete_files_planned: deletes.len() as u64,
        bytes_planned: sum(|file| file.file_size_in_bytes),
        records_planned: sum(|file| file.record_count),
        ..PlanCounters::default()
    };
    Ok(ScanPlan { files, deletes: delete_files(deletes, context)?, counters })
}

/// A part of a data file: its task, first byte and bytes.
type Part<'a> = (&'a Planned, i64, i64);

fn parts(tasks: &[Planned], split_size: Option<u64>) -> Result<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    for task in tasks {
        if content(&task.file)? != 0 {
            return Err(unexpected(format!("data-file: expected data, got {}", task.file.content)));
        }
        let size = u64::try_from(task.file.file_size_in_bytes).unwrap_or(0);
        let splittable = task.file.file_format.eq_ignore_ascii_case("parquet");
        let mut ranges = Vec::new();
        let offsets = task.file.split_offsets.as_deref();
        append_splits(&mut ranges, size, offsets, split_size, splittable);
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        parts.extend(ranges.iter().map(|it| (task, signed(it.start), signed(it.end - it.start))));
    }
    Ok(parts)
}

fn data_files(parts: &[Part<'_>], context: &TableContext, filter: &str) -> Result<RecordBatch> {
    let unfiltered = serde_json::from_str(filter).is_ok_and(|filter| is_true(&filter));
    let residual = parts.iter().map(|(task, ..)| (!unfiltered && !task.all_match).then_some(0));
    let residual = residuals::of(vec![filter.to_owned()], residual.collect())?;
    let must_match: BooleanArray =
        parts.iter().map(|(task, ..)| Some(unfiltered || task.all_match)).collect();
    let files: Vec<&File> = parts.iter().map(|(task, ..)| &task.file).collect();
    let mut columns = shared(&files, context)?;
    columns.extend([
        ("start", longs(parts.iter().map(|(_, start, _)| Some(*start)))),
        ("length", longs(parts.iter().map(|(_, _, length)| Some(*length)))),
        ("file_sequence_number", new_null_array(&DataType::Int64, parts.len())),
        ("sort_order_id", ints(files.iter().map(|file| file.sort_order_id))),
        ("split_offsets", offset_lists(&files)),
        ("residual", Arc::new(residual) as ArrayRef),
        ("must_match", Arc::new(must_match) as ArrayRef),
        ("deletes", delete_runs(parts)?),
    ]);
    batch(columns)
}

fn delete_files(deletes: &[File], context: &TableContext) -> Result<RecordBatch> {
    let files: Vec<&File> = deletes.iter().collect();
    let mut columns = shared(&files, context)?;
    let kinds = files.iter().map(|file| content(file).map(Some)).collect::<Result<Vec<_>>>()?;
    columns.extend([
        ("content", ints(kinds.into_iter())),
        ("equality_ids", id_lists(&files)),
        ("referenced_data_file", texts(files.iter().map(|file| file.referenced_data_file.clone()))),
    ]);
    batch(columns)
}

/// Return the columns that data files and delete files share.
fn shared(files: &[&File], context: &TableContext) -> Result<Vec<(&'static str, ArrayRef)>> {
    let partitions =
        files.iter().map(|file| partition(file, context)).collect::<Result<Vec<_>>>()?;
    for file in files {
        if file.record_count < 0 || file.file_size_in_bytes < 0 {
            return Err(unexpected(format!("{}: expected counts of 0 or more", file.file_path)));
        }
        if file.content_offset.is_some() {
            let what = format!("deletion vector {} in a plan of the server", file.file_path);
            return Err(FormatError::unsupported(what).into());
        }
    }
    let formats = files.iter().map(|file| Some(file.file_format.to_ascii_uppercase()));
    Ok(vec![
        ("file_path", texts(files.iter().map(|file| Some(file.file_path.clone())))),
        ("file_format", texts(formats)),
        ("spec_id", ints(files.iter().map(|file| Some(file.spec_id)))),
        ("partition", texts(partitions.into_iter().map(Some))),
        ("record_count", longs(files.iter().map(|file| Some(file.record_count)))),
        ("file_size_in_bytes", longs(files.iter().map(|file| Some(file.file_size_in_bytes)))),
        ("data_sequence_number", longs(files.iter().map(|file| file.data_sequence_number))),
    ])
}

/// Return the partition tuple as a JSON array. Servers send an array in the order of the spec, or an object by field
/// id.
fn partition(file: &File, context: &TableContext) -> Result<String> {
    let spec = context.specs.get(&file.spec_id).ok_or_else(|| {
        unexpected(format!(
            "{}: expected a partition spec of the table, got {}",
            file.file_path, file.spec_id
        ))
    })?;
    let values = match &file.partition {
        None => vec![],
        Some(Value::Array(values)) => values.clone(),
        Some(Value::Object(values)) => {
            let by_id = spec.fields.iter().map(|field| values.get(&field.field_id.to_string()));
            by_id.map(|value| value.cloned().unwrap_or(Value::Null)).collect()
        }
        Some(other) => {
            return Err(unexpected(format!("partition: expected an array, got {other}")));
        }
    };
    if values.len() != spec.fields.len() {
        let (expected, got) = (spec.fields.len(), values.len());
        return Err(unexpected(format!("partition: expected {expected} values, got {got}")));
    }
    Ok(Value::Array(values).to_string())
}

fn content(file: &File) -> Result<i32> {
    match file.content.to_ascii_lowercase().replace('_', "-").as_str() {
        "data" => Ok(0),
        "position-deletes" => Ok(1),
        "equality-deletes" => Ok(2),
        other => Err(unexpected(format!(
            "content: expected data, position-deletes or equality-deletes, got {other:?}"
        ))),
    }
}

fn is_true(filter: &Value) -> bool {
    filter == &Value::Bool(true) || filter.get("type").is_some_and(|kind| kind == "true")
}

/// Return the delete files of each task as runs of one file each.
fn delete_runs(parts: &[(&Planned, i64, i64)]) -> Result<ArrayRef> {
    let DataType::List(item) = delete_runs_type() else {
        return Err(unexpected("expected a list of runs".to_owned()));
    };
    let DataType::Struct(fields) = item.data_type().clone() else {
        return Err(unexpected("expected runs as structs".to_owned()));
    };
    let rows = parts.iter().flat_map(|(task, ..)| &task.deletes);
    let first = rows.map(|row| i32::try_from(*row)).collect::<std::result::Result<Vec<_>, _>>();
    let first = first.map_err(|error| unexpected(error.to_string()))?;
    let count = Int32Array::from(vec![1; first.len()]);
    let runs: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(first)), Arc::new(count)];
    let runs = StructArray::try_new(fields, runs, None).map_err(invalid)?;
    let offsets = OffsetBuffer::from_lengths(parts.iter().map(|(task, ..)| task.deletes.len()));
    let lists = ListArray::try_new(item, offsets, Arc::new(runs), None).map_err(invalid)?;
    Ok(Arc::new(lists))
}

fn offset_lists(files: &[&File]) -> ArrayRef {
    let mut lists = ListBuilder::new(Int64Builder::new());
    for file in files {
        lists.append_option(file.split_offsets.as_ref().map(|it| it.iter().copied().map(Some)));
    }
    Arc::new(lists.finish())
}

fn id_lists(files: &[&File]) -> ArrayRef {
    let mut lists = ListBuilder::new(Int32Builder::new());
    for file in files {
        lists.append_option(file.equality_ids.as_ref().map(|it| it.iter().copied().map(Some)));
    }
    Arc::new(lists.finish())
}

fn longs(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn ints(values: impl Iterator<Item = Option<i32>>) -> ArrayRef {
    Arc::new(values.collect::<Int32Array>())
}

fn texts(values: impl Iterator<Item = Option<String>>) -> ArrayRef {
    let mut builder = StringBuilder::new();
    values.for_each(|value| builder.append_option(value));
    let texts: StringArray = builder.finish();
    Arc::new(texts)
}

fn batch(columns: Vec<(&'static str, ArrayRef)>) -> Result<RecordBatch> {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).map_err(invalid)
}

fn unexpected(reason: String) -> crate::Error {
    FormatError::invalid("plan of the server", reason).into()
}

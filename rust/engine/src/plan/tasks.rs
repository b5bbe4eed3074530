//! Scan tasks as columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::{Field, Schema};
use arrow_select::take::take;
use icefloe_format::Error as FormatError;

use super::columns::invalid;
use super::counters::PlanCounters;
use super::deletes::PlannedDeletes;
use super::entries::PlannedEntries;
use super::request::PlanRequest;
use super::splits::append_splits;
use crate::error::Result;

/// The files and delete files that a scan reads.
#[derive(Debug, Clone)]
pub struct ScanPlan {
    /// One row per task.
    pub files: RecordBatch,
    /// One row per delete file that some task needs.
    pub deletes: RecordBatch,
    /// Counts of planned and skipped files.
    pub counters: PlanCounters,
}

/// Columns of the files batch that come from entry columns, and the names of the entry columns.
const BEFORE_RANGE: [(&str, &str); 6] = [
    ("file_path", "file_path"),
    ("file_format", "file_format"),
    ("spec_id", "spec_id"),
    ("partition", "partition"),
    ("record_count", "record_count"),
    ("file_size_in_bytes", "file_size_in_bytes"),
];
const AFTER_RANGE: [(&str, &str); 4] = [
    ("data_sequence_number", "sequence_number"),
    ("file_sequence_number", "file_sequence_number"),
    ("sort_order_id", "sort_order_id"),
    ("split_offsets", "split_offsets"),
];
const STATISTICS: [(&str, &str); 6] = [
    ("column_sizes", "column_sizes"),
    ("value_counts", "value_counts"),
    ("null_value_counts", "null_value_counts"),
    ("nan_value_counts", "nan_value_counts"),
    ("lower_bounds", "lower_bounds"),
    ("upper_bounds", "upper_bounds"),
];

/// Make a plan of pruned entries.
pub(crate) fn assemble(
    data: PlannedEntries,
    deletes: &PlannedDeletes,
    request: &PlanRequest,
    mut counters: PlanCounters,
) -> Result<ScanPlan> {
    let (lists, deletes) = deletes.pair(&data.entries)?;
    let ranges = Ranges::new(&data.entries, request.split_size)?;
    count(&data, &deletes, &mut counters)?;
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    let entry = |(name, entry_name): (&'static str, &str)| {
        Ok::<_, crate::Error>((name, ranges.of_tasks(column(&data.entries, entry_name)?)?))
    };
    for pair in BEFORE_RANGE {
        columns.push(entry(pair)?);
    }
    columns.push(("start", Arc::new(Int64Array::from(ranges.starts.clone()))));
    columns.push(("length", Arc::new(Int64Array::from(ranges.lengths.clone()))));
    for pair in AFTER_RANGE {
        columns.push(entry(pair)?);
    }
    columns.push(("residual", ranges.of_tasks(&data.residual)?));
    columns.push(("must_match", ranges.of_tasks(&data.must_match)?));
    columns.push(("deletes", ranges.of_tasks(&lists)?));
    if request.include_stats {
        for pair in STATISTICS {
            columns.push(entry(pair)?);
        }
    }
    let fields: Vec<_> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let files = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(invalid)?;
    Ok(ScanPlan { files, deletes, counters })
}

/// The byte ranges of tasks, and their entries.
struct Ranges {
    /// `None` where every entry is one task.
    entries: Option<UInt32Array>,
    starts: Vec<i64>,
    lengths: Vec<i64>,
}

impl Ranges {
    fn new(entries: &RecordBatch, split_size: Option<u64>) -> Result<Self> {
        let sizes = longs(entries, "file_size_in_bytes")?;
        if split_size.is_none() {
            let starts = vec![0; sizes.len()];
            return Ok(Self { entries: None, starts, lengths: sizes.values().to_vec() });
        }
        let formats = column(entries, "file_format")?.as_string_opt::<i32>();
        let formats = formats.ok_or_else(|| unexpected("file_format"))?;
        let offsets = column(entries, "split_offsets")?.as_list_opt::<i32>();
        let offsets = offsets.ok_or_else(|| unexpected("split_offsets"))?;
        let starts_of_files = offsets.values().as_primitive_opt::<Int64Type>();
        let starts_of_files = starts_of_files.ok_or_else(|| unexpected("split_offsets"))?.values();
        let indices = offsets.value_offsets().windows(2);
        let (mut rows, mut ranges) = (vec![], Vec::with_capacity(entries.num_rows()));
        for (row, index) in indices.enumerate() {
            let of_row = offsets.is_valid(row).then_some(index);
            let of_row = of_row.and_then(|index| slice_of(starts_of_files, index));
            let size = u64::try_from(sizes.value(row)).unwrap_or(0);
            let splittable = formats.value(row).eq_ignore_ascii_case("PARQUET");
            append_splits(&mut ranges, size, of_row, split_size, splittable);
            let row = u32::try_from(row).map_err(|_| unexpected("the number of entries"))?;
            rows.resize(ranges.len(), row);
        }
        let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let starts = ranges.iter().map(|range| signed(range.start)).collect();
        let lengths = ranges.iter().map(|range| signed(range.end - range.start)).collect();
        // Every file has a range, so as many ranges as files are one each.
        let entries = (rows.len() > entries.num_rows()).then(|| rows.into());
        Ok(Self { entries, starts, lengths })
    }

    /// Return a column of entries with a row for each task.
    fn of_tasks(&self, array: &dyn Array) -> Result<ArrayRef> {
        match &self.entries {
            None => Ok(array.slice(0, array.len())),
            Some(rows) => take(array, rows, None).map_err(invalid),
        }
    }
}

fn count(data: &PlannedEntries, deletes: &RecordBatch, counters: &mut PlanCounters) -> Result<()> {
    counters.data_files_total += data.total;
    counters.files_skipped_by_partition += data.skipped_by_partition;
    counters.files_skipped_by_metrics = data.skipped_by_metrics;
    counters.files_planned = data.entries.num_rows() as u64;
    counters.delete_files_planned = deletes.num_rows() as u64;
    counters.bytes_planned = sum(longs(&data.entries, "file_size_in_bytes")?);
    counters.records_planned = sum(longs(&data.entries, "record_count")?);
    Ok(())
}

/// Return the values between two offsets.
fn slice_of<'a>(values: &'a [i64], indices: &[i32]) -> Option<&'a [i64]> {
    let index = |index: Option<&i32>| usize::try_from(*index?).ok();
    values.get(index(indices.first())?..index(indices.last())?)
}

fn sum(values: &Int64Array) -> u64 {
    let counts = values.values().iter().map(|value| u64::try_from(*value).unwrap_or(0));
    counts.fold(0, u64::saturating_add)
}

fn longs<'a>(entries: &'a RecordBatch, name: &str) -> Result<&'a Int64Array> {
    column(entries, name)?.as_primitive_opt::<Int64Type>().ok_or_else(|| unexpected(name))
}

fn column<'a>(entries: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    entries.column_by_name(name).ok_or_else(|| unexpected(name))
}

fn unexpected(name: &str) -> crate::Error {
    FormatError::invalid("entries", format!("{name}: unexpected type or count")).into()
}

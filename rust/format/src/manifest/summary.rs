//! The summary of a manifest in a manifest list: counts, the least sequence number, and partition field summaries.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_ord::ord::make_comparator;
use arrow_schema::{DataType, SortOptions};

use super::entries::{ADDED, DELETED, EXISTING, ManifestColumns, invalid};
use crate::spec::types::{PrimitiveType, StructType};
use crate::spec::{Datum, single_value};
use crate::{Error, Result};

/// The range of one partition field over all entries of a manifest, including deleted ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSummary {
    /// Whether any value is null.
    pub contains_null: bool,
    /// Whether any value is NaN; `None` where unknown.
    pub contains_nan: Option<bool>,
    /// Binary single value of the least value other than null and NaN.
    pub lower_bound: Option<Vec<u8>>,
    /// Binary single value of the greatest value other than null and NaN.
    pub upper_bound: Option<Vec<u8>>,
}

/// Numbers of files and rows of one status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Number of entries.
    pub files: i32,
    /// Sum of their record counts.
    pub rows: i64,
}

/// The summary of a manifest's entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ManifestSummary {
    /// Added entries.
    pub added: Count,
    /// Existing entries.
    pub existing: Count,
    /// Deleted entries.
    pub deleted: Count,
    /// The least data sequence number of live entries; `None` if all of them inherit that of the commit.
    pub min_sequence_number: Option<i64>,
    /// One summary per partition field; `None` where unknown.
    pub partitions: Option<Vec<FieldSummary>>,
}

/// Summarise entries with tuples of `partition_type`.
///
/// # Errors
/// [`Error::InvalidArgument`] if the columns do not fit the type or there are over 2^31 entries.
pub fn summarise(
    columns: &ManifestColumns,
    partition_type: &StructType,
) -> Result<ManifestSummary> {
    let mut summary = ManifestSummary::default();
    let (statuses, rows) = (columns.statuses()?, columns.longs("record_count")?);
    let numbers = columns.longs("sequence_number")?;
    for ((status, rows), number) in statuses.iter().zip(rows).zip(numbers) {
        let count = match status {
            Some(ADDED) => &mut summary.added,
            Some(EXISTING) => &mut summary.existing,
            Some(DELETED) => &mut summary.deleted,
            other => {
                return Err(Error::invalid(
                    "status",
                    format!("is invalid; expected 0, 1 or 2, got {other:?}"),
                ));
            }
        };
        count.files = count.files.checked_add(1).ok_or_else(too_many)?;
        count.rows = count.rows.checked_add(rows.unwrap_or(0)).ok_or_else(too_many)?;
        if let (true, Some(number)) = (status != Some(DELETED), number) {
            let least = summary.min_sequence_number.map_or(number, |least| least.min(number));
            summary.min_sequence_number = Some(least);
        }
    }
    summary.partitions = Some(summarise_tuples(&columns.partition, partition_type)?);
    Ok(summary)
}

fn summarise_tuples(
    tuples: &StructArray,
    partition_type: &StructType,
) -> Result<Vec<FieldSummary>> {
    let fields = partition_type.fields.iter().zip(tuples.columns());
    let summaries = fields.map(|(field, column)| {
        let primitive = field.field_type.as_primitive().unwrap_or(PrimitiveType::Unknown);
        summarise_field(column, &primitive)
    });
    summaries.collect()
}

fn summarise_field(column: &ArrayRef, primitive: &PrimitiveType) -> Result<FieldSummary> {
    if matches!(column.data_type(), DataType::Null) {
        return Ok(FieldSummary { contains_null: !column.is_empty(), ..FieldSummary::default() });
    }
    // Arrow orders NaN at the ends of floats, so NaN is skipped here.
    let compare =
        make_comparator(column, column, SortOptions::default()).map_err(|error| invalid(&error))?;
    let (mut least, mut greatest, mut contains_nan) = (None, None, false);
    for row in 0..column.len() {
        if column.is_null(row) {
            continue;
        }
        if is_nan(column, row) {
            contains_nan = true;
            continue;
        }
        if least.is_none_or(|least| compare(row, least) == Ordering::Less) {
            least = Some(row);
        }
        if greatest.is_none_or(|greatest| compare(row, greatest) == Ordering::Greater) {
            greatest = Some(row);
        }
    }
    Ok(FieldSummary {
        contains_null: column.null_count() > 0,
        contains_nan: Some(contains_nan),
        lower_bound: bound(column, least, primitive)?,
        upper_bound: bound(column, greatest, primitive)?,
    })
}

fn is_nan(column: &ArrayRef, row: usize) -> bool {
    match column.data_type() {
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).is_nan(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).is_nan(),
        _ => false,
    }
}

fn bound(
    column: &ArrayRef,
    row: Option<usize>,
    primitive: &PrimitiveType,
) -> Result<Option<Vec<u8>>> {
    let Some(row) = row else { return Ok(None) };
    let value = Datum::from_array(column, row, primitive)?;
    Ok(value.map(|value| single_value::to_bytes(&value)))
}

fn too_many() -> Error {
    Error::invalid("entries", "there are too many; expected at most 2^31 - 1")
}

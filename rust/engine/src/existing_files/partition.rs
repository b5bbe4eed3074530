//! The partition of an existing file: from the bounds of its source columns, or from its location.

use arrow_schema::DataType;
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{
    Datum, Partition, PartitionField, PartitionSpec, PrimitiveType, Transform,
};

use super::path_values::{Directories, parse_value};
use super::statistics::FileStatistics;
use crate::error::Result;
use crate::resolve::file_columns::{FileColumn, leaf_of};
use crate::table::TableContext;

/// The table, the partition spec and the directories of one file.
pub(super) struct Partitioning<'a> {
    pub(super) context: &'a TableContext,
    pub(super) spec: &'a PartitionSpec,
    pub(super) directories: &'a Directories,
}

/// The evidence of a file's statistics about a partition value.
enum Found {
    /// All rows have this value.
    Value(Option<Datum>),
    /// The statistics do not decide, for this reason.
    Undecided(String),
    /// Rows have different values.
    Several(String),
}

/// Return the partition tuple of a file.
///
/// # Errors
/// `InvalidArgument` naming the partition field if the rows are in several partitions, or neither the statistics nor the
/// location decides.
pub(super) fn partition_of(
    file: &Partitioning<'_>,
    statistics: &dyn FileStatistics,
    columns: &[FileColumn],
) -> Result<Partition> {
    file.spec.fields.iter().map(|field| value_of(file, field, statistics, columns)).collect()
}

fn value_of(
    file: &Partitioning<'_>,
    field: &PartitionField,
    statistics: &dyn FileStatistics,
    columns: &[FileColumn],
) -> Result<Option<Datum>> {
    if field.transform == Transform::Void {
        return Ok(None);
    }
    let schema = &file.context.schema;
    let source = schema.primitive_type(field.source_id).ok_or_else(|| {
        let reason = format!("expected the id of a primitive column, got {}", field.source_id);
        FormatError::invalid(format!("partition field {}", field.name), reason)
    })?;
    let source_name = schema.full_name(field.source_id).unwrap_or_default();
    let in_path = || file.directories.value_of(field, &source_name, schema);
    let (text, reason) = match leaf_of(columns, field.source_id) {
        // A file without rows is in the partition of its location, as for the Java reference, or in any.
        _ if statistics.rows() == 0 => match in_path() {
            None => return Ok(None),
            text => (text, String::new()),
        },
        // All rows of a column that a file lacks are null, unless the location has its value.
        None => match in_path() {
            None => return Ok(None),
            text => (text, String::new()),
        },
        Some(column) => match of_statistics(statistics, column, field, &source)? {
            Found::Value(value) => return Ok(value),
            Found::Several(reason) => return Err(undetermined(field, &source_name, &reason)),
            Found::Undecided(reason) => (in_path(), reason),
        },
    };
    let Some(text) = text else {
        let reason = format!("{reason}, and its location has no directory {}=<value>", field.name);
        return Err(undetermined(field, &source_name, &reason));
    };
    Ok(parse_value(&text, field, &source)?)
}

fn of_statistics(
    statistics: &dyn FileStatistics,
    column: &FileColumn,
    field: &PartitionField,
    source: &PrimitiveType,
) -> Result<Found> {
    let (values, nulls) = (statistics.value_count(column), statistics.null_count(column));
    if (nulls.is_some() && nulls == values) || *column.field.data_type() == DataType::Null {
        return Ok(Found::Value(None));
    }
    let (Some(values), Some(nulls)) = (values, nulls) else {
        return Ok(Found::Undecided("the file does not count the column's nulls".into()));
    };
    // Bounds leave NaN out.
    if matches!(source, PrimitiveType::Float | PrimitiveType::Double) {
        return Ok(Found::Undecided("bounds of floating-point columns may omit NaN".into()));
    }
    let Some((lower, upper)) = statistics.bounds(column, source) else {
        return Ok(Found::Undecided("the file has no bounds of the column".into()));
    };
    if nulls > 0 {
        return Ok(Found::Several(format!("{nulls} of {values} values are null")));
    }
    let is_one = if field.transform.preserves_order() {
        field.transform.apply(&lower)? == field.transform.apply(&upper)?
    } else {
        lower == upper
    };
    if is_one {
        return Ok(Found::Value(field.transform.apply(&lower)?));
    }
    if statistics.has_wide_bounds(column) {
        return Ok(Found::Undecided("the bounds of the column depend on a time zone".into()));
    }
    let (lower, upper) = (lower.human_string(), upper.human_string());
    Ok(Found::Several(format!("its values range from {lower} to {upper}")))
}

fn undetermined(field: &PartitionField, source: &str, reason: &str) -> crate::Error {
    let subject = format!("partition field {} of column {source}", field.name);
    let reason = format!("expected a file whose rows are all in one partition: {reason}");
    FormatError::invalid(subject, reason).into()
}

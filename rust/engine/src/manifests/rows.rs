//! Rows of a manifest list.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, UInt64Array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use icefloe_format::manifest::entries::conform;
use icefloe_format::manifest::{
    Inheritance, ManifestContent, ManifestFile, manifest_file_schema, manifest_files_to_batch,
};
use icefloe_format::{Error as FormatError, Result};

/// One row of a manifest list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestRow {
    /// Location.
    pub path: String,
    /// Size in bytes.
    pub length: i64,
    /// Partition spec id of the entries.
    pub spec_id: i32,
    /// Content of the entries, data or deletes.
    pub content: ManifestContent,
    /// `None` until the manifest is committed.
    pub sequence_number: Option<i64>,
    /// The snapshot that wrote the manifest.
    pub added_snapshot_id: Option<i64>,
    /// Numbers of added and of existing entries; `None` where not recorded.
    pub live_counts: [Option<i32>; 2],
}

impl ManifestRow {
    /// Whether the manifest may have entries that are not deleted; true for unknown counts.
    pub fn may_have_live_files(&self) -> bool {
        self.live_counts.iter().any(|count| *count != Some(0))
    }

    /// What the manifest's entries inherit.
    pub fn inheritance(&self) -> Inheritance {
        Inheritance {
            added_snapshot_id: self.added_snapshot_id,
            sequence_number: self.sequence_number,
        }
    }
}

/// The rows of a batch of `manifest_file_schema`, and the batch with exactly the columns of that schema.
///
/// # Errors
/// [`FormatError::InvalidArgument`] if a column is missing, or a path, length or spec id is null.
pub fn manifest_rows(manifests: &RecordBatch) -> Result<(Vec<ManifestRow>, RecordBatch)> {
    let batch = conform(manifests, &manifest_file_schema())?;
    let rows = (0..batch.num_rows()).map(|row| read_row(&batch, row)).collect::<Result<_>>()?;
    Ok((rows, batch))
}

fn read_row(batch: &RecordBatch, row: usize) -> Result<ManifestRow> {
    let path = batch
        .column_by_name("manifest_path")
        .and_then(|paths| paths.as_string_opt::<i32>())
        .filter(|paths| paths.is_valid(row))
        .map(|paths| paths.value(row).to_owned());
    let long = |name| value::<Int64Type>(batch, name, row);
    let int = |name| value::<Int32Type>(batch, name, row);
    let missing = |name: &str| {
        FormatError::invalid(name, format!("expected a value in every row, got null in row {row}"))
    };
    Ok(ManifestRow {
        path: path.ok_or_else(|| missing("manifest_path"))?,
        length: long("manifest_length").ok_or_else(|| missing("manifest_length"))?,
        spec_id: int("partition_spec_id").ok_or_else(|| missing("partition_spec_id"))?,
        content: ManifestContent::from_code(int("content").unwrap_or(0))?,
        sequence_number: long("sequence_number"),
        added_snapshot_id: long("added_snapshot_id"),
        live_counts: [int("added_files_count"), int("existing_files_count")],
    })
}

fn value<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str, row: usize) -> Option<T::Native> {
    let column = batch.column_by_name(name)?.as_primitive_opt::<T>()?;
    column.is_valid(row).then(|| column.value(row))
}

/// One manifest of an operation's result.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// The input row with this index, unchanged.
    Kept(usize),
    /// A manifest that the operation wrote.
    Written(ManifestFile),
}

/// The batch of `outcomes` in order.
pub(super) fn outcome_batch(input: &RecordBatch, outcomes: Vec<Outcome>) -> Result<RecordBatch> {
    let mut indices = Vec::with_capacity(outcomes.len());
    let mut written = Vec::new();
    for outcome in outcomes {
        indices.push(match outcome {
            Outcome::Kept(index) => index,
            Outcome::Written(file) => {
                written.push(file);
                input.num_rows() + written.len() - 1
            }
        });
    }
    let invalid =
        |error: arrow_schema::ArrowError| FormatError::invalid("manifests", error.to_string());
    let schema = manifest_file_schema();
    let all =
        concat_batches(&schema, [input, &manifest_files_to_batch(&written)?]).map_err(invalid)?;
    let indices: UInt64Array = indices.into_iter().map(|i| u64::try_from(i).ok()).collect();
    take_record_batch(&all, &indices).map_err(invalid)
}

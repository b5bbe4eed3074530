//! The manifests that operations take and return, as rows of a manifest list.

use arrow_array::{RecordBatch, UInt64Array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use icefloe_format::manifest::entries::conform;
use icefloe_format::manifest::{
    ManifestFile, ManifestSummary, manifest_file_schema, manifest_files_to_batch,
};
use icefloe_format::{Error as FormatError, Result};

/// Return the rows of a batch of `manifest_file_schema`, and the batch with exactly the columns of that schema.
///
/// # Errors
/// [`FormatError::InvalidArgument`] if a column has another type, or a path, length or spec id is null.
pub(super) fn manifest_rows(manifests: &RecordBatch) -> Result<(Vec<ManifestFile>, RecordBatch)> {
    let batch = conform(manifests, &manifest_file_schema())?;
    Ok((ManifestFile::from_batch(&batch)?, batch))
}

/// A manifest of an operation's result.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// The input row with this index, unchanged.
    Kept(usize),
    /// A manifest that the operation wrote.
    Written(ManifestFile, ManifestSummary),
}

/// Return the batch of `outcomes` in order.
pub(super) fn outcome_batch(input: &RecordBatch, outcomes: Vec<Outcome>) -> Result<RecordBatch> {
    let mut indices = Vec::with_capacity(outcomes.len());
    let mut written = Vec::new();
    for outcome in outcomes {
        indices.push(match outcome {
            Outcome::Kept(index) => index,
            Outcome::Written(file, summary) => {
                written.push((file, summary));
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

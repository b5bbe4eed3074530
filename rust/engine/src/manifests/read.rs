//! Reading manifest lists and manifests, several at once.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{
    DecodeOptions, ManifestColumns, ManifestFile, Stats, decode_manifest_list, decode_run,
    entry_schema, inherit,
};
use icefloe_format::spec::StructType;

use super::parallel_decode::{decode_in_runs, runs_per_manifest};
use super::rows::manifest_rows;
use super::table_types::TableTypes;
use crate::error::{Error, Result};
use crate::store::{FileIo, absolute_entries};

/// Manifests that are read at once for one call.
pub(super) const CONCURRENCY: usize = 8;
/// Batches of up to this many rows are concatenated.
const FEW_ROWS: usize = 4_096;

/// The entries to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All entries.
    All,
    /// Entries that are not deleted.
    Live,
}

/// Read the manifests of a snapshot, in columns of `manifest_file_schema`.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for a file that is not a manifest list.
pub async fn read_manifest_list(io: &FileIo, location: &str) -> Result<RecordBatch> {
    let location = &*io.absolute(location);
    let bytes = io.read(location).await?;
    let list = decode_manifest_list(&bytes).map_err(|error| Error::in_file(location, error))?;
    absolute_list(io, list)
}

/// Return a manifest list with absolute locations.
pub(crate) fn absolute_list(io: &FileIo, list: RecordBatch) -> Result<RecordBatch> {
    let Ok(place) = list.schema().index_of("manifest_path") else { return Ok(list) };
    let mut columns = list.columns().to_vec();
    if let Some(column) = columns.get_mut(place) {
        *column = io.absolute_column(column);
    }
    let list = RecordBatch::try_new(list.schema(), columns);
    Ok(list.map_err(|error| FormatError::invalid("manifests", error.to_string()))?)
}

/// Apply `then` to the entries of one manifest, inheritance applied: to all of them at once or, for a large manifest, to
/// at most `most` parts in parallel. Results are in the order of entries.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for a file that is not a manifest and for
/// errors of `then`.
pub(super) async fn read_manifest<T: Send + 'static>(
    io: &FileIo,
    manifest: &ManifestFile,
    (types, stats): (&TableTypes, &Stats),
    most: usize,
    then: impl Fn(ManifestColumns, &StructType) -> Result<T, FormatError> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let bytes = io.read(&manifest.path).await?;
    let manifest = manifest.clone();
    let partition_type = types.partition_type(manifest.spec_id)?;
    let (io, stats) = (io.clone(), stats.clone());
    decode_in_runs(bytes, most, move |bytes, run| {
        let (spec_id, partition_type) = (manifest.spec_id, &partition_type);
        let options = DecodeOptions { spec_id, partition_type, stats: stats.clone() };
        decode_run(bytes, run, &options)
            .and_then(|columns| inherit(columns, manifest.inheritance()))
            .and_then(|columns| absolute_entries(&io, columns))
            .and_then(|columns| then(columns, partition_type))
            .map_err(|error| Error::in_file(&manifest.path, error))
    })
    .await
}

/// Read the entries of all manifests of a batch of `manifest_file_schema`, in columns of `entry_schema` and in order.
/// Small batches are concatenated. Statistics that `stats` leaves out are null.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for a file that is not a manifest;
/// [`Error::Format`] if the batch does not describe manifests.
pub async fn read_entries(
    io: &FileIo,
    manifests: &RecordBatch,
    types: Arc<TableTypes>,
    (keep, stats): (Keep, Stats),
) -> Result<Vec<RecordBatch>> {
    let (rows, _) = manifest_rows(manifests)?;
    let most = runs_per_manifest(rows.len());
    let parts = futures::stream::iter(rows)
        .map(|row| {
            let (types, stats) = (Arc::clone(&types), stats.clone());
            async move {
                read_manifest(io, &row, (&types, &stats), most, move |columns, partition_type| {
                    selected(columns, keep)?.to_batch(partition_type)
                })
                .await
            }
        })
        .buffered(CONCURRENCY);
    let parts: Vec<Vec<RecordBatch>> = parts.try_collect().await?;
    Ok(gathered(&entry_schema(), parts.into_iter().flatten())?)
}

/// Concatenate neighbouring small batches. Copying large ones would cost as much as decoding them.
fn gathered(
    schema: &SchemaRef,
    parts: impl Iterator<Item = RecordBatch>,
) -> Result<Vec<RecordBatch>, FormatError> {
    let joined = |parts: &[RecordBatch]| {
        concat_batches(schema, parts)
            .map_err(|error| FormatError::invalid("entries", error.to_string()))
    };
    let (mut batches, mut few, mut rows) = (Vec::new(), Vec::new(), 0);
    for part in parts.filter(|part| part.num_rows() > 0) {
        if rows + part.num_rows() > FEW_ROWS && !few.is_empty() {
            batches.push(joined(&std::mem::take(&mut few))?);
            rows = 0;
        }
        rows += part.num_rows();
        few.push(part);
    }
    if !few.is_empty() {
        batches.push(joined(&few)?);
    }
    Ok(batches)
}

fn selected(columns: ManifestColumns, keep: Keep) -> Result<ManifestColumns, FormatError> {
    match keep {
        Keep::All => Ok(columns),
        Keep::Live => columns.filter(&columns.live()?),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_array::{Int32Array, new_null_array};
    use arrow_schema::Schema;

    use super::*;

    /// Return the entries that have only these statuses.
    fn part(statuses: std::ops::Range<i32>) -> RecordBatch {
        let schema = entry_schema();
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let mut columns: Vec<_> = schema
            .fields()
            .iter()
            .map(|field| new_null_array(field.data_type(), statuses.len()))
            .collect();
        columns[0] = Arc::new(Int32Array::from_iter_values(statuses));
        RecordBatch::try_new(schema, columns).unwrap()
    }

    #[test]
    fn small_batches_are_concatenated_and_large_ones_stay() {
        let parts =
            [0..3, 3..5, 5..9_000, 9_000..9_000, 9_000..9_001, 9_001..13_000, 13_000..14_000];
        let batches = gathered(&part(0..0).schema(), parts.clone().into_iter().map(part)).unwrap();
        let statuses = batches.iter().map(|batch| batch.column(0).as_primitive::<Int32Type>());
        let found: Vec<_> = statuses.clone().map(Int32Array::len).collect();
        assert_eq!(found, [5, 8_995, 4_000, 1_000]);
        assert!(statuses.flat_map(|part| part.values()).copied().eq(0..14_000));
    }
}

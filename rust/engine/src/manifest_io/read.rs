//! Reading manifest lists and manifests, several at once.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{
    DecodeOptions, ManifestColumns, Stats, decode_manifest_list, decode_run, entry_schema, inherit,
};
use icefloe_format::spec::StructType;

use super::rows::{ManifestRow, manifest_rows};
use super::runs::{decode_in_runs, runs_of_each};
use super::table_types::TableTypes;
use crate::error::{Error, Result};
use crate::store::FileIo;

/// Manifests that are read at once for one call.
pub(super) const CONCURRENCY: usize = 8;

/// Which entries to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Every one.
    All,
    /// Those that are not deleted.
    Live,
}

/// The manifests of a snapshot, in columns of `manifest_file_schema`.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for what is no manifest list.
pub async fn read_manifest_list(io: &FileIo, location: &str) -> Result<RecordBatch> {
    let bytes = io.read(location).await?;
    decode_manifest_list(&bytes).map_err(|error| Error::in_file(location, error))
}

/// What `then` makes of the entries of one manifest, with everything inherited that can be: in order,
/// for all of them or, of a large manifest, for at most `most` parts of them at once.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for what is no manifest or what
/// `then` says.
pub(super) async fn read_manifest<T: Send + 'static>(
    io: &FileIo,
    manifest: &ManifestRow,
    types: &TableTypes,
    most: usize,
    then: impl Fn(ManifestColumns, &StructType) -> Result<T, FormatError> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let bytes = io.read(&manifest.path).await?;
    let manifest = manifest.clone();
    let partition_type = types.partition_type(manifest.spec_id)?;
    decode_in_runs(bytes, most, move |bytes, run| {
        let (spec_id, partition_type) = (manifest.spec_id, &partition_type);
        let options = DecodeOptions { spec_id, partition_type, stats: Stats::All };
        decode_run(bytes, run, &options)
            .and_then(|columns| inherit(columns, manifest.inheritance()))
            .and_then(|columns| then(columns, partition_type))
            .map_err(|error| Error::in_file(&manifest.path, error))
    })
    .await
}

/// The entries of all manifests of a batch of `manifest_file_schema`, in columns of `entry_schema`,
/// in order.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for what is no manifest;
/// [`Error::Format`] if the batch does not describe manifests.
pub async fn read_entries(
    io: &FileIo,
    manifests: &RecordBatch,
    types: Arc<TableTypes>,
    keep: Keep,
) -> Result<RecordBatch> {
    let (rows, _) = manifest_rows(manifests)?;
    let most = runs_of_each(rows.len());
    let parts = futures::stream::iter(rows)
        .map(|row| {
            let types = Arc::clone(&types);
            async move {
                read_manifest(io, &row, &types, most, move |columns, partition_type| {
                    kept(columns, keep)?.to_batch(partition_type)
                })
                .await
            }
        })
        .buffered(CONCURRENCY);
    let parts: Vec<Vec<RecordBatch>> = parts.try_collect().await?;
    concat_batches(&entry_schema(), parts.iter().flatten())
        .map_err(|error| FormatError::invalid("entries", error.to_string()).into())
}

fn kept(columns: ManifestColumns, keep: Keep) -> Result<ManifestColumns, FormatError> {
    match keep {
        Keep::All => Ok(columns),
        Keep::Live => columns.filter(&columns.live()?),
    }
}

//! Reading manifest lists and manifests, several at once.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{
    DecodeOptions, ManifestColumns, Stats, decode_manifest, decode_manifest_list, entry_schema,
    inherit,
};

use super::rows::{ManifestRow, manifest_rows};
use super::table_types::TableTypes;
use crate::error::{Error, Result};
use crate::runtime::compute;
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

/// The entries of one manifest, with everything inherited that can be.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for what is no manifest.
pub async fn read_manifest(
    io: &FileIo,
    manifest: &ManifestRow,
    types: &TableTypes,
    stats: Stats,
) -> Result<ManifestColumns> {
    let bytes = io.read(&manifest.path).await?;
    let manifest = manifest.clone();
    let partition_type = types.partition_type(manifest.spec_id)?;
    compute("decode a manifest", move || {
        let spec_id = manifest.spec_id;
        let options = DecodeOptions { spec_id, partition_type: &partition_type, stats };
        decode_manifest(&bytes, &options)
            .and_then(|columns| inherit(columns, manifest.inheritance()))
            .map_err(|error| Error::in_file(manifest.path, error))
    })
    .await
}

/// The entries of all manifests of a batch of `manifest_file_schema`, in columns of `entry_schema`,
/// in order.
///
/// # Errors
/// As for [`read_manifest`], and [`Error::Format`] if the batch does not describe manifests.
pub async fn read_entries(
    io: &FileIo,
    manifests: &RecordBatch,
    types: Arc<TableTypes>,
    keep: Keep,
) -> Result<RecordBatch> {
    let (rows, _) = manifest_rows(manifests)?;
    let parts = futures::stream::iter(rows)
        .map(|row| {
            let types = Arc::clone(&types);
            async move { read_batch(io, &row, &types, keep).await }
        })
        .buffered(CONCURRENCY);
    let parts: Vec<RecordBatch> = parts.try_collect().await?;
    concat_batches(&entry_schema(), &parts)
        .map_err(|error| FormatError::invalid("entries", error.to_string()).into())
}

async fn read_batch(
    io: &FileIo,
    row: &ManifestRow,
    types: &TableTypes,
    keep: Keep,
) -> Result<RecordBatch> {
    let mut columns = read_manifest(io, row, types, Stats::All).await?;
    if keep == Keep::Live {
        columns = columns.filter(&columns.live()?)?;
    }
    let partition_type = types.partition_type(row.spec_id)?;
    Ok(columns.to_batch(&partition_type)?)
}

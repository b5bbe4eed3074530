//! Manifests that a snapshot of format version 1 lists itself, without a manifest list.

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::manifest::decode::count_entries;
use icefloe_format::manifest::{
    Count, DecodeOptions, ManifestContent, ManifestDecoder, ManifestFile, ManifestSummary, Stats,
    manifest_files_to_batch,
};
use icefloe_format::spec::StructType;

use super::read::CONCURRENCY;
use crate::error::{Error, Result};
use crate::runtime::executor::compute;
use crate::store::FileIo;

/// Describe manifests in columns of `manifest_file_schema`, with lengths, specs and counts read from the manifests. Added
/// snapshot ids and partition summaries are null.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for a file that is not a manifest.
pub async fn describe_manifests(io: &FileIo, locations: Vec<String>) -> Result<RecordBatch> {
    let described: Vec<_> = futures::stream::iter(locations)
        .map(|location| describe(io, location))
        .buffered(CONCURRENCY)
        .try_collect()
        .await?;
    Ok(manifest_files_to_batch(&described)?)
}

async fn describe(io: &FileIo, location: String) -> Result<(ManifestFile, ManifestSummary)> {
    let location = io.absolute(&location).into_owned();
    let bytes = io.read(&location).await?;
    compute("describe a manifest", move || {
        let found = header_spec_id(&bytes).and_then(|id| Ok((id, count_entries(&bytes)?)));
        let (spec_id, counts) = found.map_err(|error| Error::in_file(&location, error))?;
        let [existing, added, deleted] = counts.map(|(files, rows)| Count { files, rows });
        let file = ManifestFile {
            added_files: Some(added.files),
            existing_files: Some(existing.files),
            ..inline_manifest(location, bytes.len(), spec_id)
        };
        Ok((file, ManifestSummary { added, existing, deleted, ..ManifestSummary::default() }))
    })
    .await
}

/// Return a manifest of data files that no manifest list describes: version 1, whose sequence numbers are 0.
pub(crate) fn inline_manifest(path: String, length: usize, spec_id: i32) -> ManifestFile {
    ManifestFile {
        path,
        length: i64::try_from(length).unwrap_or(i64::MAX),
        spec_id,
        content: ManifestContent::Data,
        sequence_number: Some(0),
        added_snapshot_id: None,
        added_files: None,
        existing_files: None,
    }
}

/// Return the partition spec id in a manifest's header, 0 if absent.
///
/// # Errors
/// `Corrupt` for a file that is not a manifest.
pub(crate) fn header_spec_id(bytes: &[u8]) -> icefloe_format::Result<i32> {
    let partition_type = StructType::default();
    let options = DecodeOptions { spec_id: 0, partition_type: &partition_type, stats: Stats::Skip };
    Ok(ManifestDecoder::new(bytes, &options)?.header().partition_spec_id.unwrap_or(0))
}

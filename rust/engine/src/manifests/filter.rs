//! Removing files from manifests, by path.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use futures::{StreamExt, TryStreamExt};
use hashbrown::HashSet;
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{
    ADDED, DELETED, DecodeOptions, EXISTING, ManifestColumns, ManifestDecoder, ManifestFile, Stats,
    decode_manifest, entry_schema, inherit,
};
use icefloe_format::spec::StructType;

use super::read::CONCURRENCY;
use super::rows::{Outcome, manifest_rows, outcome_batch};
use super::table_types::TableTypes;
use super::write::{ManifestOptions, Target, write_manifest};
use super::written::all_or_none;
use crate::error::{Error, Result};
use crate::runtime::executor::compute;
use crate::store::{FileIo, absolute_entries};

/// Entries compared together; their columns fit into the processor's cache.
const ENTRIES_AT_ONCE: usize = 1_024;

/// Manifests after the removal of files.
#[derive(Debug, Clone)]
pub struct FilteredManifests {
    /// The manifests in input order, untouched or rewritten.
    pub manifests: RecordBatch,
    /// The removed entries in columns of `entry_schema`: deleted by the new snapshot, with the sequence numbers of
    /// their files.
    pub deleted: RecordBatch,
    /// Paths that no manifest lists as live.
    pub missing: Vec<String>,
    /// The number of rewritten manifests.
    pub rewritten: usize,
}

/// Remove files from manifests: each manifest that lists one is rewritten, with the removed file as a deleted entry and
/// its other live files as existing entries, with explicit snapshot ids and sequence numbers. Entries that earlier
/// snapshots deleted are dropped. All other manifests stay unchanged.
///
/// `manifests` are columns of `manifest_file_schema`; paths are compared as exact strings.
///
/// # Errors
/// [`Error::Format`] for a path that the new snapshot itself adds;
/// [`Error::Missing`], [`Error::Storage`], [`Error::Exists`], and [`Error::InFile`] for manifests
/// that cannot be read.
pub async fn filter_manifests(
    io: &FileIo,
    manifests: &RecordBatch,
    paths: &ArrayRef,
    types: Arc<TableTypes>,
    options: &ManifestOptions,
) -> Result<FilteredManifests> {
    let (rows, batch) = manifest_rows(manifests)?;
    let paths = text(paths)?;
    let wanted: HashSet<String> = paths.iter().flatten().map(str::to_owned).collect();
    let wanted = Arc::new(wanted);
    let hits = find(io, &rows, Arc::clone(&wanted), &types, options.snapshot_id).await?;
    let mut outcomes: Vec<Outcome> = (0..rows.len()).map(Outcome::Kept).collect();
    let (mut deleted, mut writes) = (Vec::new(), Vec::new());
    let mut missing: HashSet<&str> = wanted.iter().map(String::as_str).collect();
    for (row, hit) in &hits {
        for path in hit.removed.paths()?.iter().flatten() {
            missing.remove(path);
        }
        let Some(manifest) = rows.get(*row) else { continue };
        let partition_type = types.partition_type(manifest.spec_id)?;
        deleted.push(hit.removed.to_batch(&partition_type)?);
        let index = options.first_index + writes.len();
        let target = Target { index, spec_id: manifest.spec_id, content: manifest.content };
        writes.push((*row, hit.rewritten.clone(), target));
    }
    let missing = paths.iter().flatten().filter(|path| missing.remove(path)).map(str::to_owned);
    let missing = missing.collect();
    let rewritten = writes.len();
    let writes = writes.into_iter().map(|(row, columns, target)| {
        let types = Arc::clone(&types);
        async move { Ok((row, write_manifest(io, columns, target, types, options).await?)) }
    });
    let written = all_or_none(io, writes, |(_, (file, _))| vec![file.path.clone()]).await?;
    for (row, (file, summary)) in written {
        if let Some(outcome) = outcomes.get_mut(row) {
            *outcome = Outcome::Written(file, summary);
        }
    }
    let manifests = outcome_batch(&batch, outcomes)?;
    let deleted = concat_batches(&entry_schema(), &deleted)
        .map_err(|error| FormatError::invalid("entries", error.to_string()))?;
    Ok(FilteredManifests { manifests, deleted, missing, rewritten })
}

fn text(paths: &ArrayRef) -> Result<StringArray> {
    let cast = arrow_cast::cast(paths, &DataType::Utf8)
        .map_err(|error| FormatError::invalid("deleted_paths", error.to_string()))?;
    Ok(cast.as_string::<i32>().clone())
}

/// A manifest that lists files to remove.
struct Hit {
    /// The entries after the removal.
    rewritten: ManifestColumns,
    /// The entries that the removal deletes.
    removed: ManifestColumns,
}

/// Return the manifests with files to remove, by index, in order.
async fn find(
    io: &FileIo,
    rows: &[ManifestFile],
    wanted: Arc<HashSet<String>>,
    types: &TableTypes,
    snapshot_id: i64,
) -> Result<Vec<(usize, Hit)>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut candidates = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.may_have_live_files()) {
        candidates.push((index, row.clone(), types.partition_type(row.spec_id)?));
    }
    let found = futures::stream::iter(candidates)
        .map(|(index, row, partition_type)| {
            let wanted = Arc::clone(&wanted);
            async move {
                let bytes = io.read(&row.path).await?;
                let io = io.clone();
                let found = compute("filter a manifest", move || {
                    filter_one((&io, &bytes), &row, &partition_type, &wanted, snapshot_id)
                        .map_err(|error| Error::in_file(row.path, error))
                });
                Ok::<_, Error>(found.await?.map(|hit| (index, hit)))
            }
        })
        .buffered(CONCURRENCY);
    Ok(found.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
}

fn filter_one(
    (io, bytes): (&FileIo, &[u8]),
    row: &ManifestFile,
    partition_type: &StructType,
    wanted: &HashSet<String>,
    snapshot_id: i64,
) -> Result<Option<Hit>, FormatError> {
    let options = |stats| DecodeOptions { spec_id: row.spec_id, partition_type, stats };
    // Paths and statuses rule out most manifests; their other columns are not decoded.
    let mut cheap = ManifestDecoder::new(bytes, &options(Stats::Skip))?;
    if !lists_any(io, &mut cheap, wanted)? {
        return Ok(None);
    }
    let columns = inherit(decode_manifest(bytes, &options(Stats::All))?, row.inheritance())?;
    let columns = absolute_entries(io, columns)?;
    let removed = removals(&columns, wanted)?;
    check_committed(&columns, &removed, snapshot_id)?;
    let rewritten = with_statuses(&columns, &removed, snapshot_id)?;
    let remaining = without_earlier_deletes(&columns, snapshot_id)?;
    Ok(Some(Hit { removed: rewritten.filter(&removed)?, rewritten: rewritten.filter(&remaining)? }))
}

/// Return whether any live entry is of a path to remove.
fn lists_any(
    io: &FileIo,
    manifest: &mut ManifestDecoder<'_>,
    wanted: &HashSet<String>,
) -> Result<bool, FormatError> {
    while let Some(columns) = manifest.next_batch(ENTRIES_AT_ONCE)? {
        let columns = absolute_entries(io, columns)?;
        if removals(&columns, wanted)?.iter().any(|removed| removed == Some(true)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Return a mask of the live entries of paths to remove.
fn removals(
    columns: &ManifestColumns,
    wanted: &HashSet<String>,
) -> Result<BooleanArray, FormatError> {
    let pairs = columns.statuses()?.iter().zip(columns.paths()?);
    let removed = pairs.map(|(status, path)| {
        let live = status != Some(DELETED);
        Some(live && path.is_some_and(|path| wanted.contains(path)))
    });
    Ok(removed.collect())
}

fn check_committed(
    columns: &ManifestColumns,
    removed: &BooleanArray,
    snapshot_id: i64,
) -> Result<(), FormatError> {
    let ids = columns.longs("snapshot_id")?;
    let entries = columns.statuses()?.iter().zip(ids).zip(removed).zip(columns.paths()?);
    for (((status, id), removed), path) in entries {
        if removed == Some(true) && status == Some(ADDED) && id == Some(snapshot_id) {
            let path = path.unwrap_or_default();
            let reason =
                format!("the snapshot that deletes {path} also adds it; drop the file from both");
            return Err(FormatError::invalid("deleted_paths", reason));
        }
    }
    Ok(())
}

/// Return the entries with statuses and snapshot ids of the new snapshot.
fn with_statuses(
    columns: &ManifestColumns,
    removed: &BooleanArray,
    snapshot_id: i64,
) -> Result<ManifestColumns, FormatError> {
    let ids = columns.longs("snapshot_id")?;
    let entries = columns.statuses()?.iter().zip(ids).zip(removed);
    let statuses = entries.map(|((status, id), removed)| match (status, removed) {
        (_, Some(true)) => Some(DELETED),
        (Some(ADDED), _) if id != Some(snapshot_id) => Some(EXISTING),
        (status, _) => status,
    });
    let statuses = statuses.collect::<Int32Array>();
    let ids = ids.iter().zip(removed).map(|(id, removed)| match removed {
        Some(true) => Some(snapshot_id),
        _ => id,
    });
    let ids = ids.collect::<Int64Array>();
    columns.with_columns(vec![("status", Arc::new(statuses)), ("snapshot_id", Arc::new(ids))])
}

/// Return a mask without the entries that an earlier snapshot deleted, which only that snapshot's manifests list.
pub(super) fn without_earlier_deletes(
    columns: &ManifestColumns,
    snapshot_id: i64,
) -> Result<BooleanArray, FormatError> {
    let pairs = columns.statuses()?.iter().zip(columns.longs("snapshot_id")?);
    let remaining =
        pairs.map(|(status, id)| Some(status != Some(DELETED) || id == Some(snapshot_id)));
    Ok(remaining.collect())
}

/// Return the entries as a manifest of this snapshot lists them: deletions of earlier snapshots dropped, files added by
/// earlier snapshots existing.
pub(super) fn as_existing(
    columns: &ManifestColumns,
    snapshot_id: i64,
) -> Result<ManifestColumns, FormatError> {
    let none = BooleanArray::from(vec![false; columns.len()]);
    with_statuses(columns, &none, snapshot_id)?
        .filter(&without_earlier_deletes(columns, snapshot_id)?)
}

//! Merging small manifests, so that planning reads fewer files.
//!
//! Manifests of one spec and content are packed by length, from the oldest on, into bins of the
//! target size; each bin of several becomes one manifest. The bin with the newest manifest is merged
//! once it has the minimum count, so that not every commit rewrites the manifest of the commit before.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::manifest::{ManifestColumns, ManifestContent, ManifestFile, Stats};

use super::filter::as_existing;
use super::parallel_decode::runs_per_manifest;
use super::read::read_manifest;
use super::rows::{Outcome, manifest_rows, outcome_batch};
use super::table_types::TableTypes;
use super::write::{ManifestOptions, Target, write_manifest};
use super::written::all_or_none;
use crate::error::Result;
use crate::runtime::default_threads;
use crate::store::FileIo;

/// The sizes of bins to merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeOptions {
    /// Target length of a bin in bytes: `commit.manifest.target-size-bytes`.
    pub target_size_bytes: i64,
    /// The least number of manifests in the newest bin: `commit.manifest.min-count-to-merge`.
    pub min_count_to_merge: usize,
}

/// Merge the manifests of a new snapshot; data manifests come first, then delete manifests.
///
/// `manifests` are columns of `manifest_file_schema` in the order of a list, newest first. Manifests
/// without live entries are dropped unless this snapshot wrote them.
///
/// # Errors
/// [`Error::Format`] if the batch does not describe manifests; [`Error::Missing`],
/// [`Error::Storage`], [`Error::Exists`], and [`Error::InFile`] for manifests that cannot be read.
pub async fn merge_manifests(
    io: &FileIo,
    manifests: &RecordBatch,
    merge: MergeOptions,
    types: Arc<TableTypes>,
    options: &ManifestOptions,
) -> Result<RecordBatch> {
    let (rows, batch) = manifest_rows(manifests)?;
    let mut bins = Vec::new();
    for content in [ManifestContent::Data, ManifestContent::Deletes] {
        let of_content = |row: &ManifestFile| row.content == content;
        bins.extend(bins_to_write(&rows, of_content, merge, options.snapshot_id));
    }
    let mut index = options.first_index;
    let mut jobs = Vec::new();
    for bin in bins {
        let target = (bin.len() > 1).then_some(index);
        index += usize::from(target.is_some());
        jobs.push((bin, target));
    }
    let writes = jobs.into_iter().map(|(bin, target)| {
        let members: Vec<(usize, ManifestFile)> =
            bin.iter().filter_map(|i| Some((*i, rows.get(*i)?.clone()))).collect();
        write_bin(io, members, target, Arc::clone(&types), options)
    });
    let outcomes = all_or_none(io, writes, written_of).await?;
    Ok(outcome_batch(&batch, outcomes.into_iter().flatten().collect())?)
}

/// Return the locations of the manifests that a bin was written to.
#[expect(clippy::ptr_arg, reason = "the signature of `all_or_none`")]
fn written_of(outcomes: &Vec<Outcome>) -> Vec<String> {
    let written = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Written(file, _) => Some(file.path.clone()),
        Outcome::Kept(_) => None,
    });
    written.collect()
}

/// Return bins of row indices: a bin of several rows is merged, a bin of one row stays.
fn bins_to_write(
    rows: &[ManifestFile],
    of_content: impl Fn(&ManifestFile) -> bool,
    merge: MergeOptions,
    snapshot_id: i64,
) -> Vec<Vec<usize>> {
    let survives = |row: &ManifestFile| {
        row.may_have_live_files() || row.added_snapshot_id == Some(snapshot_id)
    };
    let mut newest = None;
    let mut by_spec: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, r)| of_content(r) && survives(r)) {
        newest.get_or_insert(index);
        by_spec.entry(row.spec_id).or_default().push(index);
    }
    let mut out = Vec::new();
    for group in by_spec.values().rev() {
        for bin in pack_from_end(rows, group, merge.target_size_bytes) {
            let young = newest.is_some_and(|newest| bin.contains(&newest));
            if young && bin.len() < merge.min_count_to_merge {
                out.extend(bin.into_iter().map(|index| vec![index]));
            } else {
                out.push(bin);
            }
        }
    }
    out
}

/// Pack neighbours into bins of at most `target` bytes, starting with the last, in the order of
/// rows. A manifest larger than the target has a bin of its own.
fn pack_from_end(rows: &[ManifestFile], group: &[usize], target: i64) -> Vec<Vec<usize>> {
    let mut bins: Vec<Vec<usize>> = Vec::new();
    let mut weight = 0_i64;
    for index in group.iter().rev() {
        let length = rows.get(*index).map_or(0, |row| row.length);
        match bins.last_mut() {
            Some(bin) if weight.saturating_add(length) <= target => {
                bin.push(*index);
                weight = weight.saturating_add(length);
            }
            _ => {
                bins.push(vec![*index]);
                weight = length;
            }
        }
    }
    for bin in &mut bins {
        bin.reverse();
    }
    bins.reverse();
    bins
}

async fn write_bin(
    io: &FileIo,
    members: Vec<(usize, ManifestFile)>,
    target: Option<usize>,
    types: Arc<TableTypes>,
    options: &ManifestOptions,
) -> Result<Vec<Outcome>> {
    let (Some(index), Some((_, first))) = (target, members.first()) else {
        return Ok(members.into_iter().map(|(row, _)| Outcome::Kept(row)).collect());
    };
    let kept = || members.iter().map(|(row, _)| Outcome::Kept(*row)).collect();
    let target = Target { index, spec_id: first.spec_id, content: first.content };
    let (most, snapshot_id) = (runs_per_manifest(members.len()), options.snapshot_id);
    let parts = futures::stream::iter(&members)
        .map(|(_, row)| {
            let types = Arc::clone(&types);
            async move {
                read_manifest(io, row, (&types, &Stats::All), most, move |columns, _| {
                    as_existing(&columns, snapshot_id)
                })
                .await
            }
        })
        .buffered(default_threads());
    let parts: Vec<Vec<ManifestColumns>> = parts.try_collect().await?;
    let (spec, written) =
        (types.spec(target.spec_id)?, types.written_partition_type(target.spec_id)?);
    let parts = parts.into_iter().flatten().map(|part| part.with_void_columns(spec, &written));
    let parts = parts.collect::<icefloe_format::Result<Vec<_>>>()?;
    // Values of an unknown transform have the types that their writers chose.
    if parts.windows(2).any(|pair| matches!(pair, [one, other] if !one.has_types_of(other))) {
        return Ok(kept());
    }
    let Some(columns) = ManifestColumns::concat(&parts)? else { return Ok(Vec::new()) };
    let (file, summary) = write_manifest(io, columns, target, types, options).await?;
    Ok(vec![Outcome::Written(file, summary)])
}

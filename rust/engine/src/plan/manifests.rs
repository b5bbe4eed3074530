//! The manifests of a snapshot, pruned by their partition summaries.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::take::take;
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{ManifestContent, ManifestFile, decode_manifest_list};
use icefloe_format::predicate::{ManifestSummaries, evaluate_inclusive};

use super::counters::PlanCounters;
use super::filter::ScanFilter;
use super::request::PlanRequest;
use crate::error::{Error, Result};
use crate::manifests::{absolute_list, header_spec_id, inline_manifest};
use crate::store::FileIo;
use crate::table::TableContext;

const WHAT: &str = "the manifest list";

/// All manifests of a snapshot.
pub(crate) enum Manifests {
    /// Columns of a manifest list, and its location.
    Listed(RecordBatch, String),
    /// Manifests listed inline, by their own headers.
    Inline(Vec<ManifestFile>),
}

impl Manifests {
    /// Read the manifest list, or the headers of inline manifests.
    pub(crate) async fn load(io: &FileIo, request: &PlanRequest) -> Result<Self> {
        if let Some(location) = &request.manifest_list {
            let location = &io.absolute(location).into_owned();
            let bytes = io.read(location).await?;
            let list =
                decode_manifest_list(&bytes).map_err(|error| Error::in_file(location, error))?;
            return Ok(Self::Listed(absolute_list(io, list)?, location.clone()));
        }
        let mut manifests = Vec::with_capacity(request.manifests.len());
        for location in &request.manifests {
            let bytes = io.read(location).await?;
            let spec_id =
                header_spec_id(&bytes).map_err(|error| Error::in_file(location, error))?;
            let location = io.absolute(location).into_owned();
            manifests.push(inline_manifest(location, bytes.len(), spec_id));
        }
        Ok(Self::Inline(manifests))
    }

    /// Return the data and the delete manifests that might hold files for the filter; with `added_by` only manifests of
    /// this snapshot.
    pub(crate) fn prune(
        self,
        (filter, added_by): (&ScanFilter, Option<i64>),
        context: &TableContext,
        counters: &mut PlanCounters,
    ) -> Result<(Vec<ManifestFile>, Vec<ManifestFile>)> {
        let (list, location) = match self {
            Self::Inline(manifests) => {
                counters.data_manifests_total = manifests.len() as u64;
                return Ok((manifests, vec![]));
            }
            Self::Listed(list, location) => (list, location),
        };
        let manifests = ManifestFile::from_batch(&list)
            .map_err(|error| FormatError::corrupt(WHAT, error.to_string()))
            .map_err(|error| Error::in_file(&location, error))?;
        let might_match =
            might_match(&list, &manifests, filter).map_err(|error| error.at(&location))?;
        let (mut data, mut deletes) = (vec![], vec![]);
        for (manifest, might_match) in manifests.into_iter().zip(might_match) {
            // Files that a snapshot adds are in manifests that it writes.
            let writer = manifest.added_snapshot_id;
            let other = added_by.is_some() && writer.is_some() && writer != added_by;
            let opened = might_match && !other && manifest.may_have_live_files();
            // Without the spec, partition tuples cannot be decoded.
            context.spec(manifest.spec_id).map_err(|error| error.at(&manifest.path))?;
            count(&manifest, opened, counters);
            match manifest.content {
                _ if !opened => {}
                ManifestContent::Data => data.push(manifest),
                ManifestContent::Deletes => deletes.push(manifest),
            }
        }
        Ok((data, deletes))
    }
}

/// Count a manifest of a manifest list, which is skipped unless it is `opened`.
fn count(manifest: &ManifestFile, opened: bool, counters: &mut PlanCounters) {
    if manifest.content == ManifestContent::Deletes {
        counters.delete_manifests_total += 1;
        counters.delete_manifests_skipped += u64::from(!opened);
        return;
    }
    counters.data_manifests_total += 1;
    if !opened {
        counters.data_manifests_skipped += 1;
        counters.data_files_total += manifest.live_files();
        counters.files_skipped_by_partition += manifest.live_files();
    }
}

/// Return a mask of the manifests that might hold a file whose partition satisfies the filter.
fn might_match(
    list: &RecordBatch,
    manifests: &[ManifestFile],
    filter: &ScanFilter,
) -> Result<Vec<bool>> {
    let mut might_match = vec![true; manifests.len()];
    let summaries = list.column_by_name("partitions");
    let Some(summaries) = summaries.filter(|_| !filter.is_always_true()) else {
        return Ok(might_match);
    };
    let mut by_spec: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
    for (manifest, row) in manifests.iter().zip(0_u32..) {
        by_spec.entry(manifest.spec_id).or_default().push(row);
    }
    for (spec_id, rows) in by_spec {
        let Some(of_spec) = filter.of_spec(spec_id) else { continue };
        let of_rows = take(summaries, &UInt32Array::from(rows.clone()), None)
            .map_err(|error| FormatError::corrupt(WHAT, error.to_string()))?;
        let Some(of_rows) = of_rows.as_list_opt::<i32>() else { continue };
        let stats = ManifestSummaries::new(of_rows, &of_spec.partition_type);
        let matching = evaluate_inclusive(&of_spec.partitions, &stats)?;
        for (row, matches) in rows.into_iter().zip(matching.values()) {
            if let Some(slot) = might_match.get_mut(row as usize) {
                *slot = matches;
            }
        }
    }
    Ok(might_match)
}

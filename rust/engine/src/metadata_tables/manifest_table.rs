//! Manifest lists: read several at once, pruned by partition summaries, and as rows of `manifests`.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::take::take;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::ManifestFile;
use icefloe_format::metadata_tables::{ManifestSpecs, manifest_rows};
use icefloe_format::predicate::{ManifestSummaries, evaluate_inclusive};
use icefloe_format::spec::Schema;

use super::filter::FileFilter;
use crate::error::Result;
use crate::manifests::read_manifest_list;
use crate::store::FileIo;
use crate::table::TableContext;

/// Manifest lists that are read at once.
const CONCURRENCY: usize = 16;

/// Read manifest lists, each in columns of `manifest_file_schema`, in the order of `locations`.
///
/// # Errors
/// `Missing`, `Storage`, and `InFile` for a file that is not a manifest list.
pub async fn read_manifest_lists(io: &FileIo, locations: &[String]) -> Result<Vec<RecordBatch>> {
    futures::stream::iter(locations)
        .map(|location| read_manifest_list(io, location))
        .buffered(CONCURRENCY)
        .try_collect()
        .await
}

/// Return the columns `wanted` of the metadata tables `manifests` and `all_manifests`; see [`manifest_rows`].
///
/// # Errors
/// The errors of [`manifest_rows`].
pub fn manifest_table(
    manifests: &RecordBatch,
    context: &TableContext,
    wanted: &Schema,
) -> Result<RecordBatch> {
    let specs = context.specs.values();
    let specs: ManifestSpecs =
        specs.map(|spec| (spec.spec_id, (spec.clone(), context.partition_type(spec)))).collect();
    Ok(manifest_rows(manifests, &specs, wanted)?)
}

/// Return the manifests that might have an entry of a content, of a spec and in a partition that satisfy the filters,
/// in order.
pub(super) fn might_match(
    list: &RecordBatch,
    filter: &FileFilter,
    context: &TableContext,
) -> Result<Vec<ManifestFile>> {
    let manifests = ManifestFile::from_batch(list)?;
    let mut kept = vec![true; manifests.len()];
    let filters = filter.own.is_some() || !filter.rows.is_always_true();
    let mut by_spec: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
    for (manifest, row) in manifests.iter().zip(0_u32..).filter(|_| filters) {
        by_spec.entry(manifest.spec_id).or_default().push(row);
    }
    for (spec_id, rows) in by_spec {
        let partition_type = context.partition_type(context.spec(spec_id)?);
        let partitions = filter.partitions(spec_id, &partition_type);
        let Some(summaries) = list.column_by_name("partitions") else { continue };
        let of_rows = take(summaries, &UInt32Array::from(rows.clone()), None)
            .map_err(|error| FormatError::invalid("manifests", error.to_string()))?;
        let Some(of_rows) = of_rows.as_list_opt::<i32>() else { continue };
        let stats = ManifestSummaries::new(of_rows, &partition_type);
        let matching = evaluate_inclusive(&partitions, &stats)?;
        for (row, matches) in rows.into_iter().zip(matching.values()) {
            if let Some(slot) = kept.get_mut(row as usize) {
                *slot = matches;
            }
        }
    }
    if let Some(matching) = filter.manifests(&manifests)? {
        for (slot, matches) in kept.iter_mut().zip(matching.values()) {
            *slot &= matches;
        }
    }
    Ok(manifests.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(one, _)| one).collect())
}

//! The metadata table `partitions` and partition statistics: live files, added up by partition.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{ManifestFile, Stats};
use icefloe_format::metadata_tables::PartitionTotals;
use icefloe_format::predicate::references;
use icefloe_format::spec::Schema;

use super::filter::FileFilter;
use super::manifest_table::might_match;
use super::reader::EntryReader;
use crate::error::Result;
use crate::manifests::{Keep, runs_per_manifest};
use crate::runtime::default_threads;
use crate::store::FileIo;
use crate::table::TableContext;

/// Return the columns `wanted` of the metadata table `partitions`; see [`PartitionTotals`]. `committed_at` has the
/// commit times of snapshots in microseconds. Files that the row filter excludes are not added up. With [`Keep::All`],
/// a deleted entry is an update of its partition too.
///
/// # Errors
/// `Missing`, `Storage`, and `InFile` for a file that is not a manifest.
pub async fn partition_table(
    io: FileIo,
    context: Arc<TableContext>,
    manifests: &RecordBatch,
    (wanted, committed_at): (&Schema, HashMap<i64, i64>),
    (filter, keep): (FileFilter, Keep),
) -> Result<RecordBatch> {
    let unified = wanted.field_by_name("partition", true);
    let unified = unified.and_then(|field| field.field_type.as_struct().cloned());
    let totals = PartitionTotals::new(unified.unwrap_or_default(), committed_at);
    let totals = Arc::new(Mutex::new(totals));
    let manifests = might_match(manifests, &filter, &context)?;
    let is_read = |one: &ManifestFile| keep == Keep::All || one.may_have_live_files();
    let manifests: Vec<ManifestFile> = manifests.into_iter().filter(is_read).collect();
    let referenced = references(&filter.rows.rows);
    let stats = if referenced.is_empty() { Stats::Skip } else { Stats::Columns(referenced) };
    let reader = EntryReader { io, context, filter: Arc::new(filter), keep, stats };
    let most = runs_per_manifest(manifests.len());
    futures::stream::iter(manifests)
        .map(|manifest| {
            let totals = Arc::clone(&totals);
            reader.read(manifest, most, move |columns, partition_type| {
                let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                totals.add(&columns, partition_type)
            })
        })
        .buffered(default_threads() * 2)
        .try_for_each(|_| futures::future::ready(Ok(())))
        .await?;
    let totals = totals.lock().unwrap_or_else(PoisonError::into_inner).clone();
    totals.finish(wanted).map_err(|error: FormatError| error.into())
}

//! Decoding the entries of one manifest for metadata tables.

use std::sync::Arc;

use arrow_array::BooleanArray;
use icefloe_format::Result as FormatResult;
use icefloe_format::avro::BlockRun;
use icefloe_format::manifest::{
    DecodeOptions, EntryFilter, ManifestColumns, ManifestFile, Stats, decode_matching_run,
    decode_run, inherit,
};
use icefloe_format::metadata_tables::FileRows;
use icefloe_format::predicate::{
    BoundPredicate, FileStats, PartitionTuples, Predicate, evaluate_inclusive,
};
use icefloe_format::spec::StructType;

use super::filter::FileFilter;
use crate::error::{Error, Result};
use crate::manifests::{Keep, decode_in_runs};
use crate::store::{FileIo, absolute_entries};
use crate::table::TableContext;

/// Decodes manifests to entries that satisfy the filters.
#[derive(Debug, Clone)]
pub(super) struct EntryReader {
    pub(super) io: FileIo,
    pub(super) context: Arc<TableContext>,
    pub(super) filter: Arc<FileFilter>,
    pub(super) keep: Keep,
    pub(super) stats: Stats,
}

impl EntryReader {
    /// Apply `then` to the entries of a manifest, in at most `most` parts in parallel, in order.
    ///
    /// # Errors
    /// `Missing`, `Storage`, and `InFile` for a file that is not a manifest.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        manifest: ManifestFile,
        most: usize,
        then: impl Fn(ManifestColumns, &StructType) -> FormatResult<T> + Send + Sync + 'static,
    ) -> Result<Vec<T>> {
        let bytes = self.io.read(&manifest.path).await?;
        let spec = self.context.spec(manifest.spec_id).map_err(|error| error.at(&manifest.path))?;
        let partition_type = self.context.partition_type(spec);
        let partitions = self.filter.partitions(manifest.spec_id, &partition_type);
        let reader = self.clone();
        decode_in_runs(bytes, most, move |bytes, run| {
            reader
                .entries((bytes, run), &manifest, &partition_type, &partitions)
                .and_then(|columns| then(columns, &partition_type))
                .map_err(|error| Error::in_file(&manifest.path, error))
        })
        .await
    }

    fn entries(
        &self,
        (bytes, run): (&[u8], Option<&BlockRun>),
        manifest: &ManifestFile,
        partition_type: &StructType,
        partitions: &BoundPredicate,
    ) -> FormatResult<ManifestColumns> {
        let stats = self.stats.clone();
        let options = DecodeOptions { spec_id: manifest.spec_id, partition_type, stats };
        let rows = &self.filter.rows.rows;
        let columns = match self.keep {
            Keep::Live => {
                let filter = EntryFilter { partitions, rows };
                decode_matching_run(bytes, run, &options, filter)?.columns
            }
            Keep::All => {
                let columns = decode_run(bytes, run, &options)?;
                pruned(columns, partition_type, (partitions, rows))?
            }
        };
        let columns = absolute_entries(&self.io, inherit(columns, manifest.inheritance())?)?;
        let Some(own) = self.filter.own.as_ref() else { return Ok(columns) };
        let table = &self.context.schema;
        let mask = own.mask(FileRows { columns: &columns, partition_type, table })?;
        if mask.true_count() == columns.len() { Ok(columns) } else { columns.filter(&mask) }
    }
}

/// Return the entries of any status that might match.
fn pruned(
    columns: ManifestColumns,
    partition_type: &StructType,
    (partitions, rows): (&BoundPredicate, &BoundPredicate),
) -> FormatResult<ManifestColumns> {
    let is_all = |predicate: &BoundPredicate| matches!(predicate, Predicate::AlwaysTrue);
    if is_all(partitions) && is_all(rows) {
        return Ok(columns);
    }
    let tuples = PartitionTuples::new(columns.partition.clone(), partition_type);
    let in_partition = evaluate_inclusive(partitions, &tuples)?;
    let by_statistics = evaluate_inclusive(rows, &FileStats::new(&columns.entries))?;
    let contents = columns.ints("content")?.values();
    // The statistics of a delete file do not describe the rows that it deletes.
    let kept = (0..columns.len()).map(|row| {
        let is_data = contents.get(row) == Some(&0);
        Some(in_partition.value(row) && (!is_data || by_statistics.value(row)))
    });
    columns.filter(&kept.collect::<BooleanArray>())
}

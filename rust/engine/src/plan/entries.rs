//! The live entries of manifests that might match the filter.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray, UInt32Array};
use arrow_select::concat::{concat, concat_batches};
use arrow_select::take::take_record_batch;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::avro::BlockRun;
use icefloe_format::manifest::{
    DecodeOptions, EntryFilter, Inheritance, ManifestColumns, MatchingEntries, Stats,
    decode_matching_run, entry_schema, inherit,
};
use icefloe_format::predicate::{
    FileStats, PartitionTuples, Predicate, evaluate_strict, residuals, to_unbound_json,
};

use super::cache::PlanCache;
use super::context::TableContext;
use super::filter::{ScanFilter, SpecFilter};
use super::manifests::ManifestToRead;
use crate::error::{Error, Result};
use crate::manifest_io::{decode_in_runs, runs_of_each};
use crate::runtime::default_threads;
use crate::store::FileIo;

/// Manifests in flight per thread: one is fetched while another is decoded.
const IN_FLIGHT_PER_THREAD: usize = 2;
const DATA: i32 = 0;
const ADDED: i32 = 1;

/// Reads manifests and keeps what might match.
pub(crate) struct ManifestReader {
    pub(crate) io: FileIo,
    pub(crate) context: Arc<TableContext>,
    pub(crate) filter: Arc<ScanFilter>,
    /// If given, only files that this snapshot added are wanted.
    pub(crate) added_by: Option<i64>,
    pub(crate) cache: Option<PlanCache>,
}

/// Entries that might match, in the order of their manifests.
#[derive(Debug)]
pub(crate) struct PlannedEntries {
    /// Columns of the entry schema, inheritance applied.
    pub(crate) entries: RecordBatch,
    /// Predicate JSON of what is left to filter; null for nothing.
    pub(crate) residual: StringArray,
    /// Whether every row satisfies the filter.
    pub(crate) must_match: BooleanArray,
    /// Live entries seen.
    pub(crate) total: u64,
    pub(crate) skipped_by_partition: u64,
    pub(crate) skipped_by_metrics: u64,
}

impl ManifestReader {
    /// Fetch and decode manifests, several at once.
    pub(crate) async fn read(
        &self,
        manifests: Vec<ManifestToRead>,
        stats: Stats,
    ) -> Result<PlannedEntries> {
        let in_flight = default_threads() * IN_FLIGHT_PER_THREAD;
        let most = runs_of_each(manifests.len());
        let parts = futures::stream::iter(manifests)
            .map(|manifest| self.read_one(manifest, stats.clone(), most))
            .buffered(in_flight)
            .try_collect::<Vec<_>>()
            .await?;
        PlannedEntries::concat(&parts.concat())
    }

    async fn read_one(
        &self,
        manifest: ManifestToRead,
        stats: Stats,
        most: usize,
    ) -> Result<Vec<Arc<PlannedEntries>>> {
        let Some(cache) = &self.cache else {
            return self.decode_one(manifest, stats, most).await;
        };
        let key = cache.key(&self.io, &manifest, &stats);
        if let Some(known) = key.as_ref().and_then(|key| cache.get(key)) {
            return Ok(vec![known]);
        }
        let parts = self.decode_one(manifest, stats, most).await?;
        let Some(key) = key else { return Ok(parts) };
        let found = Arc::new(PlannedEntries::compact(&parts)?);
        cache.put(key, &found);
        Ok(vec![found])
    }

    /// At most `most` parts of a manifest, in order.
    async fn decode_one(
        &self,
        manifest: ManifestToRead,
        stats: Stats,
        most: usize,
    ) -> Result<Vec<Arc<PlannedEntries>>> {
        let bytes = self.io.read(&manifest.location).await?;
        let (context, filter) = (Arc::clone(&self.context), Arc::clone(&self.filter));
        let added_by = self.added_by;
        decode_in_runs(bytes, most, move |bytes, run| {
            let spec_id = manifest.spec_id;
            let of_spec = filter.of_spec(spec_id);
            let of_spec = of_spec.ok_or_else(|| no_spec(spec_id, &context))?;
            entries((bytes, run), &manifest, stats.clone(), &filter, of_spec)
                .and_then(|matching| added(matching, added_by))
                .and_then(|matching| select(matching, &filter, of_spec, &context))
                .map(Arc::new)
                .map_err(|error| Error::in_file(&manifest.location, error))
        })
        .await
    }
}

fn no_spec(spec_id: i32, context: &TableContext) -> Error {
    let reason = format!("no partition spec {spec_id} among the {}", context.specs.len());
    FormatError::invalid("partition-specs", reason).into()
}

/// The live entries that might match, inheritance applied.
fn entries(
    (bytes, run): (&[u8], Option<&BlockRun>),
    manifest: &ManifestToRead,
    stats: Stats,
    filter: &ScanFilter,
    of_spec: &SpecFilter,
) -> Result<MatchingEntries, FormatError> {
    let options =
        DecodeOptions { spec_id: manifest.spec_id, partition_type: &of_spec.partition_type, stats };
    let filter = EntryFilter { partitions: &of_spec.partitions, rows: &filter.rows };
    let matching = decode_matching_run(bytes, run, &options, filter)?;
    let from = Inheritance {
        added_snapshot_id: manifest.added_snapshot_id,
        sequence_number: Some(manifest.sequence_number),
    };
    Ok(MatchingEntries { columns: inherit(matching.columns, from)?, ..matching })
}

/// The entries that a snapshot added, if only those are wanted.
fn added(matching: MatchingEntries, by: Option<i64>) -> Result<MatchingEntries, FormatError> {
    let Some(by) = by else { return Ok(matching) };
    let columns = &matching.columns;
    let pairs = columns.ints("status")?.iter().zip(columns.longs("snapshot_id")?);
    let wanted = pairs.map(|(status, snapshot)| status == Some(ADDED) && snapshot == Some(by));
    let columns = columns.filter(&BooleanArray::from(wanted.collect::<Vec<_>>()))?;
    Ok(MatchingEntries { columns, ..matching })
}

/// Say what is left to filter in each entry; those in which nothing can be left are dropped.
fn select(
    matching: MatchingEntries,
    filter: &ScanFilter,
    of_spec: &SpecFilter,
    context: &TableContext,
) -> Result<PlannedEntries, FormatError> {
    let columns = &matching.columns;
    // A delete file's own columns say nothing of the rows that it deletes.
    let deletes = columns.ints("content")?.iter().any(|content| content != Some(DATA));
    let mut planned = if filter.is_always_true() || deletes {
        PlannedEntries::unfiltered(columns, of_spec)?
    } else {
        let tuples = PartitionTuples::new(columns.partition.clone(), &of_spec.partition_type);
        let left = residuals(&filter.rows, &of_spec.spec, &context.schema, &tuples)?;
        let by_metrics = evaluate_strict(&filter.rows, &FileStats::new(&columns.entries))?;
        let verdict = Verdicts::new(&left.predicates, &left.index, &by_metrics);
        PlannedEntries {
            entries: columns.filter(&verdict.kept)?.to_batch(&of_spec.partition_type)?,
            residual: verdict.residual,
            must_match: verdict.must_match,
            ..PlannedEntries::default()
        }
    };
    let refuted = columns.len() - planned.entries.num_rows();
    planned.total = matching.live as u64;
    planned.skipped_by_partition = (matching.skipped_by_partition + refuted) as u64;
    planned.skipped_by_metrics = matching.skipped_by_metrics as u64;
    Ok(planned)
}

/// What the residuals say of each entry; `residual` and `must_match` are of the kept ones alone.
struct Verdicts {
    kept: BooleanArray,
    residual: StringArray,
    must_match: BooleanArray,
}

impl Verdicts {
    fn new(
        predicates: &[icefloe_format::predicate::BoundPredicate],
        index: &[usize],
        by_metrics: &BooleanArray,
    ) -> Self {
        let texts: Vec<String> = predicates.iter().map(to_unbound_json).collect();
        let mut residual = StringBuilder::new();
        let (mut kept, mut must_match) = (Vec::new(), Vec::new());
        for (place, proved) in index.iter().zip(by_metrics.values()) {
            let predicate = predicates.get(*place).unwrap_or(&Predicate::AlwaysTrue);
            let keep = !matches!(predicate, Predicate::AlwaysFalse);
            kept.push(keep);
            if !keep {
                continue;
            }
            let proved = proved || matches!(predicate, Predicate::AlwaysTrue);
            must_match.push(proved);
            residual.append_option(texts.get(*place).filter(|_| !proved));
        }
        Self { kept: kept.into(), residual: residual.finish(), must_match: must_match.into() }
    }
}

impl Default for PlannedEntries {
    fn default() -> Self {
        Self {
            entries: RecordBatch::new_empty(entry_schema()),
            residual: StringArray::new_null(0),
            must_match: BooleanArray::new_null(0),
            total: 0,
            skipped_by_partition: 0,
            skipped_by_metrics: 0,
        }
    }
}

impl PlannedEntries {
    /// Every entry, nothing left to filter.
    fn unfiltered(columns: &ManifestColumns, of_spec: &SpecFilter) -> Result<Self, FormatError> {
        let rows = columns.len();
        Ok(Self {
            entries: columns.to_batch(&of_spec.partition_type)?,
            residual: StringArray::new_null(rows),
            must_match: BooleanArray::from(vec![true; rows]),
            ..Self::default()
        })
    }

    /// Copy the columns into as much memory as they need: what they grew into while they were decoded
    /// is several times that.
    fn compact(parts: &[Arc<Self>]) -> Result<Self> {
        let mut all = Self::concat(parts)?;
        if parts.len() == 1 {
            let rows = u32::try_from(all.entries.num_rows()).unwrap_or(u32::MAX);
            let rows = UInt32Array::from_iter_values(0..rows);
            all.entries = take_record_batch(&all.entries, &rows).map_err(invalid)?;
        }
        Ok(all)
    }

    fn concat(parts: &[Arc<Self>]) -> Result<Self> {
        let schema = entry_schema();
        let entries = concat_batches(&schema, parts.iter().map(|part| &part.entries));
        let residual = joined(parts.iter().map(|part| &part.residual as &dyn Array).collect())?;
        let must_match = joined(parts.iter().map(|part| &part.must_match as &dyn Array).collect())?;
        Ok(Self {
            entries: entries.map_err(invalid)?,
            residual: residual.map_or_else(
                || StringArray::new_null(0),
                |array| StringArray::from(array.to_data()),
            ),
            must_match: must_match.map_or_else(
                || BooleanArray::from(Vec::<bool>::new()),
                |array| BooleanArray::from(array.to_data()),
            ),
            total: parts.iter().map(|part| part.total).sum(),
            skipped_by_partition: parts.iter().map(|part| part.skipped_by_partition).sum(),
            skipped_by_metrics: parts.iter().map(|part| part.skipped_by_metrics).sum(),
        })
    }
}

fn joined(parts: Vec<&dyn Array>) -> Result<Option<ArrayRef>> {
    if parts.is_empty() { Ok(None) } else { concat(&parts).map(Some).map_err(invalid) }
}

pub(super) fn invalid(error: arrow_schema::ArrowError) -> Error {
    FormatError::invalid("entries", error.to_string()).into()
}

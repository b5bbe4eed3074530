//! Decoding of the manifest entries that might match a filter.
//!
//! Each chunk of blocks is decoded in stages: status and partition of every entry; then bounds and counts of the filter's
//! columns, for entries that are not pruned by partition; then all requested fields of the entries left. If most entries
//! are left, whole entries are decoded instead.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{BooleanArray, Int32Array, RecordBatch, StructArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::Schema as ArrowSchema;

use super::chunk::{CHUNK_BYTES, Chunk};
use super::decode::{
    DecodeOptions, Stats, assemble, blocks_of, check_statuses, decode_run, flattened, part,
    read_blocks, selection,
};
use super::entries::{DELETED, ManifestColumns, invalid};
use super::fields::{
    CONTENT_ID, DATA_FILE_ID, METRICS_IDS, PARTITION_ID, STATUS_ID, narrowed, read_entry,
};
use crate::Result;
use crate::avro::{AvroType, BlockRun, Blocks, Container, Forecast, Selection, StructColumn};
use crate::predicate::{
    BoundPredicate, FileStats, PartitionTuples, Predicate, evaluate_inclusive, references,
};
use crate::spec::types::StructType;

const DATA: i32 = 0;
/// Decompressed bytes of a sample, whose share of matching entries predicts that of the next blocks.
const SAMPLE_BYTES: usize = CHUNK_BYTES / 4;

/// A filter on entries, with its projection on the partition.
#[derive(Debug, Clone, Copy)]
pub struct EntryFilter<'a> {
    /// The inclusive projection on partition fields.
    pub partitions: &'a BoundPredicate,
    /// The filter on the table's columns, with NOT pushed down.
    pub rows: &'a BoundPredicate,
}

/// The live entries of a manifest that might match, and the numbers of pruned entries.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchingEntries {
    /// The entries, without inheritance.
    pub columns: ManifestColumns,
    /// Number of live entries of the manifest.
    pub live: usize,
    /// Number of live entries that are pruned by partition.
    pub skipped_by_partition: usize,
    /// Number of other live entries that are pruned by statistics.
    pub skipped_by_metrics: usize,
}

/// Decode the live entries that might match. The result equals filtering all decoded entries.
///
/// Statistics prune data files only: the statistics of a delete file do not describe the rows that it deletes.
///
/// # Errors
/// As for [`ManifestDecoder`](super::ManifestDecoder), and errors of evaluating the filter.
pub fn decode_matching(
    bytes: &[u8],
    options: &DecodeOptions<'_>,
    filter: EntryFilter<'_>,
) -> Result<MatchingEntries> {
    decode_matching_run(bytes, None, options, filter)
}

/// Decode the matching entries of one run of blocks, or of all blocks; see [`decode_matching`] and [`decode_run`].
///
/// # Errors
/// As for [`decode_matching`].
pub fn decode_matching_run(
    bytes: &[u8],
    run: Option<&BlockRun>,
    options: &DecodeOptions<'_>,
    filter: EntryFilter<'_>,
) -> Result<MatchingEntries> {
    let is_all = |predicate: &BoundPredicate| matches!(predicate, Predicate::AlwaysTrue);
    if is_all(filter.partitions) && is_all(filter.rows) {
        let columns = decode_run(bytes, run, options)?;
        let columns = columns.filter(&columns.live()?)?;
        let live = columns.len();
        return Ok(MatchingEntries {
            columns,
            live,
            skipped_by_partition: 0,
            skipped_by_metrics: 0,
        });
    }
    let container = Container::parse(bytes)?;
    let mut decoder = MatchingDecoder::new(container.schema(), options, filter)
        .map_err(|error| error.or_at(container.schema_offset()))?;
    let mut blocks = blocks_of(&container, run);
    decoder.length = blocks.remaining();
    let first = blocks.position();
    let mut start = first;
    let (mut chunk, mut bytes) = (Chunk::default(), SAMPLE_BYTES);
    let mut trust = 1;
    while chunk.fill(&mut blocks, &mut decoder.tuples, bytes)? {
        let seen = chunk.len();
        let keeps_most = decoder.decode(&mut chunk).map_err(|error| error.or_at(start))?;
        if keeps_most {
            decoder.read_undecided(&mut blocks, seen * trust * (CHUNK_BYTES / bytes))?;
        }
        // The blocks between samples double each time that a sample gives the same result.
        (bytes, trust) = if keeps_most { (SAMPLE_BYTES, trust * 2) } else { (CHUNK_BYTES, 1) };
        start = blocks.position();
    }
    decoder.finish().map_err(|error| error.or_at(first))
}

/// The columns of each stage; later stages have fewer entries.
struct MatchingDecoder<'a> {
    filter: EntryFilter<'a>,
    partition_type: &'a StructType,
    spec_id: i32,
    tuples: StructColumn,
    statistics: StructColumn,
    whole: StructColumn,
    /// Whether `whole` has the statistics of the filter's columns.
    tells_all: bool,
    /// Rows of `whole` that have not been filtered.
    undecided: Vec<Range<usize>>,
    /// Compressed bytes of all blocks.
    length: usize,
    /// Compressed bytes that were read at the last reservation of capacity in `whole`.
    forecast_at: usize,
    live: usize,
    in_partition: usize,
}

impl<'a> MatchingDecoder<'a> {
    fn new(
        schema: &AvroType,
        options: &DecodeOptions<'a>,
        filter: EntryFilter<'a>,
    ) -> Result<Self> {
        let entry = read_entry(options.partition_type);
        let compile = |wanted: &StructType, selection: &Selection| {
            StructColumn::compile(wanted, Some(schema), selection)
        };
        let tuples = narrowed(&entry, &[STATUS_ID, DATA_FILE_ID, PARTITION_ID]);
        let metrics = [&[DATA_FILE_ID, CONTENT_ID][..], &METRICS_IDS].concat();
        let mut referenced = references(filter.rows);
        referenced.sort_unstable();
        referenced.dedup();
        let tells_all = match &options.stats {
            Stats::All => true,
            Stats::Skip => referenced.is_empty(),
            Stats::Columns(ids) => referenced.iter().all(|id| ids.contains(id)),
        };
        let referenced = selection(&Stats::Columns(referenced));
        Ok(Self {
            filter,
            partition_type: options.partition_type,
            spec_id: options.spec_id,
            tuples: compile(&tuples, &Selection::default())?,
            statistics: compile(&narrowed(&entry, &metrics), &referenced)?,
            whole: compile(&entry, &selection(&options.stats))?,
            tells_all,
            undecided: Vec::new(),
            length: 0,
            forecast_at: 0,
            live: 0,
            in_partition: 0,
        })
    }

    /// Decode the matching entries of a chunk, whose tuples have been read. Returns whether most entries match, so that
    /// the next blocks should be decoded in full.
    fn decode(&mut self, chunk: &mut Chunk) -> Result<bool> {
        let seen = chunk.len();
        let records = self.tuples.finish()?;
        let statuses = part(&records, "status")?;
        check_statuses(statuses)?;
        let data_file = part(&records, "data_file")?.as_struct();
        let tuples = flattened(part(data_file, "partition")?.as_struct().clone())?;
        let kept = self.by_partition(statuses.as_primitive(), tuples)?;
        chunk.select(&kept);
        self.in_partition += chunk.len();
        if chunk.len() > 0 && !matches!(self.filter.rows, Predicate::AlwaysTrue) {
            chunk.read(&mut self.statistics)?;
            let records = self.statistics.finish()?;
            let data_file = part(&records, "data_file")?.as_struct();
            let (fields, columns, _) = data_file.clone().into_parts();
            let files = RecordBatch::try_new(ArrowSchema::new(fields).into(), columns);
            let files = files.map_err(|error| invalid(&error))?;
            let kept = by_statistics(self.filter.rows, &files)?;
            chunk.select(&kept);
        }
        chunk.read(&mut self.whole)?;
        Ok(self.tells_all && chunk.len() > seen / 2)
    }

    /// Decode all entries of the next blocks, at least `count`, to be filtered later. This is faster than decoding in
    /// stages where most entries match.
    fn read_undecided(&mut self, blocks: &mut Blocks<'_>, count: usize) -> Result<()> {
        let start = self.whole.rows();
        let left = blocks.remaining();
        let read = self.length - left;
        if read > 2 * self.forecast_at {
            self.whole.reserve(Forecast { read, left });
            self.forecast_at = read;
        }
        read_blocks(blocks, &mut self.whole, start.saturating_add(count))?;
        self.undecided.push(start..self.whole.rows());
        Ok(())
    }

    /// Return which entries are live and might match by partition.
    fn by_partition(&mut self, statuses: &Int32Array, tuples: StructArray) -> Result<BooleanArray> {
        let statuses = statuses.values();
        let live =
            BooleanBuffer::collect_bool(statuses.len(), |row| statuses.get(row) != Some(&DELETED));
        self.live += live.count_set_bits();
        if matches!(self.filter.partitions, Predicate::AlwaysTrue) {
            return Ok(BooleanArray::new(live, None));
        }
        let tuples = PartitionTuples::new(tuples, self.partition_type);
        let might_match = evaluate_inclusive(self.filter.partitions, &tuples)?;
        Ok(BooleanArray::new(&live & might_match.values(), None))
    }

    fn finish(mut self) -> Result<MatchingEntries> {
        let mut columns = assemble(&self.whole.finish()?, self.spec_id)?;
        if !self.undecided.is_empty() {
            columns = self.without_pruned(columns)?;
        }
        Ok(MatchingEntries {
            live: self.live,
            skipped_by_partition: self.live - self.in_partition,
            skipped_by_metrics: self.in_partition - columns.len(),
            columns,
        })
    }

    /// Remove the undecided entries that the filter prunes.
    fn without_pruned(&mut self, columns: ManifestColumns) -> Result<ManifestColumns> {
        let mut mask = BooleanBufferBuilder::new(columns.len());
        for rows in std::mem::take(&mut self.undecided) {
            let some = columns.slice(rows.start, rows.len());
            let mut kept = self.by_partition(some.statuses()?, some.partition.clone())?;
            self.in_partition += kept.true_count();
            if !matches!(self.filter.rows, Predicate::AlwaysTrue) {
                let might_match = by_statistics(self.filter.rows, &some.entries)?;
                kept = BooleanArray::new(kept.values() & might_match.values(), None);
            }
            mask.append_n(rows.start - mask.len(), true);
            mask.append_buffer(kept.values());
        }
        mask.append_n(columns.len() - mask.len(), true);
        let mask = BooleanArray::new(mask.finish(), None);
        if mask.true_count() == columns.len() { Ok(columns) } else { columns.filter(&mask) }
    }
}

/// Return which entries might match by their column statistics.
pub(super) fn by_statistics(rows: &BoundPredicate, files: &RecordBatch) -> Result<BooleanArray> {
    let might_match = evaluate_inclusive(rows, &FileStats::new(files))?;
    let contents = files.column_by_name("content").map(|c| c.as_primitive::<Int32Type>());
    // Version 1 has data files only and stores no content; the value of a null slot is 0.
    let of_deletes = BooleanBuffer::collect_bool(files.num_rows(), |row| {
        contents.is_some_and(|contents| contents.value(row) != DATA)
    });
    Ok(BooleanArray::new(&of_deletes | might_match.values(), None))
}

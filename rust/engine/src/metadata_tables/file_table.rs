//! The metadata tables about files, as streams of batches.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{ManifestFile, Stats};
use icefloe_format::metadata_tables::{FileRows, metrics_field_ids};
use icefloe_format::predicate::references;
use icefloe_format::spec::{ArrowOptions, NestedField, Schema, schema_to_arrow};

use super::filter::FileFilter;
use super::manifest_table::might_match;
use super::reader::EntryReader;
use crate::error::Result;
use crate::manifests::{Keep, runs_per_manifest};
use crate::runtime::{block_on, block_on_checking, default_threads};
use crate::store::FileIo;
use crate::table::TableContext;

/// Manifests that are fetched and decoded at once, for each thread.
const IN_FLIGHT_PER_THREAD: usize = 2;
/// Batches of up to this many rows are concatenated.
const FEW_ROWS: usize = 4_096;
const STATISTICS: [&str; 6] = [
    "column_sizes",
    "value_counts",
    "null_value_counts",
    "nan_value_counts",
    "lower_bounds",
    "upper_bounds",
];

/// One of the tables `files`, `entries` and their variants over some manifests, not yet read.
#[derive(Debug, Clone)]
pub struct FileTable {
    reader: EntryReader,
    manifests: Arc<[ManifestFile]>,
    wanted: Arc<Schema>,
    schema: SchemaRef,
}

impl FileTable {
    /// Return the columns `wanted`, a selection from the schema of the metadata table, for entries of `manifests`.
    ///
    /// # Errors
    /// `InvalidArgument` if the batch does not describe manifests.
    pub fn new(
        io: FileIo,
        context: Arc<TableContext>,
        manifests: &RecordBatch,
        wanted: Schema,
        (filter, keep): (FileFilter, Keep),
    ) -> Result<Self> {
        let mut stats = Vec::from([statistics(&wanted, &context)]);
        stats.extend(filter.own.as_ref().map(|own| statistics(&own.columns, &context)));
        stats.push(Stats::Columns(references(&filter.rows.rows)));
        let manifests = might_match(manifests, &filter, &context)?;
        let schema = Arc::new(schema_to_arrow(&wanted, ArrowOptions::default()));
        let (stats, filter) = (union(stats), Arc::new(filter));
        let reader = EntryReader { io, context, filter, keep, stats };
        Ok(Self { reader, manifests: manifests.into(), wanted: Arc::new(wanted), schema })
    }

    /// Return the Arrow schema of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Begin to read the rows, in the order of manifests and entries.
    pub fn open(&self) -> FileTableReader {
        let most = runs_per_manifest(self.manifests.len());
        let in_flight = default_threads() * IN_FLIGHT_PER_THREAD;
        let (table, manifests) = (self.clone(), Arc::clone(&self.manifests));
        let parts = futures::stream::iter(0..manifests.len())
            .filter_map(move |place| futures::future::ready(manifests.get(place).cloned()))
            .map(move |manifest| table.clone().rows(manifest, most))
            .buffered(in_flight)
            .boxed();
        FileTableReader { schema: self.schema(), parts, ready: VecDeque::new() }
    }

    async fn rows(self, manifest: ManifestFile, most: usize) -> Result<Vec<RecordBatch>> {
        let (wanted, context) = (Arc::clone(&self.wanted), Arc::clone(&self.reader.context));
        let rows = self.reader.read(manifest, most, move |columns, partition_type| {
            let table = &context.schema;
            FileRows { columns: &columns, partition_type, table }.batch(&wanted)
        });
        rows.await
    }
}

/// Reads a [`FileTable`] batch by batch.
pub struct FileTableReader {
    schema: SchemaRef,
    parts: BoxStream<'static, Result<Vec<RecordBatch>>>,
    ready: VecDeque<RecordBatch>,
}

impl FileTableReader {
    /// Return the Arrow schema of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Return the next batch; `None` at the end.
    ///
    /// # Errors
    /// `Missing`, `Storage`, and `InFile` for a file that is not a manifest.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        block_on(self.next())
    }

    /// As [`Self::next_batch`], calling `check` every 100 ms; its error ends the wait.
    ///
    /// # Errors
    /// The outer error is of `check`, the inner one of [`Self::next_batch`].
    pub fn next_batch_checking<E>(
        &mut self,
        check: impl FnMut() -> std::result::Result<(), E>,
    ) -> std::result::Result<Result<Option<RecordBatch>>, E> {
        block_on_checking(self.next(), check)
    }

    /// Return the next large batch, or some small ones together.
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let (mut few, mut rows) = (Vec::new(), 0);
        loop {
            match self.ready.pop_front() {
                Some(batch) if !few.is_empty() && rows + batch.num_rows() > FEW_ROWS => {
                    self.ready.push_front(batch);
                    break;
                }
                Some(batch) => {
                    rows += batch.num_rows();
                    few.push(batch);
                }
                None => match self.parts.try_next().await? {
                    Some(part) => {
                        self.ready.extend(part.into_iter().filter(|batch| batch.num_rows() > 0));
                    }
                    None => break,
                },
            }
        }
        match <[RecordBatch; 1]>::try_from(few) {
            Ok([only]) => Ok(Some(only)),
            Err(few) if few.is_empty() => Ok(None),
            Err(few) => concat_batches(&self.schema, &few)
                .map(Some)
                .map_err(|error| FormatError::invalid("metadata table", error.to_string()).into()),
        }
    }
}

/// Return the statistics that columns of a metadata table are made of.
fn statistics(columns: &Schema, context: &TableContext) -> Stats {
    let is_statistic = |field: &NestedField| STATISTICS.contains(&field.name.as_str());
    let data_file = columns.field_by_name("data_file", true);
    let data_file = data_file.and_then(|field| field.field_type.as_struct());
    let inner = data_file.map(|inner| inner.fields.as_slice()).unwrap_or_default();
    if columns.fields().iter().chain(inner).any(is_statistic) {
        return Stats::All;
    }
    let metrics = columns.field_by_name("readable_metrics", true);
    let metrics = metrics.and_then(|field| field.field_type.as_struct());
    Stats::Columns(metrics.map(|it| metrics_field_ids(&context.schema, it)).unwrap_or_default())
}

/// Return the statistics that any of several readers needs.
fn union(stats: Vec<Stats>) -> Stats {
    let mut ids = Vec::new();
    for one in stats {
        match one {
            Stats::All => return Stats::All,
            Stats::Skip => {}
            Stats::Columns(more) => ids.extend(more),
        }
    }
    if ids.is_empty() { Stats::Skip } else { Stats::Columns(ids) }
}

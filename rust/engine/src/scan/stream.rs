//! A scan, which can be opened many times, and one pass over its batches.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{ArrowOptions, Schema, schema_to_arrow};

use super::row_selection::RowSelection;
use super::task::ScanTask;
use super::work::{ScanWork, shared_residuals};
use crate::deletes::delete_file::DeleteFile;
use crate::deletes::files::DeleteFiles;
use crate::error::{Error, Result};
use crate::formats::batch_size::BatchSize;
use crate::formats::data_format::DataFormat;
use crate::pipeline::{Flight, Pipeline, Step};
use crate::runtime::{CHECK_EVERY, default_threads};
use crate::store::FileIo;
use crate::table::TableContext;

/// The least number of threads that read remote files whose bytes are not all read ahead: while some wait, others
/// decode. Each holds a unit in memory.
const REMOTE_THREADS: usize = 4;

/// Batches of the largest size that may wait for the consumer, for each thread.
const WAITING_BATCHES: u64 = 2;

/// Options of a scan.
#[derive(Debug, Clone)]
pub struct ScanOptions {
    /// The columns to read, in order; metadata columns by their reserved ids.
    pub projection: Schema,
    /// The largest size of a batch.
    pub batch_size: BatchSize,
    /// Stop after this many rows.
    pub limit: Option<usize>,
    /// Return strings and binaries as views.
    pub string_views: bool,
    /// Return Arrow's extension types in the schema, where a type has one; the storage of batches is the same.
    pub extension_types: bool,
    /// Threads that decode at once; `None` for [`default_threads`], and at least 4 for remote files.
    pub threads: Option<usize>,
    /// Of the rows that no delete file deletes, the rows to return; `None` for all.
    pub rows: Option<RowSelection>,
}

/// Tasks to read. Reading starts with the first batch of a reader.
#[derive(Clone)]
pub struct Scan {
    work: Arc<ScanWork>,
    schema: SchemaRef,
    /// Whether the schema has extension types, which decoded batches lack.
    extended: bool,
    threads: usize,
    /// Bytes to read ahead of the threads.
    ahead: usize,
}

impl Scan {
    /// Create a scan of tasks in order, with the delete files that they refer to by index.
    ///
    /// # Errors
    /// `InvalidArgument` for a batch size or a thread count of 0; `Unsupported` for a file format that cannot be
    /// read.
    pub fn new(
        io: FileIo,
        context: Arc<TableContext>,
        tasks: Vec<ScanTask>,
        deletes: Vec<DeleteFile>,
        options: ScanOptions,
    ) -> Result<Self> {
        let first = tasks.first().map(|task| io.read_ahead_bytes(&task.location));
        let ahead = first.transpose()?.unwrap_or(0);
        let threads = options.threads.unwrap_or_else(|| threads_for(&io, &tasks, ahead));
        for (name, value) in [("batch_size", options.batch_size.rows), ("threads", threads)] {
            if value == 0 {
                return Err(FormatError::invalid(name, "expected 1 or more, got 0").into());
            }
        }
        check_readable(&tasks)?;
        let storage = ArrowOptions { string_views: options.string_views, ..Default::default() };
        let arrow = ArrowOptions { extension_types: options.extension_types, ..storage };
        let schema = Arc::new(schema_to_arrow(&options.projection, arrow));
        let extended = *schema != schema_to_arrow(&options.projection, storage);
        let data_files = tasks.iter().map(|task| task.location.clone()).collect();
        let ranges = tasks.iter().flat_map(ScanTask::delete_files);
        let uses = (data_files, ranges);
        let deletes = DeleteFiles::new(io.clone(), Arc::clone(&context), deletes, uses, threads);
        let residuals = shared_residuals(&tasks, &context);
        let work = ScanWork {
            io,
            context,
            residuals,
            projection: options.projection,
            tasks,
            deletes: Arc::new(deletes),
            batch_size: options.batch_size,
            limit: options.limit,
            string_views: options.string_views,
            dictionaries: false,
            rows: options.rows,
            process_id: std::process::id(),
        };
        Ok(Self { work: Arc::new(work), schema, extended, threads, ahead })
    }

    /// Return the schema of every batch.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    pub(crate) fn work(&self) -> &Arc<ScanWork> {
        &self.work
    }

    pub(crate) fn flight(&self) -> Flight {
        let waiting = self.work.batch_size.bytes.saturating_mul(WAITING_BATCHES);
        let waiting = usize::try_from(waiting).unwrap_or(usize::MAX);
        let bytes = self.threads.saturating_mul(waiting);
        Flight { threads: self.threads, bytes, ahead: self.ahead }
    }

    /// Return whether a registered decoder outside of this crate reads some file.
    pub fn is_foreign(&self) -> bool {
        let tasks = self.work.tasks.iter().map(|task| task.file_format.as_str());
        let mut formats = tasks.chain(self.work.deletes.formats());
        formats.any(|format| format.eq_ignore_ascii_case("ORC"))
    }

    /// Start a pass from the first row.
    ///
    /// # Errors
    /// [`Error::Internal`] where this process cannot start threads.
    pub fn open(&self) -> Result<ScanReader> {
        Ok(ScanReader {
            batches: Some(Pipeline::new(self.work.of_this_process(), self.flight())?),
            schema: Arc::clone(&self.schema),
            extended: self.extended,
            remaining: self.work.limit,
        })
    }
}

fn threads_for(io: &FileIo, tasks: &[ScanTask], ahead: usize) -> usize {
    // Bytes of unfiltered Parquet files are read ahead. After a filter, the decoding thread requests the remaining
    // bytes.
    let is_read_ahead = |task: &ScanTask| {
        task.residual.is_none() && task.file_format.eq_ignore_ascii_case("PARQUET")
    };
    let first = tasks.first().map(|task| io.local_path(&task.location));
    match first {
        Some(Ok(None)) if ahead == 0 || !tasks.iter().all(is_read_ahead) => {
            default_threads().max(REMOTE_THREADS)
        }
        _ => default_threads(),
    }
}

fn check_readable(tasks: &[ScanTask]) -> Result<()> {
    for task in tasks {
        DataFormat::of(&task.file_format, &task.location)?;
    }
    Ok(())
}

/// A pass over a scan. Dropping it stops the work.
pub struct ScanReader {
    /// `None` after the last batch.
    batches: Option<Pipeline<Arc<ScanWork>>>,
    schema: SchemaRef,
    extended: bool,
    remaining: Option<usize>,
}

impl ScanReader {
    /// Return the next batch.
    ///
    /// # Errors
    /// Errors of reading; the first one ends the pass.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batches) = self.batches.as_mut().filter(|_| self.remaining != Some(0)) else {
            return Ok(None);
        };
        let next = batches.next().transpose()?;
        next.map(|batch| self.finished(batch)).transpose()
    }

    /// As [`ScanReader::next_batch`], calling `check` every 100 ms while it waits.
    ///
    /// # Errors
    /// The outer error is of `check`, the inner one of [`ScanReader::next_batch`].
    pub fn next_batch_checking<E>(
        &mut self,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Result<Option<RecordBatch>>, E> {
        loop {
            let Some(batches) = self.batches.as_mut().filter(|_| self.remaining != Some(0)) else {
                return Ok(Ok(None));
            };
            match batches.next_within(CHECK_EVERY) {
                Ok(Step::Item(batch)) => return Ok(self.finished(batch).map(Some)),
                Ok(Step::End) => return Ok(Ok(None)),
                Ok(Step::Pending) => check()?,
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Return a batch with the schema of the scan, cut at the limit.
    fn finished(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        if !self.extended {
            return Ok(self.limited(batch));
        }
        let batch = batch.with_schema(Arc::clone(&self.schema));
        let batch = batch.map_err(|error| Error::internal("set the schema of a batch", error))?;
        Ok(self.limited(batch))
    }

    /// Return a batch cut at the limit.
    fn limited(&mut self, batch: RecordBatch) -> RecordBatch {
        let Some(remaining) = self.remaining else { return batch };
        let rows = batch.num_rows().min(remaining);
        self.remaining = Some(remaining - rows);
        if remaining == rows {
            self.batches = None;
        }
        batch.slice(0, rows)
    }
}

impl Iterator for ScanReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        next.map_err(|error| ArrowError::from_external_error(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for ScanReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

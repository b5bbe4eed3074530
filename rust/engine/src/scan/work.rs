//! The work of a scan: tasks opened, then decoded unit by unit.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use icefloe_format::Error as FormatError;
use icefloe_format::predicate::{BoundPredicate, Predicate, bind, parse_json};
use icefloe_format::spec::{Datum, Schema, Transform, partition_from_json};

use roaring::RoaringTreemap;

use super::row_selection::{RowSelection, SelectedRows};
use super::task::ScanTask;
use crate::bytes::data_file::TailFetch;
use crate::deletes::deleted_positions::deleted_positions;
use crate::deletes::files::DeleteFiles;
use crate::error::Result;
use crate::formats::batch_size::BatchSize;
use crate::formats::data_format::{DataFormat, DataUnit};
use crate::pipeline::Work;
use crate::resolve::metadata_columns::{DELETED_ID, PARTITION_ID};
use crate::resolve::request::{FileRequest, RowDeletes};
use crate::store::FileIo;
use crate::table::TableContext;

/// The rows of a data file that a task returns.
enum ReturnedRows {
    /// The rows that no delete file deletes.
    Live,
    /// No row at all.
    Nothing,
    /// The rows outside of `dropped`; `_deleted` is true for those in `marked`.
    Marked { dropped: RoaringTreemap, marked: RoaringTreemap },
}

/// The storage, table, tasks and deletes of a scan.
#[derive(Clone)]
pub(crate) struct ScanWork {
    pub(crate) io: FileIo,
    pub(crate) context: Arc<TableContext>,
    pub(crate) projection: Schema,
    pub(crate) tasks: Vec<ScanTask>,
    /// Bound predicates of [`shared_residuals`].
    pub(crate) residuals: HashMap<usize, Result<BoundPredicate>>,
    pub(crate) deletes: Arc<DeleteFiles>,
    pub(crate) batch_size: BatchSize,
    pub(crate) limit: Option<usize>,
    pub(crate) string_views: bool,
    /// Whether the columns of batches may be dictionaries of their types.
    pub(crate) dictionaries: bool,
    /// The selected rows among the rows that are not deleted; `None` for all.
    pub(crate) rows: Option<RowSelection>,
    pub(crate) process_id: u32,
}

impl Work for Arc<ScanWork> {
    type Unit = DataUnit;
    type Item = RecordBatch;

    fn tasks(&self) -> usize {
        self.tasks.len()
    }

    fn fetch_tail(&self, task: usize) -> Option<TailFetch> {
        self.tasks.get(task).and_then(|task| TailFetch::start(&self.io, &task.location))
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<DataUnit>> {
        let Some(found) = self.tasks.get(task) else { return Ok(vec![]) };
        let selected = match &self.rows {
            None => Ok(SelectedRows::All),
            Some(rows) => rows.of_task(task, found.record_count),
        };
        let units = selected.and_then(|selected| self.open((task, found), selected, tail));
        units.map_err(|error| error.at(&found.location))
    }

    fn prefetch(&self, unit: &DataUnit, most: usize) -> Option<usize> {
        unit.prefetch(most)
    }

    fn decode(&self, unit: DataUnit, emit: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
        unit.decode(self.batch_size, self.limit, emit)
    }

    fn bytes(batch: &RecordBatch) -> usize {
        batch.get_array_memory_size()
    }
}

impl ScanWork {
    /// Return the work for the calling process: in a forked child a copy, which loads the deletes that a thread of the
    /// parent was loading.
    pub(crate) fn of_this_process(self: &Arc<Self>) -> Arc<Self> {
        let process_id = std::process::id();
        if self.process_id == process_id {
            return Arc::clone(self);
        }
        let deletes = Arc::new(DeleteFiles::clone(&self.deletes));
        Arc::new(Self { process_id, deletes, ..Self::clone(self) })
    }

    fn open(
        &self,
        (number, task): (usize, &ScanTask),
        selected: SelectedRows,
        tail: Option<TailFetch>,
    ) -> Result<Vec<DataUnit>> {
        if matches!(selected, SelectedRows::Nothing) {
            return Ok(vec![]);
        }
        let format = DataFormat::of(&task.file_format, &task.location)?;
        let mut request = self.request(task, tail)?;
        // Plans number tasks in 32 bits.
        request.task = (number as u32).cast_signed();
        match self.returned_rows(task, &request)? {
            ReturnedRows::Live => {
                let file = (request.location, request.record_count);
                request.deletes = self.deletes.resolve(file, &task.deletes)?;
            }
            ReturnedRows::Nothing => return Ok(vec![]),
            ReturnedRows::Marked { dropped, marked } => {
                request.deletes.positions = Some(Arc::new(dropped));
                request.marked = Some(Arc::new(marked));
            }
        }
        if let SelectedRows::Without(others) = selected {
            request.deletes.positions = Some(match request.deletes.positions.take() {
                None => others,
                Some(deleted) => Arc::new(&*deleted | &*others),
            });
        }
        format.open(&request)
    }

    /// Choose the rows of a task's file. With the column `_deleted`, deleted rows are returned too, and of a task with
    /// marks the rows that the marks delete are the deleted ones. Without the column, a task with marks returns only
    /// the rows that its marks delete and its deletes do not.
    ///
    /// # Errors
    /// Errors of reading delete files and the keys of the data file; `InvalidArgument` for a task with marks whose
    /// row count is unknown.
    fn returned_rows(&self, task: &ScanTask, request: &FileRequest<'_>) -> Result<ReturnedRows> {
        let shows_deleted = self.is_wanted(DELETED_ID);
        let positions = |ranges: &[Range<usize>]| {
            deleted_positions(request, &task.file_format, (&self.deletes, ranges))
        };
        let Some(marks) = &task.marks else {
            if !shows_deleted || task.deletes.is_empty() {
                return Ok(ReturnedRows::Live);
            }
            let (dropped, marked) = (RoaringTreemap::new(), positions(&task.deletes)?);
            return Ok(ReturnedRows::Marked { dropped, marked });
        };
        let dropped = positions(&task.deletes)?;
        let marked = positions(marks)? - &dropped;
        if shows_deleted {
            return Ok(ReturnedRows::Marked { dropped, marked });
        }
        if marked.is_empty() {
            return Ok(ReturnedRows::Nothing);
        }
        let rows = u64::try_from(task.record_count).map_err(|_| {
            FormatError::invalid(
                "files",
                "expected the record count of a file with marks, got none",
            )
        })?;
        let mut unmarked = RoaringTreemap::new();
        unmarked.insert_range(0..rows);
        Ok(ReturnedRows::Marked { dropped: unmarked - &marked, marked })
    }

    /// Return the request for a task's file, without deletes.
    ///
    /// # Errors
    /// Errors of parsing the partition tuple and the residual.
    pub(crate) fn request<'a>(
        &'a self,
        task: &'a ScanTask,
        tail: Option<TailFetch>,
    ) -> Result<FileRequest<'a>> {
        Ok(FileRequest {
            io: &self.io,
            context: &self.context,
            location: &task.location,
            tail: Cell::new(tail),
            record_count: task.record_count,
            start: task.start,
            length: task.length,
            spec_id: task.spec_id,
            task: 0,
            identities: self.identities(task)?,
            projection: &self.projection,
            string_views: self.string_views,
            dictionaries: self.dictionaries,
            residual: self.residual(task)?,
            partition: self.partition(task)?,
            deletes: RowDeletes::default(),
            marked: None,
        })
    }

    fn is_wanted(&self, metadata_column: i32) -> bool {
        self.projection.fields().iter().any(|field| field.id == metadata_column)
    }

    /// Return the partition tuple by partition field id; empty if no column shows it.
    fn partition(&self, task: &ScanTask) -> Result<HashMap<i32, Option<Datum>>> {
        let Some(spec) = self.context.specs.get(&task.spec_id) else { return Ok(HashMap::new()) };
        if !self.is_wanted(PARTITION_ID) {
            return Ok(HashMap::new());
        }
        let values = partition_from_json(&self.context.partition_type(spec), &task.partition)?;
        Ok(spec.fields.iter().map(|field| field.field_id).zip(values).collect())
    }

    fn residual(&self, task: &ScanTask) -> Result<BoundPredicate> {
        let Some(residual) = &task.residual else { return Ok(Predicate::AlwaysTrue) };
        match self.residuals.get(&address_of(residual)) {
            Some(bound) => bound.clone(),
            None => bound(residual, &self.context),
        }
    }

    /// Return the values of the identity-partitioned columns, by source id.
    fn identities(&self, task: &ScanTask) -> Result<HashMap<i32, Option<Datum>>> {
        let Some(spec) = self.context.specs.get(&task.spec_id) else { return Ok(HashMap::new()) };
        if !spec.fields.iter().any(|field| field.transform == Transform::Identity) {
            return Ok(HashMap::new());
        }
        let values = partition_from_json(&self.context.partition_type(spec), &task.partition)?;
        let pairs = spec.fields.iter().zip(values);
        let pairs = pairs.filter(|(field, _)| field.transform == Transform::Identity);
        Ok(pairs.map(|(field, value)| (field.source_id, value)).collect())
    }
}

/// Return the residuals that several tasks share, bound once, by the address of their text.
pub(crate) fn shared_residuals(
    tasks: &[ScanTask],
    context: &TableContext,
) -> HashMap<usize, Result<BoundPredicate>> {
    let mut counts: HashMap<usize, (usize, &Arc<str>)> = HashMap::new();
    for residual in tasks.iter().filter_map(|task| task.residual.as_ref()) {
        counts.entry(address_of(residual)).or_insert((0, residual)).0 += 1;
    }
    let shared = counts.into_iter().filter(|(_, (count, _))| *count > 1);
    shared.map(|(address, (_, residual))| (address, bound(residual, context))).collect()
}

fn address_of(residual: &Arc<str>) -> usize {
    Arc::as_ptr(residual).cast::<u8>() as usize
}

fn bound(residual: &str, context: &TableContext) -> Result<BoundPredicate> {
    Ok(bind(&parse_json(residual)?, &context.schema, true)?)
}

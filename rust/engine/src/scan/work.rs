//! The work of a scan: tasks opened, then decoded unit by unit.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use icefloe_format::predicate::{BoundPredicate, Predicate, bind, parse_json};
use icefloe_format::spec::{Datum, Schema, Transform, partition_from_json};

use super::task::ScanTask;
use crate::bytes::data_file::Opening;
use crate::deletes::files::DeleteFiles;
use crate::deletes::marked_rows::{Wanted, wanted};
use crate::error::Result;
use crate::formats::batch_size::BatchSize;
use crate::formats::data_format::{DataFormat, DataUnit};
use crate::pipeline::Work;
use crate::resolve::metadata_columns::{DELETED_ID, PARTITION_ID};
use crate::resolve::request::{FileRequest, RowDeletes};
use crate::store::FileIo;
use crate::table::TableContext;

/// Everything a scan reads from.
#[derive(Clone)]
pub(crate) struct ScanWork {
    pub(crate) io: FileIo,
    pub(crate) context: Arc<TableContext>,
    pub(crate) projection: Schema,
    pub(crate) tasks: Vec<ScanTask>,
    /// Those of [`shared_residuals`].
    pub(crate) residuals: HashMap<usize, Result<BoundPredicate>>,
    pub(crate) deletes: Arc<DeleteFiles>,
    pub(crate) batch_size: BatchSize,
    pub(crate) limit: Option<usize>,
    pub(crate) string_views: bool,
    pub(crate) process_id: u32,
}

impl Work for Arc<ScanWork> {
    type Unit = DataUnit;
    type Item = RecordBatch;

    fn tasks(&self) -> usize {
        self.tasks.len()
    }

    fn expect(&self, task: usize) -> Option<Opening> {
        self.tasks.get(task).and_then(|task| Opening::of(&self.io, &task.location))
    }

    fn prepare(&self, task: usize, opening: Option<Opening>) -> Result<Vec<DataUnit>> {
        let Some(task) = self.tasks.get(task) else { return Ok(vec![]) };
        self.open(task, opening).map_err(|error| error.at(&task.location))
    }

    fn begin(&self, unit: &DataUnit, most: usize) -> Option<usize> {
        unit.begin(most)
    }

    fn decode(&self, unit: DataUnit, emit: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
        unit.decode(self.batch_size, self.limit, emit)
    }

    fn bytes(batch: &RecordBatch) -> usize {
        batch.get_array_memory_size()
    }
}

impl ScanWork {
    /// The work as the calling process can do it. In a forked child nobody ends what a thread of the parent
    /// had begun to load, so there it is a copy, which loads that itself.
    pub(crate) fn of_this_process(self: &Arc<Self>) -> Arc<Self> {
        let process_id = std::process::id();
        if self.process_id == process_id {
            return Arc::clone(self);
        }
        let deletes = Arc::new(DeleteFiles::clone(&self.deletes));
        Arc::new(Self { process_id, deletes, ..Self::clone(self) })
    }

    fn open(&self, task: &ScanTask, opening: Option<Opening>) -> Result<Vec<DataUnit>> {
        let format = DataFormat::of(&task.file_format, &task.location)?;
        let mut request = self.request(task, opening)?;
        match wanted((task, self.is_wanted(DELETED_ID)), &request, &self.deletes)? {
            Wanted::Kept => {}
            Wanted::Nothing => return Ok(vec![]),
            Wanted::Told { dropped, marked } => {
                request.deletes = RowDeletes::Positions(dropped);
                request.marked = Some(Arc::new(marked));
            }
        }
        format.open(&request)
    }

    /// What is wanted of a task's file.
    ///
    /// # Errors
    /// Where the partition tuple or the residual cannot be read.
    pub(crate) fn request<'a>(
        &'a self,
        task: &'a ScanTask,
        opening: Option<Opening>,
    ) -> Result<FileRequest<'a>> {
        Ok(FileRequest {
            io: &self.io,
            context: &self.context,
            location: &task.location,
            opening: Cell::new(opening),
            record_count: task.record_count,
            start: task.start,
            length: task.length,
            spec_id: task.spec_id,
            identities: self.identities(task)?,
            projection: &self.projection,
            string_views: self.string_views,
            residual: self.residual(task)?,
            partition: self.partition(task)?,
            deletes: RowDeletes::Files(&self.deletes, &task.deletes),
            marked: None,
        })
    }

    fn is_wanted(&self, metadata_column: i32) -> bool {
        self.projection.fields().iter().any(|field| field.id == metadata_column)
    }

    /// The partition tuple by partition field id; empty if no column tells it.
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
        match self.residuals.get(&place_of(residual)) {
            Some(bound) => bound.clone(),
            None => bound(residual, &self.context),
        }
    }

    /// Values of the columns that the file's partition holds as they are, by source id.
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

/// The residuals that several tasks share, bound once, by their places in memory.
pub(crate) fn shared_residuals(
    tasks: &[ScanTask],
    context: &TableContext,
) -> HashMap<usize, Result<BoundPredicate>> {
    let mut counts: HashMap<usize, (usize, &Arc<str>)> = HashMap::new();
    for residual in tasks.iter().filter_map(|task| task.residual.as_ref()) {
        counts.entry(place_of(residual)).or_insert((0, residual)).0 += 1;
    }
    let shared = counts.into_iter().filter(|(_, (count, _))| *count > 1);
    shared.map(|(place, (_, residual))| (place, bound(residual, context))).collect()
}

fn place_of(residual: &Arc<str>) -> usize {
    Arc::as_ptr(residual).cast::<u8>() as usize
}

fn bound(residual: &str, context: &TableContext) -> Result<BoundPredicate> {
    Ok(bind(&parse_json(residual)?, &context.schema, true)?)
}

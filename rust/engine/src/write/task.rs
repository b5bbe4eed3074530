//! A task's share of a write: a stream of batches to data files.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use icefloe_format::Error as FormatError;
use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::{PartitionSpec, Schema, SortOrder, UNSORTED_ORDER_ID};

use super::copied_rows::CopiedRows;
use super::data_file::WrittenFile;
use super::file_format::{FileFormat, FileKind};
use super::file_options::FileOptions;
use super::file_shape::FileShape;
use super::fit::Fit;
use super::locations::{DATA_PATH, FileNames, Locations};
use super::output::Outputs;
use super::read_ahead::write_each;
use super::rolling::Files;
use super::router::{Arrangement, Router};
use crate::error::{Error, Result};
use crate::store::FileIo;

/// The table, properties and names of a task's files.
#[derive(Debug, Clone)]
pub struct WriteTask {
    /// The table's location, with or without a trailing slash.
    pub table_location: String,
    /// The table's properties, overridden by properties of the write.
    pub properties: BTreeMap<String, String>,
    /// Id of the operation; part of file names.
    pub operation_id: String,
    /// Number of the task's share of the work.
    pub partition_id: u32,
    /// Id of the attempt at the task.
    pub task_id: u64,
}

impl WriteTask {
    pub(super) fn names(&self, kind: FileKind, format: FileFormat) -> FileNames {
        let (partition, attempt) = (self.partition_id, self.task_id);
        FileNames::new(partition, attempt, &self.operation_id, (kind, format))
    }

    /// Return the layout of files, with absolute locations.
    pub(super) fn locations(&self, io: &FileIo) -> Result<Locations> {
        let mut properties = self.properties.clone();
        if let Some(path) = properties.get_mut(DATA_PATH) {
            *path = io.absolute(path).into_owned();
        }
        Ok(Locations::new(&io.absolute(&self.table_location), &properties)?)
    }
}

/// The columns, partitioning and order of rows.
#[derive(Debug, Clone)]
pub struct TableLayout {
    /// The schema of the files.
    pub schema: Schema,
    /// The partition spec.
    pub spec: PartitionSpec,
    /// The sort order of rows within a file, if there is one.
    pub sort_order: Option<SortOrder>,
}

/// Write a stream of batches as data files: each row to its partition, files rolled at
/// `write.target-file-size-bytes`, rows sorted within files if the layout says so.
///
/// `presorted` rows are sorted by partition and sort order: one file is open at a time and no rows wait. Otherwise
/// `write.icefloe.memory-bytes` bounds the rows that are sorted at once. Without rows there is no file, and after an
/// error no file is left. The pages of `copied`, to which the source of `data` may add, are written after all batches.
///
/// # Errors
/// `Mismatch` for data that does not fit the schema, before any file is created where types show it;
/// `InvalidArgument` for properties and layouts that are not valid; [`Error::Storage`].
pub fn write_data_files(
    io: &FileIo,
    data: &mut dyn RecordBatchReader,
    layout: &TableLayout,
    task: &WriteTask,
    presorted: bool,
    copied: Option<&CopiedRows>,
) -> Result<Vec<WrittenFile>> {
    let schema = &layout.schema;
    let fit = Fit::new(&data.schema(), schema)?;
    let options = FileOptions::new(&task.properties, FileKind::Data)?;
    let order = layout.sort_order.as_ref().filter(|order| !order.is_unsorted());
    let properties = task.properties.clone().into_iter().collect();
    let modes = MetricsConfig::from_properties(schema, order, &properties)?;
    let shape = FileShape::new(schema, fit.schema().clone(), &options, modes, &[])?;
    let locations = task.locations(io)?;
    let files = Files {
        outputs: Outputs::new(io, locations.data_path())?,
        names: task.names(FileKind::Data, options.format()),
        locations,
        options,
        shape: Arc::new(shape),
        content: 0,
        equality_ids: Vec::new(),
        sort_order_id: Some(order.map_or(UNSORTED_ORDER_ID, |order| order.order_id)),
        finished: Vec::new(),
    };
    let arrangement = Arrangement::new(schema, order, presorted)?;
    let mut router = Router::new(files, schema, &layout.spec, arrangement)?;
    let routed = route(data, &fit, &mut router, copied);
    keep_or_discard(routed, router.into_files())
}

fn route(
    data: &mut dyn RecordBatchReader,
    fit: &Fit,
    router: &mut Router,
    copied: Option<&CopiedRows>,
) -> Result<()> {
    let batches = data.map(|batch| batch.map_err(unreadable));
    write_each(batches, |batch| router.write(&fit.apply(&batch)?))?;
    if let Some(copied) = copied {
        router.append_copied(copied.take(), &RecordBatch::new_empty(fit.schema().clone()))?;
    }
    router.finish()
}

/// Keep the files after success, remove them after an error.
pub(super) fn keep_or_discard(outcome: Result<()>, files: Files) -> Result<Vec<WrittenFile>> {
    match outcome.and_then(|()| files.outputs.sync()) {
        Ok(()) => Ok(files.finished),
        Err(error) => {
            files.outputs.discard();
            Err(error)
        }
    }
}

/// Return an error of the producer of the data.
pub(super) fn unreadable(error: ArrowError) -> Error {
    if let ArrowError::ExternalError(source) = &error
        && let Some(own) = source.downcast_ref::<Error>()
    {
        return own.clone();
    }
    FormatError::invalid("data", error.to_string()).into()
}

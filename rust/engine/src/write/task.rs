//! One task's share of a write: a stream of batches to data files.

use std::collections::BTreeMap;

use arrow_array::RecordBatchReader;
use arrow_schema::ArrowError;
use icefloe_format::Error as FormatError;
use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};

use super::data_file::WrittenFile;
use super::fit::Fit;
use super::locations::{DATA_PATH, FileKind, FileNames, Locations};
use super::options::WriteOptions;
use super::output::Outputs;
use super::parquet_file::FileShape;
use super::rolling::Files;
use super::router::{Arrangement, Router};
use crate::error::{Error, Result};
use crate::store::FileIo;

/// What a task writes to, and under which names.
#[derive(Debug, Clone)]
pub struct WriteTask {
    /// The table's location, without a trailing slash or with one.
    pub table_location: String,
    /// The table's properties, with those of this write laid over them.
    pub properties: BTreeMap<String, String>,
    /// Unique to the operation; part of file names.
    pub operation_id: String,
    /// Number of the task's partition of the work.
    pub partition_id: u32,
    /// Unique to the attempt at the task.
    pub task_id: u64,
}

impl WriteTask {
    pub(super) fn names(&self, kind: FileKind) -> FileNames {
        FileNames::new(self.partition_id, self.task_id, &self.operation_id, kind)
    }

    /// Where files go: absolute locations, whatever those of the table are.
    pub(super) fn locations(&self, io: &FileIo) -> Result<Locations> {
        let mut properties = self.properties.clone();
        if let Some(path) = properties.get_mut(DATA_PATH) {
            *path = io.absolute(path).into_owned();
        }
        Ok(Locations::new(&io.absolute(&self.table_location), &properties)?)
    }
}

/// How rows are laid out.
#[derive(Debug, Clone)]
pub struct TableLayout {
    /// The columns that files hold.
    pub schema: Schema,
    /// How rows are divided.
    pub spec: PartitionSpec,
    /// In which order rows are within a file, if in any.
    pub sort_order: Option<SortOrder>,
}

/// Write a stream of batches as data files: each row to its partition, files rolled at
/// `write.target-file-size-bytes`, rows sorted within files if the layout says so.
///
/// With `presorted` rows come sorted by partition and sort order: one file is open at a time and
/// nothing is held back. Without, what one partition's rows are sorted at a time is bounded by
/// `write.icefloe.memory-bytes`. No rows make no file. When an error is returned, no file is left.
///
/// # Errors
/// `Mismatch` where the data does not fit the schema, before any file for what the types show;
/// `InvalidArgument` for properties and layouts that make no sense; [`Error::Storage`].
pub fn write_data_files(
    io: &FileIo,
    data: &mut dyn RecordBatchReader,
    layout: &TableLayout,
    task: &WriteTask,
    presorted: bool,
) -> Result<Vec<WrittenFile>> {
    let schema = &layout.schema;
    let fit = Fit::new(&data.schema(), schema)?;
    let options = WriteOptions::new(&task.properties, FileKind::Data)?;
    let order = layout.sort_order.as_ref().filter(|order| !order.is_unsorted());
    let properties = task.properties.clone().into_iter().collect();
    let modes = MetricsConfig::from_properties(schema, order, &properties)?;
    let shape = FileShape::new(schema, fit.schema().clone(), &options, modes, &[])?;
    let locations = task.locations(io)?;
    let files = Files {
        outputs: Outputs::new(io, locations.data_path())?,
        names: task.names(FileKind::Data),
        locations,
        options,
        shape,
        content: 0,
        sort_order_id: order.map(|order| order.order_id),
        finished: Vec::new(),
    };
    let arrangement = Arrangement::new(schema, order, presorted)?;
    let mut router = Router::new(files, schema, &layout.spec, arrangement)?;
    let routed = route(data, &fit, &mut router);
    conclude(routed, router.into_files())
}

fn route(data: &mut dyn RecordBatchReader, fit: &Fit, router: &mut Router<'_>) -> Result<()> {
    for batch in data {
        router.write(&fit.apply(&batch.map_err(unreadable)?)?)?;
    }
    router.finish()
}

/// Keep the files of a call that succeeded, remove those of one that did not.
pub(super) fn conclude(outcome: Result<()>, files: Files<'_>) -> Result<Vec<WrittenFile>> {
    match outcome.and_then(|()| files.outputs.sync()) {
        Ok(()) => Ok(files.finished),
        Err(error) => {
            files.outputs.discard();
            Err(error)
        }
    }
}

/// The producer of the data failed.
pub(super) fn unreadable(error: ArrowError) -> Error {
    FormatError::invalid("data", error.to_string()).into()
}

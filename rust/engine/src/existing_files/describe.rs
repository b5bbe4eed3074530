//! Footers or headers of many files read concurrently, each to the description of one data file.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::{
    Partition, PartitionSpec, Schema, SortOrder, Transform, UNSORTED_ORDER_ID, partition_to_json,
};

use super::check::{check_columns, check_directories};
use super::doubts::Evidence;
use super::metrics::column_metrics;
use super::opened_file::OpenedFile;
use super::partition::{Partitioning, partition_of};
use super::path_values::Directories;
use super::statistics::FileStatistics;
use super::trial::Trial;
use crate::bytes::data_file::TailFetch;
use crate::error::{Error, Result};
use crate::pipeline::{Flight, Pipeline, Work};
use crate::resolve::columns::{BatchPlan, FileFacts};
use crate::resolve::file_columns::{FileColumn, file_columns, has_id};
use crate::resolve::request::FileRequest;
use crate::runtime::default_threads;
use crate::store::FileIo;
use crate::table::{NameMapping, TableContext};
use crate::write::{FileFormat, WrittenFile};

/// The least number of threads that read footers: most of their time is waiting for storage.
const LEAST_THREADS: usize = 8;
/// Bytes of descriptions that may wait for their turn.
const WAITING_BYTES: usize = 64 << 20;

/// The descriptions of existing files.
#[derive(Debug)]
pub struct ExistingFiles {
    /// The files in the order of their locations.
    pub files: Vec<WrittenFile>,
    /// The number of files without field ids, whose columns were found by the name mapping.
    pub without_ids: usize,
}

/// What files must be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Checks {
    /// Their format; `None` for any, by the magic bytes of each file.
    pub format: Option<FileFormat>,
    /// Whether all of their columns must be columns of the table.
    pub names: bool,
}

/// Describe Parquet, ORC and Avro files as data files of a table. Their footers or headers are read, and columns whose
/// values may not fit the table by the statistics: nulls of required fields, and values of wider types.
///
/// Columns are compared with the table's schema by field id, or by the context's name mapping in files without ids. Partition
/// values come from the bounds of the source columns, or from `name=value` directories of the location.
///
/// Metrics of the order-preserving columns of `sort_order`, the table's, are collected with bounds; the files themselves are
/// not sorted.
///
/// With `checks.names`, every column of a file must be a column of the table and have its name, and no directory may have the value
/// of a column that the file lacks, unless the column is an identity partition field. Files that belong to the table
/// already may have columns that were dropped or renamed since, and none of their columns is decoded.
///
/// # Errors
/// `Mismatch` for a file whose columns do not fit the schema; `InvalidArgument` for a file whose partition is not
/// determined; [`Error::Missing`], [`Error::Storage`]; `Corrupt` naming the file.
pub fn describe_data_files(
    io: &FileIo,
    context: Arc<TableContext>,
    spec_id: i32,
    locations: Vec<String>,
    sort_order: Option<&SortOrder>,
    checks: Checks,
) -> Result<ExistingFiles> {
    let spec = context.spec(spec_id)?.clone();
    let properties = context.properties.clone().into_iter().collect();
    let modes = MetricsConfig::from_properties(&context.schema, sort_order, &properties)?;
    let first = locations.first().map(|location| io.read_ahead_bytes(location));
    let ahead = first.transpose()?.unwrap_or(0);
    let threads = default_threads().max(LEAST_THREADS);
    let flight = Flight { threads, bytes: WAITING_BYTES, ahead };
    let work = Footers { io: io.clone(), context, spec, modes, locations, checks };
    let described = Pipeline::new(work, flight)?.collect::<Result<Vec<Described>>>()?;
    let without_ids = described.iter().filter(|file| !file.has_ids).count();
    Ok(ExistingFiles { files: described.into_iter().map(|file| file.file).collect(), without_ids })
}

/// A file and whether its columns have field ids.
struct Described {
    file: WrittenFile,
    has_ids: bool,
}

/// Describes the file of every location.
struct Footers {
    io: FileIo,
    context: Arc<TableContext>,
    spec: PartitionSpec,
    modes: MetricsConfig,
    locations: Vec<String>,
    checks: Checks,
}

impl Work for Footers {
    type Unit = Described;
    type Item = Described;

    const NEEDED_WHOLE: bool = true;

    fn tasks(&self) -> usize {
        self.locations.len()
    }

    fn fetch_tail(&self, task: usize) -> Option<TailFetch> {
        self.locations.get(task).and_then(|location| TailFetch::start(&self.io, location))
    }

    fn prefetch(&self, _: &Described, _: usize) -> Option<usize> {
        Some(0)
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<Described>> {
        let Some(location) = self.locations.get(task) else { return Ok(vec![]) };
        let described = self.describe(location, tail).map_err(|error| error.at(location))?;
        Ok(vec![described])
    }

    fn decode(&self, unit: Described, emit: &mut dyn FnMut(Described) -> bool) -> Result<()> {
        emit(unit);
        Ok(())
    }

    fn bytes(_: &Described) -> usize {
        size_of::<Described>()
    }
}

impl Footers {
    fn describe(&self, location: &str, tail: Option<TailFetch>) -> Result<Described> {
        check_name(location)?;
        let context = &*self.context;
        let no_columns = Schema::default();
        let request = FileRequest {
            tail: Cell::new(tail),
            ..FileRequest::whole((&self.io, context), (location, -1), &no_columns)
        };
        let file = OpenedFile::open(&request, self.checks.format)?;
        let nameless = NameMapping::default();
        let has_ids = file_columns(file.schema(), Some(&nameless)).iter().any(has_id);
        let mapping = context.name_mapping.as_ref().unwrap_or(&nameless);
        let columns = file_columns(file.schema(), Some(mapping));
        if self.checks.names {
            check_columns(&columns, context, has_ids)?;
        }
        let statistics = file.statistics(&columns)?;
        let partition = self.check(location, &file, (&columns, &*statistics))?;
        let file = WrittenFile {
            content: 0,
            format: file.format(),
            location: self.io.absolute(location).into_owned(),
            spec_id: self.spec.spec_id,
            partition: partition_to_json(&partition),
            record_count: statistics.rows(),
            file_size_bytes: i64::try_from(file.length()).unwrap_or(i64::MAX),
            metrics: column_metrics(&*statistics, &columns, &context.schema, &self.modes),
            split_offsets: file.split_offsets(),
            equality_ids: Vec::new(),
            sort_order_id: Some(UNSORTED_ORDER_ID),
            referenced_data_file: None,
        };
        Ok(Described { file, has_ids })
    }

    /// Check that the values of a file fit the table, and return its partition tuple.
    fn check(
        &self,
        location: &str,
        file: &OpenedFile,
        (columns, statistics): (&[FileColumn], &dyn FileStatistics),
    ) -> Result<Partition> {
        let context = &*self.context;
        let directories = Directories::of(location);
        let partitioning = Partitioning { context, spec: &self.spec, directories: &directories };
        let partition = partition_of(&partitioning, statistics, columns)?;
        let fields = self.spec.fields.iter().zip(&partition);
        let identities: HashMap<i32, _> = fields
            .filter(|(field, _)| field.transform == Transform::Identity)
            .map(|(field, value)| (field.source_id, value.clone()))
            .collect();
        if self.checks.names {
            let is_known = |id| identities.contains_key(&id);
            check_directories(&directories, columns, &context.schema, is_known)?;
        }
        let evidence = Evidence { statistics, identities: &identities };
        let doubts = evidence.doubts(columns, &context.schema)?;
        let facts = FileFacts {
            what: file.what(),
            columns,
            descriptor: file.descriptor(),
            location,
            spec_id: self.spec.spec_id,
            task: 0,
            identities: &identities,
            partition: &HashMap::new(),
            deleted: None,
        };
        BatchPlan::new(&context.schema, &facts, true)?;
        if self.checks.names {
            Trial { io: &self.io, context, location, file, columns }.check(&doubts)?;
        }
        Ok(partition)
    }
}

/// Refuse files whose name has the extension of a format that tables do not have.
fn check_name(location: &str) -> Result<()> {
    let extension = location.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    let extension = extension.map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some(other @ ("csv" | "json")) => {
            let feature =
                format!("adding {other} files (only Parquet, ORC and Avro files can be added)");
            Err(Error::unsupported_in(location, feature))
        }
        _ => Ok(()),
    }
}

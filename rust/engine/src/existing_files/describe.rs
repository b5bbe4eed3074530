//! Footers of many files read concurrently, each to the description of one data file.

use std::collections::HashMap;
use std::sync::Arc;

use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::{PartitionSpec, Transform, UNSORTED_ORDER_ID, partition_to_json};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::Length;

use super::check::{check_columns, check_directories};
use super::doubts::Evidence;
use super::metrics::column_metrics;
use super::partition::{Partitioning, partition_of};
use super::path_values::Directories;
use super::trial::Trial;
use crate::bytes::data_file::TailFetch;
use crate::error::{Error, Result};
use crate::formats::parquet::file::{Footer, WHAT};
use crate::formats::parquet::row_groups::first_byte;
use crate::pipeline::{Flight, Pipeline, Work};
use crate::resolve::columns::{BatchPlan, FileFacts};
use crate::resolve::file_columns::{file_columns, has_id};
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

/// Describe Parquet files as data files of a table. Their footers are read, and columns whose values may not fit the
/// table by the footer: nulls of required fields, and values of wider types.
///
/// Columns are compared with the table's schema by field id, or by the context's name mapping in files without ids. Partition
/// values come from the bounds of the source columns, or from `name=value` directories of the location.
///
/// With `check_names`, every column of a file must be a column of the table and have its name, and no directory may have the value
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
    check_names: bool,
) -> Result<ExistingFiles> {
    let spec = context.spec(spec_id)?.clone();
    let properties = context.properties.clone().into_iter().collect();
    let modes = MetricsConfig::from_properties(&context.schema, None, &properties)?;
    let first = locations.first().map(|location| io.read_ahead_bytes(location));
    let ahead = first.transpose()?.unwrap_or(0);
    let threads = default_threads().max(LEAST_THREADS);
    let flight = Flight { threads, bytes: WAITING_BYTES, ahead };
    let work = Footers { io: io.clone(), context, spec, modes, locations, check_names };
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
    check_names: bool,
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
        let request = FileRequest {
            tail: std::cell::Cell::new(tail),
            ..FileRequest::whole((&self.io, context), (location, -1), &context.schema)
        };
        let footer = Footer::read(&request)?;
        let nameless = NameMapping::default();
        let has_ids = file_columns(footer.schema(), Some(&nameless)).iter().any(has_id);
        let mapping = context.name_mapping.as_ref().unwrap_or(&nameless);
        let columns = file_columns(footer.schema(), Some(mapping));
        if self.check_names {
            check_columns(&columns, context, has_ids)?;
        }
        let directories = Directories::of(location);
        let partitioning = Partitioning { context, spec: &self.spec, directories: &directories };
        let partition = partition_of(&partitioning, &footer.metadata, &columns)?;
        let identities: HashMap<i32, _> = self
            .spec
            .fields
            .iter()
            .zip(&partition)
            .filter(|(field, _)| field.transform == Transform::Identity)
            .map(|(field, value)| (field.source_id, value.clone()))
            .collect();
        if self.check_names {
            let is_known = |id| identities.contains_key(&id);
            check_directories(&directories, &columns, &context.schema, is_known)?;
        }
        let evidence = Evidence { footer: &footer.metadata, identities: &identities };
        let doubts = evidence.doubts(&columns, &context.schema)?;
        let facts = FileFacts {
            what: WHAT,
            columns: &columns,
            descriptor: Some(footer.metadata.file_metadata().schema_descr()),
            location,
            spec_id: self.spec.spec_id,
            task: 0,
            identities: &identities,
            partition: &HashMap::new(),
            deleted: None,
        };
        BatchPlan::new(&context.schema, &facts, true)?;
        if self.check_names {
            Trial { io: &self.io, context, footer: &footer, columns: &columns }.check(&doubts)?;
        }
        let file = WrittenFile {
            content: 0,
            format: FileFormat::Parquet,
            location: self.io.absolute(location).into_owned(),
            spec_id: self.spec.spec_id,
            partition: partition_to_json(&partition),
            record_count: footer.metadata.file_metadata().num_rows(),
            file_size_bytes: i64::try_from(footer.source.len()).unwrap_or(i64::MAX),
            metrics: column_metrics(&footer.metadata, &columns, &context.schema, &self.modes),
            split_offsets: split_offsets(&footer.metadata),
            equality_ids: Vec::new(),
            sort_order_id: Some(UNSORTED_ORDER_ID),
            referenced_data_file: None,
        };
        Ok(Described { file, has_ids })
    }
}

/// Refuse files whose name has the extension of another format.
fn check_name(location: &str) -> Result<()> {
    let extension = location.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    let extension = extension.map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some(other @ ("avro" | "orc" | "csv" | "json")) => {
            let feature = format!("adding {other} files (only Parquet files can be added)");
            Err(Error::unsupported_in(location, feature))
        }
        _ => Ok(()),
    }
}

/// Return the first bytes of the row groups, ascending; empty if the footer does not state them in order.
fn split_offsets(footer: &ParquetMetaData) -> Vec<i64> {
    let offsets = footer.row_groups().iter().map(|group| i64::try_from(first_byte(group)));
    let offsets: Vec<i64> = offsets.collect::<Result<_, _>>().unwrap_or_default();
    if offsets.is_sorted() { offsets } else { vec![] }
}

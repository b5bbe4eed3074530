//! Positions of deleted rows to position delete files.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, DictionaryArray, Int32Array, Int64Array, RecordBatch, RecordBatchReader, StringArray,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema, SchemaRef};
use icefloe_format::Error as FormatError;
use icefloe_format::metrics::MetricsConfig;
use icefloe_format::spec::{
    NestedField, PartitionSpec, PrimitiveType, Schema, partition_from_json, partition_path,
};

use super::data_file::WrittenFile;
use super::file_format::FileKind;
use super::file_options::FileOptions;
use super::file_shape::FileShape;
use super::output::Outputs;
use super::plain_column::plain_column;
use super::position_file::FilePositions;
use super::rolling::{Destination, Files, Rolling};
use super::task::{WriteTask, keep_or_discard, unreadable};
use crate::error::Result;
use crate::store::FileIo;

/// Id of `file_path` in position delete files.
const FILE_PATH_ID: i32 = 2_147_483_546;
/// Id of `pos` in position delete files.
const POS_ID: i32 = 2_147_483_545;
/// `content` of a position delete file.
const POSITION_DELETES: i32 = 1;
/// Rows of a written batch.
const BATCH_ROWS: usize = 65_536;

/// The data files that share a delete file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Granularity {
    File,
    Partition,
}

/// A data file with deleted rows.
struct Target {
    spec_id: i32,
    partition: String,
}

/// Positions by data file.
type Deletes = BTreeMap<String, Vec<i64>>;

/// Write `(file_path, pos)` pairs, in any order and possibly repeated, as position delete files:
/// one for each data file, or one for each partition if `write.delete.granularity` is `partition`.
///
/// Pairs are collected before the first file is created, 8 bytes for each. `targets` has the spec id and the partition
/// tuple of every data file. After an error no file is left.
///
/// # Errors
/// `InvalidArgument` for a path that is no target, a negative position, a null, malformed targets;
/// [`crate::Error::Storage`].
pub fn write_position_deletes(
    io: &FileIo,
    data: &mut dyn RecordBatchReader,
    targets: &RecordBatch,
    (schema, specs): (&Schema, &[PartitionSpec]),
    task: &WriteTask,
) -> Result<Vec<WrittenFile>> {
    let granularity = granularity(&task.properties)?;
    let targets = read_targets(targets)?;
    let deletes = gather(data)?;
    let destinations = destinations(&deletes, &targets, (schema, specs))?;
    let mut files = delete_files(io, task)?;
    let written = match granularity {
        Granularity::File => per_file(&deletes, &destinations, &mut files),
        Granularity::Partition => per_partition(&deletes, &destinations, &mut files),
    };
    let mut written = keep_or_discard(written, files)?;
    for file in &mut written {
        trim_metrics(file);
    }
    Ok(written)
}

fn granularity(properties: &BTreeMap<String, String>) -> Result<Granularity> {
    const NAME: &str = "write.delete.granularity";
    match properties.get(NAME).map(|text| text.to_ascii_lowercase()).as_deref() {
        None | Some("file") => Ok(Granularity::File),
        Some("partition") => Ok(Granularity::Partition),
        Some(other) => {
            let reason = format!("expected file or partition, got {other:?}");
            Err(FormatError::invalid(NAME, reason).into())
        }
    }
}

/// Read the positions by path, sorted and without repetitions.
fn gather(data: &mut dyn RecordBatchReader) -> Result<Deletes> {
    let mut deletes = Deletes::new();
    for batch in data {
        add_batch(&batch.map_err(unreadable)?, &mut deletes)?;
    }
    for positions in deletes.values_mut() {
        positions.sort_unstable();
        positions.dedup();
    }
    Ok(deletes)
}

fn add_batch(batch: &RecordBatch, deletes: &mut Deletes) -> Result<()> {
    let positions = plain_column(batch, "pos", &DataType::Int64)?;
    let positions = positions.as_primitive::<Int64Type>().values();
    if let Some(negative) = positions.iter().find(|position| **position < 0) {
        return Err(FormatError::invalid(
            "pos",
            format!("expected positions of 0 or more, got {negative}"),
        )
        .into());
    }
    let mut rest = positions.as_ref();
    add_runs(batch, |path, rows| {
        let (found, after) = rest.split_at(rows);
        rest = after;
        match deletes.get_mut(path) {
            Some(known) => known.extend_from_slice(found),
            None => {
                deletes.insert(path.to_owned(), found.to_vec());
            }
        }
    })
}

/// Call `add` with each path and its number of rows, for consecutive rows of one path.
///
/// The keys of a dictionary are compared instead of the paths, which may take a hundred bytes each.
fn add_runs(batch: &RecordBatch, mut add: impl FnMut(&str, usize)) -> Result<()> {
    const NAME: &str = "file_path";
    let dictionary = batch.column_by_name(NAME).and_then(|found| found.as_any_dictionary_opt());
    if let Some(dictionary) = dictionary.filter(|dictionary| dictionary.logical_null_count() == 0) {
        let mismatch = |error: ArrowError| FormatError::Mismatch {
            column: NAME.to_owned(),
            found: error.to_string(),
            expected: DataType::Utf8.to_string(),
        };
        let paths = cast(dictionary.values(), &DataType::Utf8).map_err(mismatch)?;
        let paths = paths.as_string::<i32>();
        // Keys can be normalized only if there are values.
        let keys = if paths.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
        keys.chunk_by(|key, next| key == next).for_each(|run| add(paths.value(run[0]), run.len()));
        return Ok(());
    }
    let paths = plain_column(batch, NAME, &DataType::Utf8)?;
    let paths = paths.as_string::<i32>();
    let mut start = 0;
    while start < batch.num_rows() {
        let path = paths.value(start);
        let end = (start..batch.num_rows()).find(|row| paths.value(*row) != path);
        let end = end.unwrap_or(batch.num_rows());
        add(path, end - start);
        start = end;
    }
    Ok(())
}

fn read_targets(batch: &RecordBatch) -> Result<BTreeMap<String, Target>> {
    let paths = plain_column(batch, "file_path", &DataType::Utf8)?;
    let spec_ids = plain_column(batch, "spec_id", &DataType::Int32)?;
    let partitions = plain_column(batch, "partition", &DataType::Utf8)?;
    let (paths, partitions) = (paths.as_string::<i32>(), partitions.as_string::<i32>());
    let spec_ids = spec_ids.as_primitive::<Int32Type>();
    let targets = (0..batch.num_rows()).map(|row| {
        let partition = partitions.value(row).to_owned();
        (paths.value(row).to_owned(), Target { spec_id: spec_ids.value(row), partition })
    });
    Ok(targets.collect())
}

/// Return the destination of each data file's deletes, in the order of `deletes`.
fn destinations(
    deletes: &Deletes,
    targets: &BTreeMap<String, Target>,
    (schema, specs): (&Schema, &[PartitionSpec]),
) -> Result<Vec<Destination>> {
    let mut known: BTreeMap<(i32, &str), String> = BTreeMap::new();
    let mut destinations = Vec::with_capacity(deletes.len());
    for path in deletes.keys() {
        let target = targets.get(path).ok_or_else(|| {
            let reason = format!("expected a target for {path}, which has deleted rows");
            FormatError::invalid("targets", reason)
        })?;
        let key = (target.spec_id, target.partition.as_str());
        let directories = match known.get(&key) {
            Some(directories) => directories.clone(),
            None => {
                let made = directories(target, schema, specs)?;
                known.insert(key, made.clone());
                made
            }
        };
        destinations.push(Destination {
            spec_id: target.spec_id,
            partition: target.partition.clone(),
            path: directories,
        });
    }
    Ok(destinations)
}

fn directories(target: &Target, schema: &Schema, specs: &[PartitionSpec]) -> Result<String> {
    let spec = specs.iter().find(|spec| spec.spec_id == target.spec_id).ok_or_else(|| {
        let reason =
            format!("expected the id of a partition spec of the table, got {}", target.spec_id);
        FormatError::invalid("targets", reason)
    })?;
    let tuple = partition_from_json(&spec.partition_type(schema), &target.partition)?;
    Ok(partition_path(spec, schema, &tuple))
}

fn delete_files(io: &FileIo, task: &WriteTask) -> Result<Files> {
    let schema = Schema::new(
        0,
        vec![
            NestedField::required(FILE_PATH_ID, "file_path", PrimitiveType::String),
            NestedField::required(POS_ID, "pos", PrimitiveType::Long),
        ],
        vec![],
    );
    let options = FileOptions::new(&task.properties, FileKind::Deletes)?;
    let modes = MetricsConfig::for_position_deletes();
    let key_values = [("delete-type", "position")];
    let shape = FileShape::new(&schema, arrow_schema(), &options, modes, &key_values)?;
    let locations = task.locations(io)?;
    Ok(Files {
        outputs: Outputs::new(io, locations.data_path())?,
        names: task.names(FileKind::Deletes, options.format()),
        locations,
        options,
        shape: Arc::new(shape),
        content: POSITION_DELETES,
        equality_ids: Vec::new(),
        sort_order_id: None,
        finished: Vec::new(),
    })
}

fn arrow_schema() -> SchemaRef {
    let path = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    Arc::new(ArrowSchema::new(vec![
        Field::new("file_path", path, false),
        Field::new("pos", DataType::Int64, false),
    ]))
}

fn per_file(deletes: &Deletes, destinations: &[Destination], files: &mut Files) -> Result<()> {
    for ((path, positions), destination) in deletes.iter().zip(destinations) {
        let mut rolling = Rolling::new(destination.clone());
        let first = &positions[..positions.len().min(BATCH_ROWS)];
        let first = delete_batch(path, first).map_err(unreadable)?;
        if !rolling.write_file_of(files, FilePositions { path, positions }, &first)? {
            write_positions(&mut rolling, files, path, positions)?;
        }
        rolling.close(files)?;
    }
    Ok(())
}

/// A data file of a partition: the destination of its deletes, its path, the positions.
type Member<'a> = (&'a Destination, &'a String, &'a Vec<i64>);

fn per_partition(deletes: &Deletes, destinations: &[Destination], files: &mut Files) -> Result<()> {
    let mut partitions: BTreeMap<(i32, &str), Vec<Member<'_>>> = BTreeMap::new();
    for ((path, positions), destination) in deletes.iter().zip(destinations) {
        let key = (destination.spec_id, destination.partition.as_str());
        partitions.entry(key).or_default().push((destination, path, positions));
    }
    for members in partitions.into_values() {
        let Some((first, ..)) = members.first() else { continue };
        let mut rolling = Rolling::new((*first).clone());
        for (_, path, positions) in members {
            write_positions(&mut rolling, files, path, positions)?;
        }
        rolling.close(files)?;
    }
    Ok(())
}

fn write_positions(
    rolling: &mut Rolling,
    files: &mut Files,
    path: &str,
    positions: &[i64],
) -> Result<()> {
    for chunk in positions.chunks(BATCH_ROWS) {
        let batch = delete_batch(path, chunk).map_err(unreadable)?;
        rolling.write_positions(files, &batch, path)?;
    }
    Ok(())
}

fn delete_batch(path: &str, positions: &[i64]) -> Result<RecordBatch, ArrowError> {
    let keys = Int32Array::from(vec![0; positions.len()]);
    let values = Arc::new(StringArray::from(vec![path]));
    let paths = DictionaryArray::<Int32Type>::try_new(keys, values)?;
    let positions = Int64Array::from(positions.to_vec());
    RecordBatch::try_new(arrow_schema(), vec![Arc::new(paths), Arc::new(positions)])
}

/// Remove the counts, which repeat the record count, and bounds that readers would take for bounds of one data file.
fn trim_metrics(file: &mut WrittenFile) {
    let metrics = &mut file.metrics;
    metrics.value_counts.clear();
    metrics.null_value_counts.clear();
    metrics.nan_value_counts.clear();
    if file.referenced_data_file.is_none() {
        metrics.lower_bounds.clear();
        metrics.upper_bounds.clear();
    }
}

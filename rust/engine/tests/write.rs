//! Data files and delete files as the Parquet crate reads them, and the columns that describe them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema as ArrowSchema};
use icefloe_engine::store::FileIo;
use icefloe_engine::write::locations::Locations;
use icefloe_engine::write::{
    TableLayout, WriteTask, WrittenFile, data_file_batch, write_data_files, write_equality_deletes,
    write_position_deletes,
};
use icefloe_format::manifest::columns::data_file_schema;
use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type as ParquetType;

/// A directory of its own, removed with its contents in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("icefloe-write-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { walk(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        walk(&self.0, &mut found);
        found
    }

    fn task(&self, properties: &[(&str, &str)]) -> WriteTask {
        let properties = properties.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        WriteTask {
            table_location: self.0.to_str().unwrap().to_owned(),
            properties: properties.collect(),
            operation_id: "op".into(),
            partition_id: 0,
            task_id: 1,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"id","required":true,"type":"long"},
    {"id":2,"name":"the name","required":false,"type":"string"},
    {"id":3,"name":"score","required":false,"type":"double"}]}"#;

fn layout(spec: &str, order: Option<&str>) -> TableLayout {
    TableLayout {
        schema: Schema::from_json(SCHEMA).unwrap(),
        spec: PartitionSpec::from_json(spec).unwrap(),
        sort_order: order.map(|order| SortOrder::from_json(order).unwrap()),
    }
}

const FLAT: &str = r#"{"spec-id":0,"fields":[]}"#;
const BUCKETED: &str = r#"{"spec-id":2,"fields":[
    {"name":"b","transform":"bucket[5]","source-id":1,"field-id":1000}]}"#;
/// The void field has the id of a column that the schema does not have.
const WITH_VOID: &str = r#"{"spec-id":3,"fields":[
    {"name":"gone","transform":"void","source-id":9,"field-id":1000},
    {"name":"b","transform":"bucket[5]","source-id":1,"field-id":1001}]}"#;

fn batch(ids: std::ops::Range<i64>) -> RecordBatch {
    let names = ids.clone().map(|id| (id % 3 != 0).then(|| format!("name {}", id % 10)));
    let scores = ids.clone().map(|id| if id % 5 == 0 { f64::NAN } else { id as f64 });
    let columns: [(&str, ArrayRef); 3] = [
        ("score", Arc::new(Float64Array::from_iter_values(scores))),
        ("the name", Arc::new(names.collect::<StringArray>())),
        ("id", Arc::new(Int64Array::from_iter_values(ids))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write(
    batches: Vec<RecordBatch>,
    layout: &TableLayout,
    task: &WriteTask,
) -> icefloe_engine::Result<Vec<WrittenFile>> {
    let schema = batches[0].schema();
    let mut reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    write_data_files(&FileIo::default(), &mut reader, layout, task, false, None)
}

fn ids_of(file: &WrittenFile) -> Vec<i64> {
    let file = std::fs::File::open(&file.location).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    reader
        .flat_map(|batch| batch.unwrap().column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect()
}

#[test]
fn every_row_is_in_the_file_of_its_bucket_once() {
    let scratch = Scratch::new();
    let batches = (0..10).map(|part| batch(part * 1000..(part + 1) * 1000)).collect();
    let files = write(batches, &layout(BUCKETED, None), &scratch.task(&[])).unwrap();
    assert_eq!(files.len(), 5);
    let mut ids: Vec<i64> = files.iter().flat_map(ids_of).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..10_000).collect::<Vec<_>>());
    for file in &files {
        let bucket = file.partition.trim_matches(['[', ']']);
        assert!(file.location.contains(&format!("/data/b={bucket}/")), "{}", file.location);
        assert_eq!(file.spec_id, 2);
    }
}

#[test]
fn void_field_of_a_dropped_column_is_null_in_data_and_delete_files() {
    let scratch = Scratch::new();
    let (layout, task) = (layout(WITH_VOID, None), scratch.task(&[]));
    let mut files = write(vec![batch(0..1000)], &layout, &task).unwrap();
    let keys = batch(0..1000).project(&[2]).unwrap();
    let mut keys = RecordBatchIterator::new([Ok(keys.clone())], keys.schema());
    let io = FileIo::default();
    files.extend(write_equality_deletes(&io, &mut keys, &layout, &[1], &task).unwrap());
    assert_eq!(files.len(), 10);
    for (file, ids) in files.iter().map(|file| (file, ids_of(file))) {
        let bucket = file.partition.strip_prefix("[null,").unwrap().trim_end_matches(']');
        assert!(file.location.contains(&format!("/data/gone=null/b={bucket}/")), "{file:?}");
        assert_eq!(i64::try_from(ids.len()), Ok(file.record_count));
    }
    assert_eq!(files.iter().map(|file| file.record_count).sum::<i64>(), 2000);
}

#[test]
fn schema_has_ids_sanitized_names_and_the_root_of_the_reference() {
    let scratch = Scratch::new();
    let files = write(vec![batch(0..10)], &layout(FLAT, None), &scratch.task(&[])).unwrap();
    let file = std::fs::File::open(&files[0].location).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let root = reader.metadata().file_metadata().schema();
    assert_eq!(root.name(), "table");
    let fields: Vec<(i32, &str)> = root
        .get_fields()
        .iter()
        .map(|field: &Arc<ParquetType>| (field.get_basic_info().id(), field.name()))
        .collect();
    assert_eq!(fields, [(1, "id"), (2, "the_x20name"), (3, "score")]);
}

#[test]
fn counts_and_bounds_are_those_of_the_rows() {
    let scratch = Scratch::new();
    let files = write(vec![batch(1..101)], &layout(FLAT, None), &scratch.task(&[])).unwrap();
    let metrics = &files[0].metrics;
    assert_eq!(metrics.value_counts, BTreeMap::from([(1, 100), (2, 100), (3, 100)]));
    assert_eq!(metrics.null_value_counts, BTreeMap::from([(1, 0), (2, 33), (3, 0)]));
    assert_eq!(metrics.nan_value_counts, BTreeMap::from([(3, 20)]));
    assert_eq!(metrics.lower_bounds[&1], 1i64.to_le_bytes());
    assert_eq!(metrics.upper_bounds[&1], 100i64.to_le_bytes());
    assert_eq!(metrics.lower_bounds[&2], b"name 0");
    assert_eq!(metrics.upper_bounds[&2], b"name 9");
    assert_eq!(metrics.upper_bounds[&3], 99f64.to_le_bytes());
}

#[test]
fn files_roll_and_keep_the_order_of_rows() {
    let scratch = Scratch::new();
    let properties = [("write.target-file-size-bytes", "40000")];
    let task = scratch.task(&properties);
    let files = write(vec![batch(0..50_000)], &layout(FLAT, None), &task).unwrap();
    assert!(files.len() > 2, "{}", files.len());
    assert_eq!(files.iter().flat_map(ids_of).collect::<Vec<_>>(), (0..50_000).collect::<Vec<_>>());
}

#[test]
fn files_are_as_large_as_the_target() {
    let scratch = Scratch::new();
    let target = 100_000;
    let text = target.to_string();
    let task = scratch.task(&[("write.target-file-size-bytes", text.as_str())]);
    let files = write(vec![batch(0..100_000)], &layout(FLAT, None), &task).unwrap();
    let sizes: Vec<i64> = files.iter().map(|file| file.file_size_bytes).collect();
    let (_, whole) = sizes.split_last().unwrap();
    assert!(whole.len() > 2, "{sizes:?}");
    assert!(
        whole.iter().all(|size| (target * 8 / 10..target * 12 / 10).contains(size)),
        "{sizes:?}"
    );
}

#[test]
fn sorted_files_record_their_order() {
    let scratch = Scratch::new();
    let order = r#"{"order-id":3,"fields":[{"transform":"identity","source-id":1,
        "direction":"desc","null-order":"nulls-last"}]}"#;
    let layout = layout(BUCKETED, Some(order));
    let files = write(vec![batch(0..100), batch(100..200)], &layout, &scratch.task(&[])).unwrap();
    for file in &files {
        assert_eq!(file.sort_order_id, Some(3));
        assert!(ids_of(file).is_sorted_by(|left, right| left > right));
    }
}

#[test]
fn failing_source_leaves_no_file() {
    let scratch = Scratch::new();
    let good = batch(0..100_000);
    let schema = good.schema();
    let broken = Err(ArrowError::ComputeError("the source broke".into()));
    let mut reader = RecordBatchIterator::new([Ok(good), broken], schema);
    let task = scratch.task(&[("write.target-file-size-bytes", "20000")]);
    let layout = layout(FLAT, None);
    let failure = write_data_files(&FileIo::default(), &mut reader, &layout, &task, false, None);
    assert!(failure.unwrap_err().to_string().contains("the source broke"));
    assert_eq!(scratch.files(), Vec::<PathBuf>::new());
}

#[test]
fn mismatched_column_is_in_the_error() {
    let scratch = Scratch::new();
    let wrong: [(&str, ArrayRef); 1] = [("id", Arc::new(StringArray::from(vec!["1"])))];
    let wrong = RecordBatch::try_from_iter(wrong).unwrap();
    let failure = write(vec![wrong], &layout(FLAT, None), &scratch.task(&[])).unwrap_err();
    assert_eq!(failure.to_string(), "column id: the data does not fit; expected long, got string");
}

#[test]
fn object_storage_paths_match_the_java_reference() {
    let properties = |more: &[(&str, &str)]| -> BTreeMap<String, String> {
        let enabled = [("write.object-storage.enabled", "true")];
        enabled.iter().chain(more).map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    let file = |more: &[(&str, &str)], partition: &str| {
        Locations::new("/w/db/t", &properties(more)).unwrap().file(partition, "test.parquet")
    };
    assert_eq!(file(&[], ""), "/w/db/t/data/0110/1010/0011/11101000/test.parquet");
    assert_eq!(
        file(&[], "string_field=example_string"),
        "/w/db/t/data/0001/0010/1001/00000011/string_field=example_string/test.parquet"
    );
    let flat = ("write.object-storage.partitioned-paths", "false");
    assert_eq!(
        file(&[flat], "string_field=x"),
        "/w/db/t/data/0110/1010/0011/11101000-test.parquet"
    );
    let outside = ("write.data.path", "/elsewhere/");
    assert_eq!(file(&[outside], ""), "/elsewhere/0110/1010/0011/11101000/db/t/test.parquet");
}

/// Write positions of data files, which are in one partition.
fn write_positions(rows: &[(&str, Vec<i64>)], task: &WriteTask) -> Vec<WrittenFile> {
    let paths = rows.iter().flat_map(|(path, found)| std::iter::repeat_n(*path, found.len()));
    let positions = rows.iter().flat_map(|(_, found)| found.iter().copied());
    let columns: [(&str, ArrayRef); 2] = [
        ("file_path", Arc::new(StringArray::from_iter_values(paths))),
        ("pos", Arc::new(Int64Array::from_iter_values(positions))),
    ];
    let data = RecordBatch::try_from_iter(columns).unwrap();
    let targets: [(&str, ArrayRef); 3] = [
        ("file_path", Arc::new(StringArray::from_iter_values(rows.iter().map(|(path, _)| path)))),
        ("spec_id", Arc::new(Int32Array::from(vec![0; rows.len()]))),
        ("partition", Arc::new(StringArray::from(vec!["[]"; rows.len()]))),
    ];
    let targets = RecordBatch::try_from_iter(targets).unwrap();
    let layout = layout(FLAT, None);
    let schema = data.schema();
    let mut reader = RecordBatchIterator::new([Ok(data)], schema);
    let specs = [layout.spec];
    let table = (&layout.schema, specs.as_slice());
    write_position_deletes(&FileIo::default(), &mut reader, &targets, table, task).unwrap()
}

#[test]
fn position_delete_file_of_many_pages_has_the_bytes_of_the_row_by_row_writer() {
    let scratch = Scratch::new();
    let path = "s3://bucket/warehouse/db/table/data/00000-0-0b0ee8ba-00001.parquet";
    // More than 65,536 rows reach the row-by-row writer in several batches, which end pages at other rows.
    for rows in [20_000, 20_001, 40_000, 50_003, 65_536] {
        for (codec, version) in
            [("zstd", "v1"), ("uncompressed", "v1"), ("snappy", "v2"), ("gzip", "v2")]
        {
            let positions: Vec<i64> = (0..rows).map(|row| row * 37 + row % 7).collect();
            let write = |granularity: &str| {
                let task = scratch.task(&[
                    ("write.delete.granularity", granularity),
                    ("write.delete.parquet.compression-codec", codec),
                    ("write.delete.parquet.page-version", version),
                ]);
                let task =
                    WriteTask { operation_id: format!("{granularity}-{rows}-{codec}"), ..task };
                let files = write_positions(&[(path, positions.clone())], &task);
                let [file] = files.as_slice() else { unreachable!() };
                assert_eq!(file.referenced_data_file.as_deref(), Some(path));
                (std::fs::read(&file.location).unwrap(), file.metrics.clone())
            };
            assert!(write("file") == write("partition"), "{rows} rows, {codec}, pages {version}");
        }
    }
}

#[test]
fn positions_are_the_same_with_every_size_of_files_row_groups_and_pages() {
    const ROWS: i64 = 100_067;
    let scratch = Scratch::new();
    let positions: Vec<i64> = (0..ROWS).map(|row| row * 3).collect();
    for (number, (name, value, files)) in [
        ("write.delete.target-file-size-bytes", "1000000000", 1..2),
        ("write.delete.target-file-size-bytes", "100000", 2..9),
        ("write.delete.parquet.row-group-size-bytes", "100000", 1..2),
        ("write.delete.parquet.dict-size-bytes", "1", 1..2),
        ("write.delete.parquet.page-size-bytes", "1000", 1..2),
        ("write.delete.parquet.page-row-limit", "1", 1..2),
        ("write.delete.format.default", "avro", 1..2),
    ]
    .into_iter()
    .enumerate()
    {
        let task = scratch.task(&[(name, value)]);
        let task = WriteTask { operation_id: format!("op-{number}"), ..task };
        let written = write_positions(&[("a", positions.clone()), ("b", vec![7])], &task);
        let of_first =
            written.iter().filter(|file| file.referenced_data_file.as_deref() == Some("a"));
        let of_first: Vec<_> = of_first.collect();
        assert!(files.contains(&of_first.len()), "{name}: {}", of_first.len());
        let rows = of_first.iter().map(|file| file.record_count).sum::<i64>();
        assert_eq!((rows, written.len() - of_first.len()), (ROWS, 1), "{name}");
        if value != "avro" {
            let found: Vec<i64> = of_first.into_iter().flat_map(positions_of).collect();
            assert_eq!(found, positions, "{name}");
        }
    }
}

fn positions_of(file: &WrittenFile) -> Vec<i64> {
    let path = file.referenced_data_file.as_deref();
    let file = std::fs::File::open(&file.location).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let rows = reader.flat_map(|batch| {
        let batch = batch.unwrap();
        assert!(batch.column(0).as_string::<i32>().iter().all(|found| found == path));
        batch.column(1).as_primitive::<Int64Type>().values().to_vec()
    });
    rows.collect()
}

#[test]
fn position_deletes_name_the_file_they_are_of() {
    let scratch = Scratch::new();
    let schema = Arc::new(ArrowSchema::new(vec![
        Field::new("file_path", DataType::Utf8, false),
        Field::new("pos", DataType::Int64, false),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec!["b", "a", "b", "b"])),
        Arc::new(Int64Array::from(vec![3, 1, 2, 3])),
    ];
    let data = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let targets: [(&str, ArrayRef); 3] = [
        ("file_path", Arc::new(StringArray::from(vec!["a", "b"]))),
        ("spec_id", Arc::new(Int32Array::from(vec![2, 2]))),
        ("partition", Arc::new(StringArray::from(vec!["[0]", "[1]"]))),
    ];
    let targets = RecordBatch::try_from_iter(targets).unwrap();
    let layout = layout(BUCKETED, None);
    let mut reader = RecordBatchIterator::new([Ok(data)], schema);
    let specs = [layout.spec];
    let table = (&layout.schema, specs.as_slice());
    let io = FileIo::default();
    let files =
        write_position_deletes(&io, &mut reader, &targets, table, &scratch.task(&[])).unwrap();
    let summary: Vec<_> = files
        .iter()
        .map(|file| (file.referenced_data_file.as_deref(), file.record_count, file.content))
        .collect();
    assert_eq!(summary, [(Some("a"), 1, 1), (Some("b"), 2, 1)]);
    let described = data_file_batch(&files).unwrap();
    assert_eq!(described.schema(), data_file_schema());
    assert_eq!(described.num_rows(), 2);
}

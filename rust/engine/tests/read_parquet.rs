//! Reading Parquet files as a table's rows.
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema as ArrowSchema};
use icefloe_engine::Error;
use icefloe_engine::formats::BatchSize;
use icefloe_engine::scan::{Scan, ScanOptions, ScanTask};
use icefloe_engine::store::FileIo;
use icefloe_engine::table::TableContext;
use icefloe_format::spec::Schema;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"key","required":false,"type":"long"},
    {"id":2,"name":"label","required":false,"type":"string"},
    {"id":3,"name":"later","required":false,"type":"double"}]}"#;

struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("icefloe-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, columns: Vec<(Option<i32>, &str, ArrayRef)>) -> String {
        let fields: Vec<_> = columns
            .iter()
            .map(|(id, name, array)| {
                let metadata = id.map(|id| ("PARQUET:field_id".to_owned(), id.to_string()));
                Field::new(*name, array.data_type().clone(), true)
                    .with_metadata(HashMap::from_iter(metadata))
            })
            .collect();
        let schema = Arc::new(ArrowSchema::new(fields));
        let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
        let path = self.0.join(name);
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(10)).build();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn task(location: String) -> ScanTask {
    ScanTask {
        location,
        file_format: "PARQUET".into(),
        spec_id: 0,
        partition: "[]".into(),
        record_count: -1,
        start: 0,
        length: u64::MAX,
        residual: None,
        deletes: vec![],
        marks: None,
    }
}

fn scan(tasks: Vec<ScanTask>) -> Scan {
    let context = format!(r#"{{"schema":{SCHEMA},"schemas":[],"partition-specs":[]}}"#);
    let context = Arc::new(TableContext::from_json(&context).unwrap());
    let options = ScanOptions {
        projection: Schema::from_json(SCHEMA).unwrap(),
        batch_size: BatchSize { rows: 7, bytes: 1 << 20 },
        limit: None,
        string_views: false,
        extension_types: false,
        threads: Some(3),
        rows: None,
    };
    Scan::new(FileIo::default(), context, tasks, vec![], options).unwrap()
}

fn keys(scan: &Scan) -> Result<Vec<i64>, Error> {
    let mut reader = scan.open().unwrap();
    let mut keys = vec![];
    while let Some(batch) = reader.next_batch()? {
        assert!(batch.num_rows() <= 7);
        keys.extend(batch.column(0).as_primitive::<Int64Type>().values());
    }
    Ok(keys)
}

fn numbered(rows: i32) -> Vec<(Option<i32>, &'static str, ArrayRef)> {
    vec![
        (Some(2), "name", Arc::new(StringArray::from_iter((0..rows).map(|n| Some(n.to_string()))))),
        (Some(1), "id", Arc::new(Int32Array::from_iter_values(0..rows))),
    ]
}

#[test]
fn columns_are_found_by_id_promoted_and_reordered() {
    let directory = Directory::new();
    let path = directory.write("a.parquet", numbered(35));
    let scan = scan(vec![task(path)]);
    assert_eq!(keys(&scan).unwrap(), (0..35).collect::<Vec<_>>());
    let batch = scan.open().unwrap().next_batch().unwrap().unwrap();
    assert_eq!(batch.schema(), scan.schema());
    assert_eq!(batch.column(1).as_string::<i32>().value(3), "3");
    assert_eq!(batch.column(2).null_count(), batch.num_rows());
}

#[test]
fn files_come_out_in_order() {
    let directory = Directory::new();
    let paths = (0..20).map(|n| directory.write(&format!("{n}.parquet"), numbered(n)));
    let scan = scan(paths.map(task).collect());
    let expected: Vec<i64> = (0..20).flat_map(|rows| 0..rows).collect();
    assert_eq!(keys(&scan).unwrap(), expected);
}

#[test]
fn filter_prunes_row_groups_and_rows() {
    let directory = Directory::new();
    let path = directory.write("a.parquet", numbered(35));
    let residual = r#"{"type":"and","left":{"type":"gt","term":"key","value":18},
        "right":{"type":"not-eq","term":"label","value":"20"}}"#;
    let filtered = ScanTask { residual: Some(residual.into()), ..task(path) };
    let expected: Vec<i64> = (19..35).filter(|n| *n != 20).collect();
    assert_eq!(keys(&scan(vec![filtered])).unwrap(), expected);
}

#[test]
fn without_ids_columns_are_taken_by_position() {
    let directory = Directory::new();
    let column: ArrayRef = Arc::new(Int64Array::from(vec![5, 6]));
    let path = directory.write("a.parquet", vec![(None, "whatever", column)]);
    assert_eq!(keys(&scan(vec![task(path)])).unwrap(), [5, 6]);
}

#[test]
fn failure_follows_the_preceding_rows_and_has_the_file_location() {
    let directory = Directory::new();
    let good = directory.write("good.parquet", numbered(3));
    let bad = directory.0.join("bad.parquet").to_str().unwrap().to_owned();
    std::fs::write(&bad, b"PAR1 nothing of the kind PAR1").unwrap();
    let scan = scan(vec![task(good), task(bad.clone())]);
    let mut reader = scan.open().unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 3);
    let error = reader.next_batch().unwrap_err();
    assert!(matches!(&error, Error::InFile { location, .. } if *location == bad), "{error}");
    assert!(reader.next_batch().unwrap().is_none());
}

//! Reading of Parquet columns without nesting, one column at a time, on one thread.

#![allow(clippy::unwrap_used, reason = "a bench that cannot run has nothing to report")]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_benches::numbers;
use icefloe_engine::formats::BatchSize;
use icefloe_engine::scan::{Scan, ScanOptions, ScanTask};
use icefloe_engine::store::FileIo;
use icefloe_engine::table::TableContext;
use icefloe_engine::write::{TableLayout, WriteTask, write_data_files};
use icefloe_format::spec::{PartitionSpec, Schema};

// The allocator of the extension module, whose cost is part of every measurement.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const ROWS: usize = 1 << 20;

const FIELDS: [(&str, &str); 5] = [
    ("dictionary of dates", r#"{"id":1,"name":"day","required":true,"type":"date"}"#),
    ("PLAIN longs", r#"{"id":2,"name":"id","required":true,"type":"long"}"#),
    ("longs with nulls", r#"{"id":3,"name":"score","required":false,"type":"long"}"#),
    ("dictionary of texts", r#"{"id":4,"name":"mode","required":true,"type":"string"}"#),
    ("PLAIN texts", r#"{"id":5,"name":"comment","required":true,"type":"string"}"#),
];

fn schema(fields: &[&str]) -> String {
    format!(r#"{{"type":"struct","schema-id":0,"fields":[{}]}}"#, fields.join(","))
}

fn rows() -> RecordBatch {
    let bits = || numbers(1, ROWS);
    let modes = ["AIR", "MAIL", "RAIL", "SHIP", "TRUCK", "FOB", "REG AIR"];
    let days = bits().map(|bits| i32::try_from(bits % 2500).unwrap());
    let scores = bits().map(|bits| (bits % 7 > 0).then_some((bits >> 8).cast_signed()));
    let columns: [(&str, ArrayRef); 5] = [
        ("day", Arc::new(Date32Array::from_iter_values(days))),
        ("id", Arc::new(Int64Array::from_iter_values(bits().map(u64::cast_signed)))),
        ("score", Arc::new(scores.collect::<Int64Array>())),
        (
            "mode",
            Arc::new(StringArray::from_iter_values(bits().map(|bits| modes[(bits % 7) as usize]))),
        ),
        (
            "comment",
            Arc::new(StringArray::from_iter_values(bits().map(|bits| format!("comment {bits}")))),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Write one data file below a directory, and return its location.
fn data_file(directory: &Path) -> String {
    let task = WriteTask {
        table_location: directory.to_string_lossy().into_owned(),
        properties: [].into(),
        operation_id: "bench".into(),
        partition_id: 0,
        task_id: 0,
    };
    let layout = TableLayout {
        schema: Schema::from_json(&schema(&FIELDS.map(|(_, field)| field))).unwrap(),
        spec: PartitionSpec::from_json(r#"{"spec-id":0,"fields":[]}"#).unwrap(),
        sort_order: None,
    };
    let rows = rows();
    let schema = rows.schema();
    let mut rows = RecordBatchIterator::new([Ok(rows)], schema);
    write_data_files(&FileIo::default(), &mut rows, &layout, &task, false, None).unwrap();
    let file = std::fs::read_dir(directory.join("data")).unwrap().next().unwrap().unwrap();
    file.path().to_string_lossy().into_owned()
}

fn scan(location: &str, field: &str, string_views: bool) -> Scan {
    let all = schema(&FIELDS.map(|(_, field)| field));
    let context = format!(r#"{{"schema":{all},"schemas":[],"partition-specs":[]}}"#);
    let task = ScanTask {
        location: location.into(),
        file_format: "PARQUET".into(),
        spec_id: 0,
        partition: "[]".into(),
        record_count: -1,
        start: 0,
        length: u64::MAX,
        residual: None,
        deletes: vec![],
        marks: None,
    };
    let options = ScanOptions {
        projection: Schema::from_json(&schema(&[field])).unwrap(),
        batch_size: BatchSize { rows: 65_536, bytes: 20 << 20 },
        limit: None,
        string_views,
        extension_types: false,
        threads: Some(1),
        rows: None,
    };
    let context = Arc::new(TableContext::from_json(&context).unwrap());
    Scan::new(FileIo::default(), context, vec![task], vec![], options).unwrap()
}

fn read(criterion: &mut Criterion) {
    let directory = std::env::temp_dir().join(format!("icefloe-bench-{}", std::process::id()));
    let location = data_file(&directory);
    let mut group = criterion.benchmark_group("read Parquet");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(20);
    for (name, field) in FIELDS {
        for (kind, string_views) in [("offsets", false), ("views", true)] {
            if string_views && !name.ends_with("texts") {
                continue;
            }
            let scan = scan(&location, field, string_views);
            let name =
                if name.ends_with("texts") { format!("{name} as {kind}") } else { name.into() };
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    let mut batches = scan.open().unwrap();
                    let mut rows = 0;
                    while let Some(batch) = batches.next_batch().unwrap() {
                        rows += batch.num_rows();
                    }
                    assert_eq!(rows, ROWS);
                });
            });
        }
    }
    group.finish();
    drop(std::fs::remove_dir_all(&directory));
}

criterion_group!(benches, read);
criterion_main!(benches);

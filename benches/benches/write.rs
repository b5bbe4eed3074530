//! Writing of rows to one file, to few partitions and to many partitions.

#![allow(clippy::unwrap_used, reason = "a bench that cannot run has nothing to report")]

use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use icefloe_engine::store::FileIo;
use icefloe_engine::write::{TableLayout, WriteTask, write_data_files};
use icefloe_format::spec::{PartitionSpec, Schema};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const BATCHES: i64 = 8;
const BATCH_ROWS: i64 = 65_536;

const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"id","required":true,"type":"long"},
    {"id":2,"name":"day","required":true,"type":"date"},
    {"id":3,"name":"price","required":true,"type":"double"},
    {"id":4,"name":"mode","required":true,"type":"string"},
    {"id":5,"name":"comment","required":true,"type":"string"}]}"#;

/// Return a reproducible pseudo-random value for a row, by one step of a linear congruential generator.
fn scrambled(row: i64) -> i64 {
    row.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 33
}

fn batch(first: i64) -> RecordBatch {
    let rows = || first..first + BATCH_ROWS;
    let days = rows().map(|row| i32::try_from(scrambled(row).rem_euclid(2500)).unwrap_or(0));
    let prices = rows().map(|row| f64::from_bits(0x4010_0000_0000_0000 + row.cast_unsigned()));
    let modes = rows().map(|row| if scrambled(row) % 4 == 0 { "AIR" } else { "MAIL" });
    let comments = rows().map(|row| format!("comment {} of {row}", scrambled(row)));
    let columns: [(&str, ArrayRef); 5] = [
        ("id", Arc::new(Int64Array::from_iter_values(rows()))),
        ("day", Arc::new(Date32Array::from_iter_values(days))),
        ("price", Arc::new(Float64Array::from_iter_values(prices))),
        ("mode", Arc::new(StringArray::from_iter_values(modes))),
        ("comment", Arc::new(StringArray::from_iter_values(comments))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn layout(transform: Option<&str>) -> TableLayout {
    let field = transform.map_or(String::new(), |transform| {
        format!(r#"{{"name":"p","transform":"{transform}","source-id":1,"field-id":1000}}"#)
    });
    TableLayout {
        schema: Schema::from_json(SCHEMA).unwrap(),
        spec: PartitionSpec::from_json(&format!(r#"{{"spec-id":0,"fields":[{field}]}}"#)).unwrap(),
        sort_order: None,
    }
}

fn write(criterion: &mut Criterion) {
    let batches: Vec<_> = (0..BATCHES).map(|number| batch(number * BATCH_ROWS)).collect();
    let directory = std::env::temp_dir().join(format!("icefloe-bench-{}", std::process::id()));
    let task = WriteTask {
        table_location: directory.to_string_lossy().into_owned(),
        properties: [].into(),
        operation_id: "bench".into(),
        partition_id: 0,
        task_id: 0,
    };
    let io = FileIo::default();
    let mut group = criterion.benchmark_group("write");
    group.throughput(Throughput::Elements((BATCHES * BATCH_ROWS).unsigned_abs())).sample_size(10);
    let cases = [
        ("one file", None),
        ("28 partitions", Some("bucket[28]")),
        ("1000 partitions", Some("bucket[1000]")),
    ];
    for (name, transform) in cases {
        let layout = layout(transform);
        group.bench_function(name, |bencher| {
            let fresh = || drop(std::fs::remove_dir_all(&directory));
            let routine = |()| {
                let schema = batches[0].schema();
                let mut data = RecordBatchIterator::new(batches.iter().cloned().map(Ok), schema);
                write_data_files(&io, &mut data, &layout, &task, false, None).unwrap()
            };
            bencher.iter_batched(fresh, routine, BatchSize::PerIteration);
        });
    }
    group.finish();
    drop(std::fs::remove_dir_all(&directory));
}

criterion_group!(benches, write);
criterion_main!(benches);

//! Position sets, equality keys, pairing of delete files.

#![allow(missing_docs, clippy::unwrap_used, reason = "criterion writes main; a bench may stop")]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_format::delete::{DeleteIndex, EqualityKeys, PositionDeletes, TableFacts, row_runs};
use icefloe_format::spec::PrimitiveType;

const ROWS: i64 = 1 << 20;
const DELETED: i64 = 500_000;

fn positions(criterion: &mut Criterion) {
    let per_file = DELETED / 10;
    let paths: StringArray = (0..DELETED)
        .map(|n| Some(format!("s3://bucket/data/file-{}.parquet", n / per_file)))
        .collect();
    let values: Int64Array = (0..DELETED).map(|n| Some(n % per_file * 20)).collect();
    let batch = RecordBatch::try_from_iter(vec![
        ("file_path", Arc::new(paths) as ArrayRef),
        ("pos", Arc::new(values) as ArrayRef),
    ])
    .unwrap();
    let mut group = criterion.benchmark_group("positions");
    group.throughput(Throughput::Elements(DELETED.unsigned_abs()));
    group.bench_function("gather 500k of 10 files", |bench| {
        bench.iter(|| {
            let mut deletes = PositionDeletes::default();
            deletes.insert_batch(black_box(&batch), None).unwrap();
            deletes
        });
    });
    let mut deletes = PositionDeletes::default();
    deletes.insert_batch(&batch, None).unwrap();
    let one = deletes.positions("s3://bucket/data/file-3.parquet").unwrap();
    group.throughput(Throughput::Elements(per_file.unsigned_abs()));
    group.bench_function("runs of one file", |bench| {
        bench.iter(|| row_runs(black_box(one), 0, 1_000_000));
    });
    group.finish();
}

fn keys(criterion: &mut Criterion) {
    let numbers = |count: i64, step: i64| -> ArrayRef {
        Arc::new((0..count).map(|n| Some(n.wrapping_mul(step))).collect::<Int64Array>())
    };
    let texts = |count: i64, step: i64| -> ArrayRef {
        Arc::new((0..count).map(|n| Some(format!("key-{}", n * step))).collect::<StringArray>())
    };
    let mut group = criterion.benchmark_group("equality keys");
    group.throughput(Throughput::Elements(ROWS.unsigned_abs()));
    for (name, types, keys, rows) in [
        (
            "1M longs, 10k keys",
            vec![PrimitiveType::Long],
            vec![numbers(10_000, 97)],
            vec![numbers(ROWS, 1)],
        ),
        (
            "1M (long, text), 10k keys",
            vec![PrimitiveType::Long, PrimitiveType::String],
            vec![numbers(10_000, 97), texts(10_000, 97)],
            vec![numbers(ROWS, 1), texts(ROWS, 1)],
        ),
    ] {
        let mut set = EqualityKeys::new(&types).unwrap();
        set.insert(&keys).unwrap();
        group.bench_function(name, |bench| bench.iter(|| set.deleted(black_box(&rows)).unwrap()));
    }
    group.finish();
}

struct Table;

impl TableFacts for Table {
    fn is_unpartitioned(&self, _spec_id: i32) -> bool {
        false
    }

    fn equality_field(&self, _field_id: i32) -> Option<(PrimitiveType, bool)> {
        None
    }
}

fn entries(count: i32, content: i32, referenced: bool) -> RecordBatch {
    let path = |n: i32| Some(format!("s3://bucket/data/file-{n}.parquet"));
    let texts = |of: &dyn Fn(i32) -> Option<String>| -> ArrayRef {
        Arc::new((0..count).map(of).collect::<StringArray>())
    };
    let ints = |value: i32| -> ArrayRef {
        Arc::new((0..count).map(|_| Some(value)).collect::<Int32Array>())
    };
    let sequences: Int64Array = (0..count).map(|n| Some(i64::from(n % 100))).collect();
    RecordBatch::try_from_iter_with_nullable(vec![
        ("sequence_number", Arc::new(sequences) as ArrayRef, true),
        ("content", ints(content), true),
        ("file_path", texts(&path), true),
        ("file_format", texts(&|_| Some("PARQUET".into())), true),
        ("spec_id", ints(1), true),
        ("partition", texts(&|n| Some(format!("[{}]", n % 1000))), true),
        ("referenced_data_file", texts(&|n| path(n).filter(|_| referenced)), true),
    ])
    .unwrap()
}

fn pairing(criterion: &mut Criterion) {
    let data = entries(100_000, 0, false);
    let deletes = entries(10_000, 1, true);
    let mut group = criterion.benchmark_group("index");
    group.throughput(Throughput::Elements(100_000));
    group.bench_function("10k deletes of one file each, 100k files", |bench| {
        bench.iter(|| {
            let index = DeleteIndex::new(black_box(&deletes), &Table).unwrap();
            index.applying(&data).unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, positions, keys, pairing);
criterion_main!(benches);

//! Position deletes, equality delete keys, and pairing of delete files with data files.

#![allow(missing_docs, clippy::unwrap_used, reason = "criterion writes main; a bench may stop")]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames,
};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, StringViewArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_format::delete::{
    DeleteIndex, EqualityKeys, PositionDeletes, TableFacts, deleted_positions, row_runs,
};
use icefloe_format::spec::PrimitiveType;

// The allocator of the extension module, whose cost is part of every measurement.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

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
    group.bench_function("mask of one file", |bench| {
        bench.iter(|| deleted_positions(black_box(one), 0..1_000_000));
    });
    group.finish();
}

fn numbers(count: i64, step: i64) -> ArrayRef {
    Arc::new((0..count).map(|n| Some(n.wrapping_mul(step))).collect::<Int64Array>())
}

/// Return strings as views, the layout that the Parquet decoder returns.
fn texts(count: i64, step: i64) -> ArrayRef {
    Arc::new(
        (0..count).map(|n| Some(format!("customer-{}", n * step))).collect::<StringViewArray>(),
    )
}

fn ints(count: i64, step: i64) -> ArrayRef {
    Arc::new((0..count).map(|n| i32::try_from(n * step).ok()).collect::<Int32Array>())
}

/// Measure equality deletes of 10,000 keys, every 97th of 1M rows.
fn keys(criterion: &mut Criterion) {
    use PrimitiveType as P;
    type Columns = fn(i64, i64) -> Vec<ArrayRef>;
    let cases: [(&str, &[P], Columns); 5] = [
        ("long", &[P::Long], |count, step| vec![numbers(count, step)]),
        ("string", &[P::String], |count, step| vec![texts(count, step)]),
        ("int and long", &[P::Int, P::Long], |c, s| vec![ints(c, s), numbers(c, s)]),
        ("two longs", &[P::Long, P::Long], |c, s| vec![numbers(c, s), numbers(c, s * 7)]),
        ("long and string", &[P::Long, P::String], |c, s| vec![numbers(c, s), texts(c, s)]),
    ];
    let mut group = criterion.benchmark_group("equality keys");
    for (name, types, columns) in cases {
        let (deleted, rows) = (columns(10_000, 97), columns(ROWS, 1));
        let build = || {
            let mut set = EqualityKeys::new(types).unwrap();
            set.insert(black_box(&deleted), 0).unwrap();
            set
        };
        group.throughput(Throughput::Elements(10_000));
        group.bench_function(format!("build 10k, {name}"), |bench| bench.iter(build));
        group.throughput(Throughput::Elements(ROWS.unsigned_abs()));
        let set = build();
        group.bench_function(format!("apply to 1M, {name}"), |bench| {
            bench.iter(|| set.deleted(black_box(&rows)).unwrap());
        });
        group.bench_function(format!("build 10k and apply to 1M, {name}"), |bench| {
            bench.iter(|| build().deleted(black_box(&rows)).unwrap());
        });
    }
    group.finish();
}

/// A table with one partition spec, whose field 1 has type `long`.
struct Table;

impl TableFacts for Table {
    fn is_unpartitioned(&self, _spec_id: i32) -> bool {
        false
    }

    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)> {
        (field_id == 1).then_some((PrimitiveType::Long, false))
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Data,
    /// Position deletes of the data file with the same ordinal.
    OfOneFile,
    /// Position deletes of a partition.
    OfPartition,
    /// Equality deletes with bounds of their keys.
    Equality,
    /// Equality deletes without narrow bounds of their keys.
    EqualityAnywhere,
}

fn bounds(values: impl Iterator<Item = i64>) -> ArrayRef {
    let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
    let mut map = MapBuilder::new(Some(names), Int32Builder::new(), BinaryBuilder::new());
    for value in values {
        map.keys().append_value(1);
        map.values().append_value(value.to_le_bytes());
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn no_nulls(files: i32) -> ArrayRef {
    let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
    let mut map = MapBuilder::new(Some(names), Int32Builder::new(), Int64Builder::new());
    for _ in 0..files {
        map.keys().append_value(1);
        map.values().append_value(0);
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

/// Return entries of files in 1,000 partitions with 100 sequence numbers. Keys of data files are 10,000 apart within a
/// partition; keys of equality deletes cover `span` keys.
fn entries(count: i32, kind: Kind, span: i64) -> RecordBatch {
    let path = |n: i32| Some(format!("s3://bucket/warehouse/table/data/file-{n:08}.parquet"));
    let column = |of: &dyn Fn(i32) -> Option<String>| -> ArrayRef {
        Arc::new((0..count).map(of).collect::<StringArray>())
    };
    let ints = |value: i32| -> ArrayRef {
        Arc::new((0..count).map(|_| Some(value)).collect::<Int32Array>())
    };
    let content = match kind {
        Kind::Data => 0,
        Kind::OfOneFile | Kind::OfPartition => 1,
        Kind::Equality | Kind::EqualityAnywhere => 2,
    };
    let sequences: Int64Array = (0..count).map(|n| Some(i64::from(n / 1000 % 100))).collect();
    let mut ids = ListBuilder::new(Int32Builder::new());
    for _ in 0..count {
        ids.append_option((content == 2).then_some([Some(1)]));
    }
    let anywhere = matches!(kind, Kind::EqualityAnywhere);
    let lower = |n: i32| if anywhere { -1 } else { i64::from(n / 1000) * 10_000 * span };
    let upper = |n: i32| if anywhere { i64::MAX } else { lower(n) + 9_999 * span };
    let referenced = |n: i32| path(n).filter(|_| matches!(kind, Kind::OfOneFile));
    RecordBatch::try_from_iter_with_nullable(vec![
        ("sequence_number", Arc::new(sequences) as ArrayRef, true),
        ("content", ints(content), true),
        ("file_path", column(&path), true),
        ("file_format", column(&|_| Some("PARQUET".into())), true),
        ("spec_id", ints(1), true),
        ("partition", column(&|n| Some(format!("[{}]", n % 1000))), true),
        ("lower_bounds", bounds((0..count).map(lower)), true),
        ("upper_bounds", bounds((0..count).map(upper)), true),
        ("null_value_counts", no_nulls(count), true),
        ("equality_ids", Arc::new(ids.finish()), true),
        ("referenced_data_file", column(&referenced), true),
    ])
    .unwrap()
}

fn pairing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pairing");
    group.sample_size(10);
    for (files, deletes) in [(1_000_000, 100_000), (2_000_000, 200_000)] {
        let data = entries(files, Kind::Data, 1);
        group.throughput(Throughput::Elements(u64::from((files + deletes).unsigned_abs())));
        for (name, kind, span) in [
            ("of one file", Kind::OfOneFile, 1),
            ("of a partition", Kind::OfPartition, 1),
            ("equality", Kind::Equality, 10),
            ("equality, keys in no order", Kind::EqualityAnywhere, 1),
        ] {
            let deletes = entries(deletes, kind, span);
            group.bench_function(
                format!("{files} files, {} deletes {name}", deletes.num_rows()),
                |bench| {
                    bench.iter(|| {
                        let index = DeleteIndex::new(black_box(&deletes), &Table).unwrap();
                        let (runs, used) =
                            index.applying(&data).unwrap().compact(deletes.num_rows());
                        (runs.into_array().unwrap(), used)
                    });
                },
            );
        }
    }
    group.finish();
}

criterion_group!(benches, positions, keys, pairing);
criterion_main!(benches);

//! Filtering rows, pruning files by statistics, residuals of partitions.

#![allow(missing_docs, clippy::unwrap_used, reason = "criterion writes main; a bench may stop")]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, MapBuilder, MapFieldNames};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_format::predicate::{
    BoundPredicate, FileStats, PartitionTuples, bind, evaluate_inclusive, filter_mask, parse_json,
    residuals,
};
use icefloe_format::spec::{
    Datum, NestedField, PartitionField, PartitionSpec, PrimitiveType, Schema,
};

const ROWS: i64 = 1 << 20;
const FILES: i64 = 100_000;
const COLUMNS: i32 = 12;

fn schema() -> Schema {
    let mut fields: Vec<NestedField> = (1..=COLUMNS)
        .map(|id| NestedField::optional(id, format!("c{id}"), PrimitiveType::Long))
        .collect();
    fields.push(NestedField::optional(100, "name", PrimitiveType::String));
    Schema { schema_id: 0, fields, identifier_field_ids: Vec::new() }
}

fn predicate(filter: &str) -> BoundPredicate {
    bind(&parse_json(filter).unwrap(), &schema(), true).unwrap()
}

const RANGE: &str = r#"{"type":"and","left":{"type":"gt-eq","term":"c1","value":1000},"right":{"type":"lt","term":"c1","value":500000}}"#;

fn rows(criterion: &mut Criterion) {
    let numbers: Int64Array = (0..ROWS).map(|row| Some(row.wrapping_mul(7919) % ROWS)).collect();
    let names: StringArray = (0..ROWS).map(|row| Some(format!("name-{}", row % 1000))).collect();
    let batch = RecordBatch::try_from_iter(vec![
        ("c1", Arc::new(numbers) as ArrayRef),
        ("name", Arc::new(names) as ArrayRef),
    ])
    .unwrap();
    let members: Vec<String> = (0..1000).map(|n| (n * 1013).to_string()).collect();
    let members = format!(r#"{{"type":"in","term":"c1","values":[{}]}}"#, members.join(","));
    let mut group = criterion.benchmark_group("filter_mask");
    group.throughput(Throughput::Elements(ROWS.unsigned_abs()));
    for (name, filter) in [
        ("range of longs", RANGE),
        ("in 1000 longs", members.as_str()),
        ("prefix", r#"{"type":"starts-with","term":"name","value":"name-5"}"#),
        ("text equal", r#"{"type":"eq","term":"name","value":"name-500"}"#),
    ] {
        let predicate = predicate(filter);
        let place = |field_id| Some(vec![usize::from(field_id == 100)]);
        group.bench_function(name, |bench| {
            bench.iter(|| filter_mask(black_box(&predicate), &batch, &place).unwrap());
        });
    }
    group.finish();
}

fn files() -> RecordBatch {
    let names = || {
        Some(MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() })
    };
    let bounds = |width: i64| -> ArrayRef {
        let mut map = MapBuilder::new(names(), Int32Builder::new(), BinaryBuilder::new());
        for file in 0..FILES {
            for id in 1..=COLUMNS {
                map.keys().append_value(id);
                map.values().append_value((file * 10 + i64::from(id) + width).to_le_bytes());
            }
            map.append(true).unwrap();
        }
        Arc::new(map.finish())
    };
    let counts = |count: i64| -> ArrayRef {
        let mut map = MapBuilder::new(names(), Int32Builder::new(), Int64Builder::new());
        for _ in 0..FILES {
            for id in 1..=COLUMNS {
                map.keys().append_value(id);
                map.values().append_value(count);
            }
            map.append(true).unwrap();
        }
        Arc::new(map.finish())
    };
    let records: Int64Array = (0..FILES).map(|_| Some(1000)).collect();
    RecordBatch::try_from_iter(vec![
        ("record_count", Arc::new(records) as ArrayRef),
        ("value_counts", counts(1000)),
        ("null_value_counts", counts(0)),
        ("lower_bounds", bounds(0)),
        ("upper_bounds", bounds(100)),
    ])
    .unwrap()
}

fn pruning(criterion: &mut Criterion) {
    let files = files();
    let three = format!(
        r#"{{"type":"and","left":{RANGE},"right":{{"type":"eq","term":"c12","value":70000}}}}"#
    );
    let predicate = predicate(&three);
    let mut group = criterion.benchmark_group("prune");
    group.throughput(Throughput::Elements(FILES.unsigned_abs()));
    group.bench_function("100k files, 12 columns of statistics, 3 terms", |bench| {
        bench.iter(|| evaluate_inclusive(black_box(&predicate), &FileStats::new(&files)).unwrap());
    });
    let field = PartitionField {
        source_id: 1,
        field_id: 1000,
        name: "p".into(),
        transform: "truncate[1000]".parse().unwrap(),
    };
    let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
    let tuples: Vec<_> = (0..FILES).map(|n| vec![Some(Datum::Long(n / 100 * 1000))]).collect();
    let schema = schema();
    let tuples = PartitionTuples::from_partitions(&spec.partition_type(&schema), &tuples).unwrap();
    group.bench_function("residuals of 100k partitions", |bench| {
        bench.iter(|| residuals(black_box(&predicate), &spec, &schema, &tuples).unwrap());
    });
    group.finish();
}

criterion_group!(benches, rows, pruning);
criterion_main!(benches);

//! Filtering of rows, pruning of files by statistics, and residuals of partitions.

#![allow(missing_docs, clippy::unwrap_used, reason = "criterion writes main; a bench may stop")]

use std::fmt::Display;
use std::hint::black_box;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, MapBuilder, MapFieldNames};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use icefloe_format::predicate::{
    BoundPredicate, FileStats, PartitionTuples, RowFilter, bind, evaluate_inclusive, parse_json,
    residuals,
};
use icefloe_format::spec::{
    Datum, NestedField, PartitionField, PartitionSpec, PrimitiveType, Schema,
};

const ROWS: i64 = 1 << 20;
const FILES: i64 = 100_000;
const COLUMNS: i32 = 12;
const NAME: i32 = 100;
const AT: i32 = 101;

fn schema() -> Schema {
    let mut fields: Vec<NestedField> = (1..=66)
        .map(|id| NestedField::optional(id, format!("c{id}"), PrimitiveType::Long))
        .collect();
    fields.push(NestedField::optional(NAME, "name", PrimitiveType::String));
    fields.push(NestedField::optional(AT, "at", PrimitiveType::Timestamp));
    Schema::new(0, fields, Vec::new())
}

fn predicate(filter: &str) -> BoundPredicate {
    bind(&parse_json(filter).unwrap(), &schema(), true).unwrap()
}

const RANGE: &str = r#"{"type":"and","left":{"type":"gt-eq","term":"c1","value":1000},"right":{"type":"lt","term":"c1","value":500000}}"#;

fn leaf(op: &str, term: &str, value: impl Display) -> String {
    format!(r#"{{"type":"{op}","term":"{term}","value":{value}}}"#)
}

/// Join predicates with `op` into a balanced tree.
fn joined(op: &str, parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            let (left, right) = (joined(op, left), joined(op, right));
            format!(r#"{{"type":"{op}","left":{left},"right":{right}}}"#)
        }
    }
}

fn set(term: &str, members: impl Iterator<Item = String>) -> String {
    let members: Vec<String> = members.collect();
    format!(r#"{{"type":"in","term":"{term}","values":[{}]}}"#, members.join(","))
}

fn rows(criterion: &mut Criterion) {
    let numbers: Int64Array = (0..ROWS).map(|row| Some(row.wrapping_mul(7919) % ROWS)).collect();
    let names: StringArray = (0..ROWS).map(|row| Some(format!("name-{}", row % 1000))).collect();
    let batch = RecordBatch::try_from_iter(vec![
        ("c1", Arc::new(numbers.clone()) as ArrayRef),
        ("name", Arc::new(names) as ArrayRef),
    ])
    .unwrap();
    let equalities: Vec<String> = (0..66).map(|n| leaf("eq", "c1", n * 15_013)).collect();
    let mut group = criterion.benchmark_group("filter rows");
    group.throughput(Throughput::Elements(ROWS.unsigned_abs()));
    for (name, filter) in [
        ("one comparison of longs", leaf("lt", "c1", 500_000)),
        ("range of longs", RANGE.to_owned()),
        ("66 equalities", joined("or", &equalities)),
        ("in 1000 scattered longs", set("c1", (0..1000).map(|n| (n * 1013).to_string()))),
        ("in 1000 close longs", set("c1", (0..1000).map(|n| (n * 7).to_string()))),
        ("in 66 texts", set("name", (0..66).map(|n| format!("\"name-{}\"", n * 15)))),
        ("prefix", leaf("starts-with", "name", "\"name-5\"")),
        ("text equal", leaf("eq", "name", "\"name-500\"")),
        ("bucket of longs", leaf("eq", "c1", 3).replace(r#""c1""#, BUCKET)),
    ] {
        let filter = RowFilter::new(&predicate(&filter));
        let place = |field_id| Some(vec![usize::from(field_id == NAME)]);
        group.bench_function(name, |bench| {
            bench.iter(|| black_box(&filter).mask(&batch, &place).unwrap());
        });
    }
    let limit = Int64Array::new_scalar(500_000);
    group.bench_function("one comparison of longs, arrow", |bench| {
        bench.iter(|| arrow_ord::cmp::lt(black_box(&numbers), &limit).unwrap());
    });
    group.finish();
}

const BUCKET: &str = r#"{"type":"transform","transform":"bucket[16]","term":"c1"}"#;

fn names() -> Option<MapFieldNames> {
    Some(MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() })
}

fn bounds(files: i64, columns: &[i32], width: i64) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), BinaryBuilder::new());
    for file in 0..files {
        for id in columns {
            map.keys().append_value(*id);
            let ordinal = file * 10 + i64::from(*id) + width;
            match *id {
                NAME => map.values().append_value(format!("customer-{ordinal:09}")),
                _ => map.values().append_value(ordinal.to_le_bytes()),
            }
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn counts(files: i64, columns: &[i32], count: i64) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), Int64Builder::new());
    for _ in 0..files {
        for id in columns {
            map.keys().append_value(*id);
            map.values().append_value(count);
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn files(files: i64, columns: &[i32]) -> RecordBatch {
    let records: Int64Array = (0..files).map(|_| Some(1000)).collect();
    RecordBatch::try_from_iter(vec![
        ("record_count", Arc::new(records) as ArrayRef),
        ("value_counts", counts(files, columns, 1000)),
        ("null_value_counts", counts(files, columns, 0)),
        ("lower_bounds", bounds(files, columns, 0)),
        ("upper_bounds", bounds(files, columns, 100)),
    ])
    .unwrap()
}

/// Return named predicates of 66 leaves.
fn shapes() -> Vec<(&'static str, String)> {
    let spread = |n: i64| n * 15_013 % 1_000_000;
    let equalities: Vec<String> = (0..66).map(|n| leaf("eq", "c1", spread(n))).collect();
    let ranges: Vec<String> = (0..66_i64)
        .map(|n| match n % 2 {
            0 => leaf("gt-eq", &format!("c{}", n % 12 + 1), spread(n) / 10),
            _ => leaf("lt", &format!("c{}", n % 12 + 1), 1_000_000 - spread(n) / 10),
        })
        .collect();
    let mixed: Vec<String> = (0..22_i64)
        .map(|n| {
            let from = spread(n);
            let parts = [
                leaf("gt-eq", "c3", from),
                leaf("lt", "name", format!("\"customer-{:09}\"", from + 90_000)),
                leaf("lt-eq", "at", from + 80_000),
            ];
            joined("and", &parts)
        })
        .collect();
    let texts: Vec<String> = (0..66)
        .map(|n| match n % 2 {
            0 => leaf("gt", "name", format!("\"customer-{:09}\"", 999_000 - spread(n) / 9)),
            _ => leaf("lt", "name", format!("\"customer-{:09}\"", spread(n) / 9)),
        })
        .collect();
    vec![
        ("66 equalities or-ed", joined("or", &equalities)),
        ("66 longs in", set("c1", (0..66).map(|n| spread(n).to_string()))),
        ("66 texts in", set("name", (0..66).map(|n| format!("\"customer-{:09}\"", spread(n))))),
        ("66 ranges of 12 columns and-ed", joined("and", &ranges)),
        ("66 of longs, texts, timestamps", joined("or", &mixed)),
        ("66 comparisons of texts or-ed", joined("or", &texts)),
    ]
}

fn sixty_six(criterion: &mut Criterion) {
    let mut columns: Vec<i32> = (1..=COLUMNS).collect();
    columns.extend([NAME, AT]);
    let entries = files(FILES, &columns);
    let mut group = criterion.benchmark_group("prune by 66 leaves");
    group.throughput(Throughput::Elements(FILES.unsigned_abs()));
    for (name, filter) in shapes() {
        let predicate = predicate(&filter);
        group.bench_function(name, |bench| {
            bench.iter(|| {
                evaluate_inclusive(black_box(&predicate), &FileStats::new(&entries)).unwrap()
            });
        });
    }
    // Every leaf references a different column, over the number of entries of a typical manifest.
    let columns: Vec<i32> = (1..=66).collect();
    let entries = files(FILES / 10, &columns);
    let parts: Vec<String> = (1..=66).map(|n| leaf("eq", &format!("c{n}"), n * 1500)).collect();
    let predicate = predicate(&joined("or", &parts));
    group.throughput(Throughput::Elements(FILES.unsigned_abs() / 10));
    group.bench_function("66 columns, 10k files", |bench| {
        bench
            .iter(|| evaluate_inclusive(black_box(&predicate), &FileStats::new(&entries)).unwrap());
    });
    group.finish();
}

fn pruning(criterion: &mut Criterion) {
    let columns: Vec<i32> = (1..=COLUMNS).collect();
    let files = files(FILES, &columns);
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

criterion_group!(benches, rows, sixty_six, pruning);
criterion_main!(benches);

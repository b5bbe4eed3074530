//! Decoding of a manifest compared with inflating the same bytes, and encoding compared with deflating them.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench without its input has nothing to measure"
)]

use std::hint::black_box;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames,
};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use criterion::{Criterion, criterion_group, criterion_main};
use icefloe_format::avro::{BlockRun, Container, Header};
use icefloe_format::codec::Codec;
use icefloe_format::manifest::{
    DecodeOptions, EncodeOptions, EntryFilter, ManifestColumns, ManifestContent, Stats,
    decode_manifest, decode_matching, decode_matching_run, decode_run, encode_manifest,
};
use icefloe_format::predicate::{bind, parse_json, project_inclusive};
use icefloe_format::spec::{PartitionSpec, Schema, StructType};

// The allocator of the extension module, whose cost is part of every measurement.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const CODEC: Codec = Codec::Deflate(6);
const ENTRIES: usize = 10_000;
const COLUMNS: i32 = 12;
const FIRST_DAY: i32 = 19_723;
const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"id","required":true,"type":"long"},
    {"id":2,"name":"day","required":false,"type":"date"}]}"#;
const SPEC: &str = r#"{"spec-id":0,"fields":[
    {"source-id":2,"field-id":1000,"name":"day","transform":"identity"},
    {"source-id":1,"field-id":1001,"name":"id_bucket","transform":"bucket[16]"}]}"#;

/// Return a pseudo-random number for a seed.
fn scattered(seed: usize) -> i64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    i64::from((mixed >> 40) as u32)
}

fn names() -> Option<MapFieldNames> {
    let name = |text: &str| text.to_owned();
    Some(MapFieldNames { entry: name("entries"), key: name("key"), value: name("value") })
}

fn counts(value: impl Fn(usize, i32) -> i64) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), Int64Builder::new());
    for row in 0..ENTRIES {
        for column in 1..=COLUMNS {
            map.keys().append_value(column);
            map.values().append_value(value(row, column));
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn bounds(offset: usize) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), BinaryBuilder::new());
    for row in 0..ENTRIES {
        for column in 1..=COLUMNS {
            map.keys().append_value(column);
            let value = scattered(row * 31 + offset);
            if column == 2 {
                map.values().append_value((FIRST_DAY + row as i32 % 28).to_le_bytes());
            } else if column % 3 == 0 {
                map.values().append_value(format!("value-{value:010}"));
            } else {
                map.values().append_value(value.to_le_bytes());
            }
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn entries() -> RecordBatch {
    let ints = |value: i32| -> ArrayRef { Arc::new(Int32Array::from(vec![value; ENTRIES])) };
    let longs = |value: &dyn Fn(usize) -> i64| -> ArrayRef {
        Arc::new((0..ENTRIES).map(|row| Some(value(row))).collect::<Int64Array>())
    };
    let texts = |value: &dyn Fn(usize) -> String| -> ArrayRef {
        Arc::new((0..ENTRIES).map(|row| Some(value(row))).collect::<StringArray>())
    };
    let path = |row: usize| {
        let id = scattered(row);
        format!("s3://warehouse/db/events/data/day=2024-01-{:02}/{id:012}-{row}.parquet", row % 28)
    };
    let mut offsets = ListBuilder::new(Int64Builder::new());
    for row in 0..ENTRIES {
        offsets.append_value([Some(4), Some(scattered(row))]);
    }
    RecordBatch::try_from_iter_with_nullable([
        ("content", ints(0), false),
        ("file_path", texts(&path), false),
        ("file_format", texts(&|_| "PARQUET".into()), false),
        ("spec_id", ints(0), false),
        (
            "partition",
            texts(&|row| format!("[\"2024-01-{:02}\",{}]", row % 28 + 1, row % 16)),
            false,
        ),
        ("record_count", longs(&|row| scattered(row) % 1_000_000), false),
        ("file_size_in_bytes", longs(&|row| scattered(row) * 100), false),
        ("column_sizes", counts(|row, column| scattered(row * 13 + column as usize)), true),
        ("value_counts", counts(|row, _| scattered(row) % 1_000_000), true),
        ("null_value_counts", counts(|row, column| scattered(row) % i64::from(column * 100)), true),
        ("nan_value_counts", counts(|_, _| 0), true),
        ("lower_bounds", bounds(0), true),
        ("upper_bounds", bounds(7), true),
        ("split_offsets", Arc::new(offsets.finish()) as ArrayRef, true),
        ("sort_order_id", ints(0), true),
    ])
    .unwrap()
}

/// A filter that selects 2 of 28 days and half of the ids.
const FILTER: &str = r#"{"type":"and",
    "left":{"type":"gt","term":"id","value":8000000},
    "right":{"type":"and",
        "left":{"type":"gt-eq","term":"day","value":"2024-01-10"},
        "right":{"type":"lt","term":"day","value":"2024-01-12"}}}"#;

struct Manifest {
    schema: Schema,
    spec: PartitionSpec,
    partition_type: StructType,
    columns: ManifestColumns,
    bytes: Vec<u8>,
}

impl Manifest {
    fn new() -> Self {
        let schema = Schema::from_json(SCHEMA).unwrap();
        let spec = PartitionSpec::from_json(SPEC).unwrap();
        let partition_type = spec.partition_type(&schema);
        let columns = ManifestColumns::from_batch(&entries(), &partition_type).unwrap();
        let mut manifest = Self { schema, spec, partition_type, columns, bytes: vec![] };
        manifest.bytes = manifest.encode();
        manifest
    }

    fn encode(&self) -> Vec<u8> {
        let options = EncodeOptions {
            format_version: 2,
            content: ManifestContent::Data,
            schema: &self.schema,
            spec: &self.spec,
            partition_type: &self.partition_type,
            snapshot_id: 1,
            codec: CODEC,
            sync: [3; 16],
        };
        encode_manifest(&self.columns, &options).unwrap().bytes
    }

    fn options(&self, stats: Stats) -> DecodeOptions<'_> {
        DecodeOptions { spec_id: 0, partition_type: &self.partition_type, stats }
    }

    fn blocks(&self) -> Vec<Vec<u8>> {
        let mut blocks = Container::parse(&self.bytes).unwrap().blocks();
        let mut found = Vec::new();
        while let Some(block) = blocks.next_block().unwrap() {
            found.push(block.bytes.to_vec());
        }
        found
    }
}

fn inflate(bytes: &[u8]) -> usize {
    let mut blocks = Container::parse(bytes).unwrap().blocks();
    let mut total = 0;
    while let Some(block) = blocks.next_block().unwrap() {
        total += black_box(block.bytes).len();
    }
    total
}

/// Decode the blocks of a manifest in two runs, each on its own thread, and return both results.
fn in_two_runs<T: Send>(bytes: &[u8], decode: impl Fn(&BlockRun) -> T + Sync) -> Vec<T> {
    let runs = Header::parse(bytes).unwrap().runs(2);
    let decode = &decode;
    std::thread::scope(|scope| {
        let threads: Vec<_> = runs.iter().map(|run| scope.spawn(move || decode(run))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn decode(criterion: &mut Criterion) {
    let manifest = Manifest::new();
    let bytes = manifest.bytes.as_slice();
    let mut group = criterion.benchmark_group("manifest of 10,000 entries, 12 columns");
    group.sample_size(40);
    group.bench_function("inflate", |bencher| bencher.iter(|| inflate(black_box(bytes))));
    let shapes = [
        ("all", Stats::All),
        ("skipped", Stats::Skip),
        ("of 2 columns", Stats::Columns(vec![1, 3])),
    ];
    for (name, stats) in shapes {
        let options = manifest.options(stats);
        group.bench_function(format!("decode, statistics {name}"), |bencher| {
            bencher.iter(|| decode_manifest(black_box(bytes), &options).unwrap());
        });
    }
    let rows = bind(&parse_json(FILTER).unwrap(), &manifest.schema, true).unwrap();
    let partitions = project_inclusive(&rows, &manifest.schema, &manifest.spec).unwrap();
    let filter = EntryFilter { partitions: &partitions, rows: &rows };
    let options = manifest.options(Stats::All);
    group.bench_function("decode what matches 3 terms", |bencher| {
        bencher.iter(|| decode_matching(black_box(bytes), &options, filter).unwrap());
    });
    group.bench_function("decode, statistics all, 2 threads", |bencher| {
        let decode = |run: &BlockRun| decode_run(bytes, Some(run), &options).unwrap();
        bencher.iter(|| in_two_runs(black_box(bytes), decode));
    });
    group.bench_function("decode what matches 3 terms, 2 threads", |bencher| {
        let decode = |run: &BlockRun| decode_matching_run(bytes, Some(run), &options, filter);
        bencher.iter(|| in_two_runs(black_box(bytes), decode));
    });
    group.finish();
    let kept = decode_matching(bytes, &options, filter).unwrap().columns.len();
    println!("{} bytes, {} inflated; {kept} entries match", bytes.len(), inflate(bytes));
}

fn encode(criterion: &mut Criterion) {
    let manifest = Manifest::new();
    let blocks = manifest.blocks();
    let mut group = criterion.benchmark_group("manifest of 10,000 entries, 12 columns");
    group.sample_size(10);
    group.bench_function("deflate", |bencher| {
        bencher.iter(|| {
            for block in &blocks {
                black_box(CODEC.compress(black_box(block)).unwrap());
            }
        });
    });
    group.bench_function("encode", |bencher| bencher.iter(|| manifest.encode()));
    group.finish();
}

criterion_group!(manifest_benches, decode, encode);
criterion_main!(manifest_benches);

//! Manifests of random files, and filters of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, MapBuilder, MapFieldNames};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use icefloe_format::codec::Codec;
use icefloe_format::manifest::{
    DecodeOptions, EncodeOptions, ManifestColumns, ManifestContent, MatchingEntries, Stats,
    decode_manifest, encode_manifest,
};
use icefloe_format::predicate::{
    BoundPredicate, FileStats, PartitionTuples, bind, evaluate_inclusive, parse_json,
    project_inclusive,
};
use icefloe_format::spec::{PartitionSpec, Schema, StructType};
use proptest::prelude::*;
use serde_json::{Value, json};

const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"id","required":true,"type":"long"},
    {"id":2,"name":"day","required":false,"type":"date"},
    {"id":3,"name":"name","required":false,"type":"string"},
    {"id":70,"name":"weight","required":false,"type":"double"}]}"#;
pub(crate) const SPECS: [&str; 2] = [
    r#"{"spec-id":1,"fields":[
        {"source-id":2,"field-id":1000,"name":"day","transform":"identity"},
        {"source-id":3,"field-id":1001,"name":"name_trunc","transform":"truncate[1]"}]}"#,
    r#"{"spec-id":0,"fields":[]}"#,
];

type Counts = BTreeMap<i32, i64>;
type Bounds = BTreeMap<i32, Vec<u8>>;

pub(crate) struct Table {
    schema: Schema,
    spec: PartitionSpec,
    partition_type: StructType,
}

impl Table {
    pub(crate) fn new(spec: &str) -> Self {
        let schema = Schema::from_json(SCHEMA).unwrap();
        let spec = PartitionSpec::from_json(spec).unwrap();
        let partition_type = spec.partition_type(&schema);
        Self { schema, spec, partition_type }
    }

    pub(crate) fn options(&self, stats: Stats) -> DecodeOptions<'_> {
        DecodeOptions { spec_id: self.spec.spec_id, partition_type: &self.partition_type, stats }
    }

    pub(crate) fn encode(&self, files: &[File], codec: Codec) -> Vec<u8> {
        let batch = batch(files, !self.spec.fields.is_empty());
        let columns = ManifestColumns::from_batch(&batch, &self.partition_type).unwrap();
        let deletes = files.first().is_some_and(|file| file.content != 0);
        let options = EncodeOptions {
            format_version: 2,
            content: if deletes { ManifestContent::Deletes } else { ManifestContent::Data },
            schema: &self.schema,
            spec: &self.spec,
            partition_type: &self.partition_type,
            snapshot_id: 77,
            codec,
            sync: [7; 16],
        };
        encode_manifest(&columns, &options).unwrap().bytes
    }

    pub(crate) fn filter(&self, predicate: &Value) -> (BoundPredicate, BoundPredicate) {
        let unbound = parse_json(&predicate.to_string()).unwrap();
        let rows = bind(&unbound, &self.schema, true).unwrap();
        let partitions = project_inclusive(&rows, &self.schema, &self.spec).unwrap();
        (partitions, rows)
    }

    /// The slow way round.
    pub(crate) fn oracle(&self, bytes: &[u8], predicate: &Value, stats: Stats) -> MatchingEntries {
        let (partitions, rows) = self.filter(predicate);
        let whole = decode_manifest(bytes, &self.options(Stats::All)).unwrap();
        let wanted = decode_manifest(bytes, &self.options(stats)).unwrap();
        let keep = |columns: &[ManifestColumns; 2], mask: &BooleanArray| {
            [columns[0].filter(mask).unwrap(), columns[1].filter(mask).unwrap()]
        };
        let live = whole.live().unwrap();
        let both = keep(&[whole, wanted], &live);
        let live = both[0].len();
        let tuples = PartitionTuples::new(both[0].partition.clone(), &self.partition_type);
        let both = keep(&both, &evaluate_inclusive(&partitions, &tuples).unwrap());
        let in_partition = both[0].len();
        let might = evaluate_inclusive(&rows, &FileStats::new(&both[0].entries)).unwrap();
        let contents = both[0].ints("content").unwrap();
        let mask =
            might.iter().zip(contents).map(|(might, c)| Some(c != Some(0) || might.unwrap()));
        let [_, columns] = keep(&both, &mask.collect());
        MatchingEntries {
            live,
            skipped_by_partition: live - in_partition,
            skipped_by_metrics: in_partition - columns.len(),
            columns,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    status: i32,
    content: i32,
    path: String,
    day: Option<i32>,
    name: Option<String>,
    records: i64,
    counts: Option<Counts>,
    nulls: Option<Counts>,
    lower: Option<Bounds>,
    upper: Option<Bounds>,
}

fn names() -> Option<MapFieldNames> {
    let name = |text: &str| text.to_owned();
    Some(MapFieldNames { entry: name("entries"), key: name("key"), value: name("value") })
}

fn counts(files: &[File], of: fn(&File) -> &Option<Counts>) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), Int64Builder::new());
    for file in files {
        for (key, value) in of(file).iter().flatten() {
            map.keys().append_value(*key);
            map.values().append_value(*value);
        }
        map.append(of(file).is_some()).unwrap();
    }
    Arc::new(map.finish())
}

fn bounds(files: &[File], of: fn(&File) -> &Option<Bounds>) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), BinaryBuilder::new());
    for file in files {
        for (key, value) in of(file).iter().flatten() {
            map.keys().append_value(*key);
            map.values().append_value(value);
        }
        map.append(of(file).is_some()).unwrap();
    }
    Arc::new(map.finish())
}

fn batch(files: &[File], partitioned: bool) -> RecordBatch {
    let long = |value: fn(&File) -> Option<i64>| -> ArrayRef {
        Arc::new(files.iter().map(value).collect::<Int64Array>())
    };
    let int = |value: fn(&File) -> Option<i32>| -> ArrayRef {
        Arc::new(files.iter().map(value).collect::<Int32Array>())
    };
    let text = |value: &dyn Fn(&File) -> String| -> ArrayRef {
        Arc::new(files.iter().map(|file| Some(value(file))).collect::<StringArray>())
    };
    let tuple = |file: &File| {
        let day = file.day.map(|day| format!("2024-01-{:02}", day + 1));
        if partitioned { json!([day, file.name]).to_string() } else { "[]".into() }
    };
    RecordBatch::try_from_iter_with_nullable([
        ("status", int(|file| Some(file.status)), false),
        ("snapshot_id", long(|_| Some(42)), true),
        ("sequence_number", long(|_| Some(9)), true),
        ("content", int(|file| Some(file.content)), false),
        ("file_path", text(&|file| file.path.clone()), false),
        ("file_format", text(&|_| "PARQUET".into()), false),
        ("spec_id", int(|_| Some(0)), false),
        ("partition", text(&tuple), false),
        ("record_count", long(|file| Some(file.records)), false),
        ("file_size_in_bytes", long(|file| Some(file.records * 100)), false),
        ("value_counts", counts(files, |file| &file.counts), true),
        ("null_value_counts", counts(files, |file| &file.nulls), true),
        ("nan_value_counts", counts(files, |file| &file.nulls), true),
        ("lower_bounds", bounds(files, |file| &file.lower), true),
        ("upper_bounds", bounds(files, |file| &file.upper), true),
    ])
    .unwrap()
}

/// Bounds of some columns, of the types that they have.
fn some_bounds() -> impl Strategy<Value = Option<Bounds>> {
    let optional = |strategy: BoxedStrategy<Vec<u8>>| proptest::option::weighted(0.8, strategy);
    let id = prop_oneof![
        (-20_i64..20).prop_map(|v| v.to_le_bytes().to_vec()),
        (-20_i32..20).prop_map(|v| v.to_le_bytes().to_vec()),
    ];
    let day = (19723_i32..19727).prop_map(|v| v.to_le_bytes().to_vec());
    let name = "[a-d]{0,3}|[a-d]{17,20}".prop_map(String::into_bytes);
    let weight = prop_oneof![Just(-0.0), Just(f64::NAN), -9.0..9.0_f64];
    let weight = weight.prop_map(|v: f64| v.to_le_bytes().to_vec());
    let all = (optional(id.boxed()), optional(day.boxed()), optional(name.boxed()));
    let map = (all, optional(weight.boxed())).prop_map(|((id, day, name), weight)| {
        let entries = [(1, id), (2, day), (3, name), (70, weight)];
        entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    });
    proptest::option::weighted(0.9, map)
}

fn some_counts() -> impl Strategy<Value = Option<Counts>> {
    let key = prop_oneof![Just(1), Just(2), Just(3), Just(70), any::<i32>()];
    let value = prop_oneof![0_i64..3, any::<i64>()];
    proptest::option::weighted(0.9, proptest::collection::btree_map(key, value, 0..6))
}

fn file(content: impl Strategy<Value = i32>) -> impl Strategy<Value = File> {
    let tuple = (proptest::option::of(0_i32..4), proptest::option::of("[a-d]"));
    let stats = (some_counts(), some_counts(), some_bounds(), some_bounds());
    (0_i32..3, content, "[a-z/☃]{0,90}", tuple, 0_i64..3, stats).prop_map(
        |(status, content, path, (day, name), records, (counts, nulls, lower, upper))| File {
            status,
            content,
            path,
            day,
            name,
            records,
            counts,
            nulls,
            lower,
            upper,
        },
    )
}

pub(crate) fn files() -> impl Strategy<Value = Vec<File>> {
    prop_oneof![
        4 => proptest::collection::vec(file(Just(0)), 0..40),
        1 => proptest::collection::vec(file(1_i32..3), 0..10),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    let comparison = prop_oneof![
        Just("lt"),
        Just("lt-eq"),
        Just("gt"),
        Just("gt-eq"),
        Just("eq"),
        Just("not-eq"),
    ];
    let literal = prop_oneof![
        (-20_i64..20).prop_map(|value| ("id", json!(value))),
        (1_u32..5).prop_map(|day| ("day", json!(format!("2024-01-{day:02}")))),
        "[a-d]{0,3}".prop_map(|text| ("name", json!(text))),
        (-9.0..9.0_f64).prop_map(|value| ("weight", json!(value))),
    ];
    let column = prop_oneof![Just("id"), Just("day"), Just("name"), Just("weight")];
    prop_oneof![
        6 => (comparison, literal)
            .prop_map(|(op, (term, value))| json!({"type": op, "term": term, "value": value})),
        1 => (prop_oneof![Just("is-null"), Just("not-null")], column)
            .prop_map(|(op, term)| json!({"type": op, "term": term})),
        1 => "[a-d]".prop_map(|v| json!({"type": "starts-with", "term": "name", "value": v})),
        1 => proptest::collection::vec(-20_i64..20, 1..4)
            .prop_map(|values| json!({"type": "in", "term": "id", "values": values})),
        1 => Just(json!({"type": "is-nan", "term": "weight"})),
    ]
}

pub(crate) fn predicate() -> impl Strategy<Value = Value> {
    prop_oneof![leaf(), any::<bool>().prop_map(Value::from)].prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| json!({"type": "and", "left": left, "right": right})),
            (inner.clone(), inner.clone())
                .prop_map(|(left, right)| json!({"type": "or", "left": left, "right": right})),
            inner.prop_map(|child| json!({"type": "not", "child": child})),
        ]
    })
}

pub(crate) fn stats() -> impl Strategy<Value = Stats> {
    prop_oneof![Just(Stats::All), Just(Stats::Skip), Just(Stats::Columns(vec![70, 1]))]
}

/// Files of alternating days, with bounds of all columns; enough of them for several chunks.
pub(crate) fn many(count: i32) -> Vec<File> {
    let file = |row: i32| {
        let bound = |add: i32| {
            BTreeMap::from([
                (1, i64::from(row + add).to_le_bytes().to_vec()),
                (2, (19723 + row % 4).to_le_bytes().to_vec()),
                (3, format!("name {row}").into_bytes()),
            ])
        };
        File {
            status: row % 3,
            path: format!("s3://bucket/{row:090}"),
            day: Some(row % 4),
            records: 7,
            counts: Some(BTreeMap::from([(1, 7), (2, 7), (3, i64::from(row))])),
            lower: Some(bound(0)),
            upper: Some(bound(5)),
            ..File::default()
        }
    };
    (0..count).map(file).collect()
}

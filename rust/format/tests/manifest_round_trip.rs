//! Entries survive being written and read, whatever is in them.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, MapBuilder, MapFieldNames};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use icefloe_format::Error;
use icefloe_format::codec::Codec;
use icefloe_format::manifest::columns::typed_entry_schema;
use icefloe_format::manifest::{
    ADDED, DecodeOptions, EXISTING, EncodeOptions, Inheritance, ManifestColumns, ManifestContent,
    Stats, decode_manifest, encode_manifest, entry_schema, inherit,
};
use icefloe_format::spec::{PartitionSpec, Schema, StructType};
use proptest::prelude::*;

const SCHEMA: &str = r#"{"type":"struct","schema-id":3,"fields":[
    {"id":1,"name":"id","required":true,"type":"long"},
    {"id":2,"name":"day","required":false,"type":"date"},
    {"id":3,"name":"name","required":false,"type":"string"},
    {"id":4,"name":"price","required":false,"type":"decimal(9, 2)"},
    {"id":5,"name":"key","required":false,"type":"uuid"},
    {"id":6,"name":"weight","required":false,"type":"double"},
    {"id":7,"name":"at","required":false,"type":"timestamptz"},
    {"id":8,"name":"raw","required":false,"type":"fixed[3]"}]}"#;
const SPEC: &str = r#"{"spec-id":5,"fields":[
    {"source-id":2,"field-id":1000,"name":"day","transform":"identity"},
    {"source-id":3,"field-id":1001,"name":"na-me","transform":"truncate[4]"},
    {"source-id":4,"field-id":1002,"name":"price","transform":"identity"},
    {"source-id":5,"field-id":1003,"name":"key","transform":"identity"},
    {"source-id":6,"field-id":1004,"name":"weight","transform":"identity"},
    {"source-id":7,"field-id":1005,"name":"at_hour","transform":"hour"},
    {"source-id":8,"field-id":1006,"name":"raw","transform":"identity"},
    {"source-id":7,"field-id":1007,"name":"at","transform":"identity"}]}"#;

struct Table {
    schema: Schema,
    spec: PartitionSpec,
    partition_type: StructType,
}

fn table(spec: &str) -> Table {
    let schema = Schema::from_json(SCHEMA).unwrap();
    let spec = PartitionSpec::from_json(spec).unwrap();
    let partition_type = spec.partition_type(&schema);
    Table { schema, spec, partition_type }
}

fn encode(table: &Table, columns: &ManifestColumns, version: u8, codec: Codec) -> Vec<u8> {
    encoded(table, columns, version, codec).unwrap()
}

fn encoded(
    table: &Table,
    columns: &ManifestColumns,
    version: u8,
    codec: Codec,
) -> Result<Vec<u8>, Error> {
    let options = EncodeOptions {
        format_version: version,
        content: ManifestContent::Data,
        schema: &table.schema,
        spec: &table.spec,
        partition_type: &table.partition_type,
        snapshot_id: 77,
        codec,
        sync: [7; 16],
    };
    encode_manifest(columns, &options).map(|manifest| manifest.bytes)
}

fn decode(table: &Table, bytes: &[u8], stats: Stats) -> ManifestColumns {
    let options =
        DecodeOptions { spec_id: table.spec.spec_id, partition_type: &table.partition_type, stats };
    decode_manifest(bytes, &options).unwrap()
}

#[derive(Debug, Clone)]
struct Entry {
    status: i32,
    sequence_number: i64,
    path: String,
    partition: usize,
    counts: Option<Vec<(i32, i64)>>,
    bounds: Option<Vec<(i32, Vec<u8>)>>,
    sort_order_id: Option<i32>,
}

const PARTITIONS: [&str; 3] = [
    r#"["2017-12-01","ab☃","12.30","f79c3e09-677c-4bbd-a479-3f349cb785e7",-0.5,420034,"616263","2017-12-01T10:12:55.038194+00:00"]"#,
    "[null,null,null,null,null,null,null,null]",
    r#"["1969-12-31","","-9999999.99","00000000-0000-0000-0000-000000000000",1e300,-1,"000000","1969-12-31T23:59:59.999999+00:00"]"#,
];

fn entry() -> impl Strategy<Value = Entry> {
    (
        prop_oneof![Just(EXISTING), Just(ADDED)],
        any::<i64>(),
        "[a-z/☃]{0,30}",
        0_usize..3,
        proptest::option::of(proptest::collection::vec((any::<i32>(), any::<i64>()), 0..5)),
        proptest::option::of(proptest::collection::vec(
            (any::<i32>(), proptest::collection::vec(any::<u8>(), 0..20)),
            0..5,
        )),
        any::<Option<i32>>(),
    )
        .prop_map(
            |(status, sequence_number, path, partition, counts, bounds, sort_order_id)| Entry {
                status,
                sequence_number,
                path,
                partition,
                counts,
                bounds,
                sort_order_id,
            },
        )
}

fn names() -> Option<MapFieldNames> {
    let name = |text: &str| text.to_owned();
    Some(MapFieldNames { entry: name("entries"), key: name("key"), value: name("value") })
}

fn batch(entries: &[Entry]) -> RecordBatch {
    let mut counts = MapBuilder::new(names(), Int32Builder::new(), Int64Builder::new());
    let mut bounds = MapBuilder::new(names(), Int32Builder::new(), BinaryBuilder::new());
    for entry in entries {
        for (key, value) in entry.counts.iter().flatten() {
            counts.keys().append_value(*key);
            counts.values().append_value(*value);
        }
        counts.append(entry.counts.is_some()).unwrap();
        for (key, value) in entry.bounds.iter().flatten() {
            bounds.keys().append_value(*key);
            bounds.values().append_value(value);
        }
        bounds.append(entry.bounds.is_some()).unwrap();
    }
    let long = |value: fn(&Entry) -> Option<i64>| -> ArrayRef {
        Arc::new(entries.iter().map(value).collect::<Int64Array>())
    };
    let int = |value: fn(&Entry) -> Option<i32>| -> ArrayRef {
        Arc::new(entries.iter().map(value).collect::<Int32Array>())
    };
    let text = |value: fn(&Entry) -> &str| -> ArrayRef {
        Arc::new(entries.iter().map(|entry| Some(value(entry))).collect::<StringArray>())
    };
    RecordBatch::try_from_iter_with_nullable([
        ("status", int(|entry| Some(entry.status)), false),
        ("snapshot_id", long(|_| Some(42)), true),
        ("sequence_number", long(|entry| Some(entry.sequence_number)), true),
        (
            "file_sequence_number",
            long(|entry| (entry.status != ADDED).then_some(entry.sequence_number)),
            true,
        ),
        ("content", int(|_| Some(0)), false),
        ("file_path", text(|entry| &entry.path), false),
        ("file_format", text(|_| "PARQUET"), false),
        ("spec_id", int(|_| Some(5)), false),
        ("partition", text(|entry| PARTITIONS[entry.partition]), false),
        ("record_count", long(|_| Some(10)), false),
        ("file_size_in_bytes", long(|_| Some(i64::MAX)), false),
        ("value_counts", Arc::new(counts.finish()), true),
        ("upper_bounds", Arc::new(bounds.finish()), true),
        ("sort_order_id", int(|entry| entry.sort_order_id), true),
    ])
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn entries_survive_a_round_trip(
        entries in proptest::collection::vec(entry(), 0..40),
        codec in prop_oneof![
            Just(Codec::Null), Just(Codec::Deflate(1)), Just(Codec::Snappy), Just(Codec::Zstandard(1))
        ],
    ) {
        let table = table(SPEC);
        let written = ManifestColumns::from_batch(&batch(&entries), &table.partition_type).unwrap();
        let read = decode(&table, &encode(&table, &written, 2, codec), Stats::All);
        prop_assert_eq!(&read.entries, &written.entries);
        prop_assert_eq!(&read.partition.columns(), &written.partition.columns());
        let crossed = read.to_batch(&table.partition_type).unwrap();
        prop_assert_eq!(crossed.schema(), entry_schema());
        let texts = crossed.column_by_name("partition").unwrap().as_string::<i32>().clone();
        let back = ManifestColumns::from_batch(&crossed, &table.partition_type).unwrap();
        prop_assert_eq!(back.to_batch(&table.partition_type).unwrap(), crossed);
        prop_assert_eq!(texts.len(), entries.len());
    }

    #[test]
    fn version_1_keeps_the_values_of_its_columns(entries in proptest::collection::vec(entry(), 1..20)) {
        let table = table(SPEC);
        let written = ManifestColumns::from_batch(&batch(&entries), &table.partition_type).unwrap();
        let read = decode(&table, &encode(&table, &written, 1, Codec::Null), Stats::All);
        prop_assert_eq!(read.longs("sequence_number").unwrap().null_count(), entries.len());
        for name in ["status", "content", "file_path", "value_counts", "upper_bounds"] {
            prop_assert_eq!(read.column(name).unwrap(), written.column(name).unwrap());
        }
        let from = Inheritance { added_snapshot_id: Some(1), sequence_number: Some(0) };
        let inherited = inherit(read, from).unwrap();
        prop_assert!(inherited.longs("sequence_number").unwrap().iter().all(|n| n == Some(0)));
    }

    #[test]
    fn damaged_bytes_never_panic(
        entries in proptest::collection::vec(entry(), 1..8),
        cut in any::<prop::sample::Index>(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        codec in prop_oneof![Just(Codec::Null), Just(Codec::Deflate(1)), Just(Codec::Snappy)],
    ) {
        let table = table(SPEC);
        let written = ManifestColumns::from_batch(&batch(&entries), &table.partition_type).unwrap();
        let mut bytes = encode(&table, &written, 2, codec);
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let partition_type = &table.partition_type;
        let options = DecodeOptions { spec_id: 5, partition_type, stats: Stats::All };
        if let Ok(columns) = decode_manifest(&bytes, &options) {
            let _ = columns.to_batch(partition_type);
        }
    }
}

/// One added entry with this partition tuple.
fn entries_of(partition: &str) -> RecordBatch {
    let entries = [Entry {
        status: ADDED,
        sequence_number: 0,
        path: "a".into(),
        partition: 0,
        counts: None,
        bounds: None,
        sort_order_id: None,
    }];
    let batch = batch(&entries);
    let index = batch.schema().index_of("partition").unwrap();
    let mut columns = batch.columns().to_vec();
    columns[index] = Arc::new(StringArray::from(vec![partition]));
    RecordBatch::try_new(batch.schema(), columns).unwrap()
}

/// A table with one partition field of the string column, and its type in new manifests.
fn by_name(transform: &str) -> Table {
    let field =
        format!(r#"{{"source-id":3,"field-id":1000,"name":"p","transform":"{transform}"}}"#);
    let table = table(&format!(r#"{{"spec-id":5,"fields":[{field}]}}"#));
    let partition_type = table.spec.written_partition_type(std::slice::from_ref(&table.schema));
    Table { partition_type, ..table }
}

#[test]
fn fields_of_void_and_unknown_transforms_are_read_whatever_their_type() {
    for (transform, tuple) in [("zorder[4]", "[7]"), ("void", "[null]")] {
        let written = by_name("bucket[16]");
        let columns = ManifestColumns::from_batch(&entries_of(tuple), &written.partition_type);
        let bytes = encode(&written, &columns.unwrap(), 2, Codec::Null);
        let table = by_name(transform);
        let partition_type = table.spec.partition_type(&table.schema);
        let options =
            DecodeOptions { spec_id: 5, partition_type: &partition_type, stats: Stats::All };
        let read = decode_manifest(&bytes, &options).unwrap();
        let texts = read.to_batch(&partition_type).unwrap();
        let texts = texts.column_by_name("partition").unwrap().as_string::<i32>();
        assert_eq!(texts.value(0), tuple, "{transform}");
        // A rewritten manifest has the source column's type for void, and for an unknown transform the type it had.
        let again = decode_manifest(&encode(&table, &read, 2, Codec::Null), &options).unwrap();
        let expected = if transform == "void" { DataType::Utf8 } else { DataType::Int32 };
        assert_eq!(*again.partition.column(0).data_type(), expected, "{transform}");
    }
}

#[test]
fn partition_fields_of_one_avro_name_are_refused() {
    let table = table(
        r#"{"spec-id":5,"fields":[
        {"source-id":2,"field-id":1000,"name":"a.b","transform":"identity"},
        {"source-id":3,"field-id":1001,"name":"a_x2Eb","transform":"identity"}]}"#,
    );
    let columns = ManifestColumns::from_batch(&entries_of("[null,null]"), &table.partition_type);
    let error = encoded(&table, &columns.unwrap(), 2, Codec::Null).unwrap_err();
    let expected =
        "writing partition fields a.b and a_x2Eb to one manifest, where both have the name a_x2Eb,";
    assert_eq!(error, Error::unsupported(expected));
}

#[test]
fn unpartitioned_manifest_has_empty_tuples() {
    let table = table(r#"{"spec-id":5,"fields":[]}"#);
    let written = ManifestColumns::from_batch(&entries_of("[]"), &table.partition_type).unwrap();
    let read = decode(&table, &encode(&table, &written, 2, Codec::Null), Stats::All);
    assert_eq!(read.len(), 1);
    let kept = read.filter(&read.live().unwrap()).unwrap();
    assert_eq!(kept.partition.len(), 1);
    let doubled = ManifestColumns::concat(&[kept.clone(), kept]).unwrap().unwrap();
    assert_eq!(doubled.partition.len(), 2);
    let crossed = doubled.to_batch(&table.partition_type).unwrap();
    assert_eq!(crossed.column_by_name("partition").unwrap().as_string::<i32>().value(1), "[]");
}

#[test]
fn chosen_statistics_are_those_of_the_chosen_columns() {
    let table = table(SPEC);
    let entries = [Entry {
        status: ADDED,
        sequence_number: 0,
        path: "a".into(),
        partition: 0,
        counts: Some(vec![(1, 10), (2, 20), (3, 30)]),
        bounds: Some(vec![(3, vec![3]), (1, vec![1])]),
        sort_order_id: None,
    }];
    let columns = ManifestColumns::from_batch(&batch(&entries), &table.partition_type).unwrap();
    let bytes = encode(&table, &columns, 2, Codec::Deflate(6));
    let some = decode(&table, &bytes, Stats::Columns(vec![3, 1]));
    let counts = some.column("value_counts").unwrap().as_map().value(0);
    assert_eq!(counts.column(0).as_ref(), &Int32Array::from(vec![1, 3]));
    assert_eq!(counts.column(1).as_ref(), &Int64Array::from(vec![10, 30]));
    let none = decode(&table, &bytes, Stats::Skip);
    assert_eq!(none.column("value_counts").unwrap().null_count(), 1);
    assert_eq!(none.entries.schema(), typed_entry_schema());
    assert_eq!(none.paths().unwrap(), columns.paths().unwrap());
}

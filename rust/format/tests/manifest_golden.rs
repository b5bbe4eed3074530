//! Manifests and manifest lists that other implementations wrote; see `tests/golden/manifests`.

use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, Int64Array, StringArray};
use icefloe_format::manifest::{
    DecodeOptions, Inheritance, ManifestColumns, ManifestDecoder, Stats, decode_file_locations,
    decode_listed_manifests, decode_manifest, decode_manifest_list, inherit,
};
use icefloe_format::spec::{PartitionSpec, Schema, StructType};

fn golden(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/manifests");
    std::fs::read(root.join(name)).unwrap()
}

/// The partition type, from nothing but the manifest's own header.
fn header_type(bytes: &[u8]) -> StructType {
    let nothing = StructType::default();
    let options = DecodeOptions { spec_id: 0, partition_type: &nothing, stats: Stats::Skip };
    let decoder = ManifestDecoder::new(bytes, &options).unwrap();
    let schema = Schema::from_json(decoder.header().schema.as_deref().unwrap()).unwrap();
    let fields = decoder.header().partition_spec.as_deref().unwrap();
    PartitionSpec::from_fields_json(fields).unwrap().partition_type(&schema)
}

fn read(name: &str) -> ManifestColumns {
    let bytes = golden(name);
    let partition_type = header_type(&bytes);
    let options = DecodeOptions { spec_id: 4, partition_type: &partition_type, stats: Stats::All };
    decode_manifest(&bytes, &options).unwrap()
}

fn check(columns: &ManifestColumns) {
    assert_eq!(columns.statuses().unwrap(), &Int32Array::from(vec![1, 0]));
    let paths = ["s3://bucket/data/a.parquet", "s3://bucket/data/b.parquet"];
    assert_eq!(columns.paths().unwrap(), &StringArray::from(paths.to_vec()));
    let formats = columns.column("file_format").unwrap().as_string::<i32>();
    assert_eq!(formats, &StringArray::from(vec!["PARQUET", "PARQUET"]));
    assert_eq!(columns.ints("spec_id").unwrap(), &Int32Array::from(vec![4, 4]));
    assert_eq!(columns.longs("record_count").unwrap(), &Int64Array::from(vec![10, 10]));
    let counts = columns.column("value_counts").unwrap().as_map();
    assert_eq!(counts.keys().as_primitive::<Int32Type>().values(), &[1, 3]);
    assert_eq!(counts.values().as_primitive::<Int64Type>().values(), &[10, 300_000_000_000]);
    assert!(counts.is_null(1));
    let bounds = columns.column("lower_bounds").unwrap().as_map();
    assert_eq!(bounds.values().as_binary::<i32>().value(0), b"abc");
    assert_eq!(bounds.value_length(1), 0);
    let days = columns.partition.column_by_name("at_day").unwrap().as_primitive::<Date32Type>();
    assert_eq!(days.iter().collect::<Vec<_>>(), [Some(17501), None]);
    let buckets = columns.partition.column_by_name("id_bucket").unwrap();
    assert_eq!(buckets.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(3), None]);
    assert_eq!(columns.column("referenced_data_file").unwrap().null_count(), 2);
}

/// Locations decoded alone equal those of whole entries.
fn check_locations(name: &str, columns: &ManifestColumns) {
    let found = decode_file_locations(&golden(name), None).unwrap();
    assert_eq!(&found.statuses, columns.statuses().unwrap(), "{name}");
    assert_eq!(&found.paths, columns.paths().unwrap(), "{name}");
    assert_eq!(&found.sizes, columns.longs("file_size_in_bytes").unwrap(), "{name}");
    let contents = found.contents.iter().map(|content| content.unwrap_or(0));
    assert!(contents.eq(columns.ints("content").unwrap().values().iter().copied()), "{name}");
}

#[test]
fn manifests_of_every_writer_read_alike() {
    for name in [
        "null_first.avro",
        "null_last.avro",
        "text_ids.avro",
        "plain_day.avro",
        "strange_order.avro",
        "version_3.avro",
        "pyiceberg_v2.avro",
    ] {
        let columns = read(name);
        check(&columns);
        check_locations(name, &columns);
        let ids = columns.column("equality_ids").unwrap().as_list::<i32>();
        assert_eq!(ids.values().as_primitive::<Int32Type>().values(), &[1], "{name}");
        let offsets = columns.column("split_offsets").unwrap().as_list::<i32>();
        assert_eq!(offsets.value(0).as_primitive::<Int64Type>().values(), &[4, 500], "{name}");
    }
}

#[test]
fn version_1_manifests_inherit_zero() {
    let columns = read("version_1.avro");
    check(&columns);
    check_locations("version_1.avro", &columns);
    let from = Inheritance { added_snapshot_id: Some(9), sequence_number: Some(0) };
    let inherited = inherit(columns, from).unwrap();
    assert_eq!(inherited.longs("snapshot_id").unwrap(), &Int64Array::from(vec![9, 7]));
    assert_eq!(inherited.longs("sequence_number").unwrap(), &Int64Array::from(vec![0, 0]));
}

#[test]
fn only_added_entries_inherit_sequence_numbers() {
    let from = Inheritance { added_snapshot_id: Some(9), sequence_number: Some(5) };
    let inherited = inherit(read("null_first.avro"), from).unwrap();
    assert_eq!(inherited.longs("snapshot_id").unwrap(), &Int64Array::from(vec![9, 7]));
    assert_eq!(inherited.longs("sequence_number").unwrap(), &Int64Array::from(vec![5, 2]));
    let files = inherited.longs("file_sequence_number").unwrap();
    assert_eq!(files, &Int64Array::from(vec![Some(5), None]));
}

#[test]
fn manifest_of_an_open_commit_keeps_its_nulls() {
    let from = Inheritance { added_snapshot_id: Some(9), sequence_number: None };
    let inherited = inherit(read("null_first.avro"), from).unwrap();
    let numbers = inherited.longs("sequence_number").unwrap();
    assert_eq!(numbers, &Int64Array::from(vec![None, Some(2)]));
}

#[test]
fn manifest_lists_of_both_versions_read_alike() {
    for (name, sequence_number) in [("pyiceberg_list_v1.avro", 0), ("pyiceberg_list_v2.avro", 3)] {
        let list = decode_manifest_list(&golden(name)).unwrap();
        assert_eq!(list.num_rows(), 1);
        let found = decode_listed_manifests(&golden(name)).unwrap();
        let column = |name| list.column_by_name(name).unwrap();
        assert_eq!(&found.paths, column("manifest_path").as_string(), "{name}");
        assert_eq!(&found.lengths, column("manifest_length").as_primitive(), "{name}");
        assert_eq!(&found.spec_ids, column("partition_spec_id").as_primitive(), "{name}");
        let long =
            |name: &str| list.column_by_name(name).unwrap().as_primitive::<Int64Type>().value(0);
        assert_eq!(long("sequence_number"), sequence_number, "{name}");
        assert_eq!(long("added_snapshot_id"), 7);
        assert_eq!(long("added_rows_count"), 10);
        let content = list.column_by_name("content").unwrap().as_primitive::<Int32Type>();
        assert_eq!(content.value(0), 0);
        let summaries = list.column_by_name("partitions").unwrap().as_list::<i32>().value(0);
        let bounds = summaries.as_struct().column_by_name("upper_bound").unwrap();
        assert_eq!(bounds.as_binary::<i32>().value(0), 17501_i32.to_le_bytes());
    }
}

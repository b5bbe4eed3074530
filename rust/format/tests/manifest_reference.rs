//! Manifests and lists of versions 1 to 3 that the Java reference wrote, read as it reads them; see
//! `tests/golden/reference`.

use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use icefloe_format::manifest::{
    DecodeOptions, Inheritance, ManifestDecoder, Stats, decode_manifest, decode_manifest_list,
    inherit,
};
use icefloe_format::spec::{
    PartitionSpec, Schema, StructType, partition_from_json, partition_to_json,
};
use serde_json::{Value, json};

fn golden(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/reference");
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

fn hex(bytes: &[u8]) -> Value {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

/// One value as the expectations have it: bytes in hexadecimal, a map as pairs in order of its keys.
fn plain(column: &ArrayRef, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Binary => hex(column.as_binary::<i32>().value(row)),
        DataType::List(_) => elements(&column.as_list::<i32>().value(row)),
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(column.as_struct().columns());
            columns.map(|(field, column)| (field.name().clone(), plain(column, row))).collect()
        }
        DataType::Map(..) => {
            let entries = column.as_map().value(row);
            let pair = |at| json!([plain(entries.column(0), at), plain(entries.column(1), at)]);
            let mut pairs: Vec<Value> = (0..entries.len()).map(pair).collect();
            pairs.sort_by_key(|pair| pair[0].as_i64());
            pairs.into()
        }
        other => unreachable!("no column is of type {other}"),
    }
}

fn elements(list: &ArrayRef) -> Value {
    (0..list.len()).map(|at| plain(list, at)).collect()
}

fn check(batch: &RecordBatch, row: usize, expected: &Value, partition: Option<&StructType>) {
    for (name, expected) in expected.as_object().unwrap() {
        if name == "entries" {
            continue;
        }
        let found = plain(batch.column_by_name(name).unwrap(), row);
        match (name.as_str(), partition) {
            ("partition", Some(kind)) => {
                let read = |text: &str| partition_from_json(kind, text).unwrap();
                let expected = partition_to_json(&read(&expected.to_string()));
                assert_eq!(partition_to_json(&read(found.as_str().unwrap())), expected);
            }
            // The reference gives an empty list where a manifest has no summaries.
            ("partitions", _) if found.is_null() => assert_eq!(*expected, json!([])),
            _ => assert_eq!(found, *expected, "{name}"),
        }
    }
}

#[test]
fn lists_and_entries_are_read_as_the_reference_reads_them() {
    let expected: Value = serde_json::from_slice(&golden("expected.json")).unwrap();
    for case in expected.as_array().unwrap() {
        let list = decode_manifest_list(&golden(case["list"].as_str().unwrap())).unwrap();
        let manifests = case["manifests"].as_array().unwrap();
        assert_eq!(list.num_rows(), manifests.len());
        for (row, manifest) in manifests.iter().enumerate() {
            check(&list, row, manifest, None);
            let bytes = golden(manifest["manifest_path"].as_str().unwrap());
            assert_eq!(manifest["manifest_length"], bytes.len());
            let partition_type = header_type(&bytes);
            let spec_id = i32::try_from(manifest["partition_spec_id"].as_i64().unwrap()).unwrap();
            let options =
                DecodeOptions { spec_id, partition_type: &partition_type, stats: Stats::All };
            let from = Inheritance {
                added_snapshot_id: manifest["added_snapshot_id"].as_i64(),
                sequence_number: manifest["sequence_number"].as_i64(),
            };
            let columns = inherit(decode_manifest(&bytes, &options).unwrap(), from).unwrap();
            let entries = columns.to_batch(&partition_type).unwrap();
            let expected = manifest["entries"].as_array().unwrap();
            assert_eq!(entries.num_rows(), expected.len());
            for (row, entry) in expected.iter().enumerate() {
                check(&entries, row, entry, Some(&partition_type));
            }
        }
    }
}

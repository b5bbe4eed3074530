//! Locations and names of data files, against the shared vectors.

use std::collections::BTreeMap;

use icefloe_engine::write::locations::{FileNames, Locations};
use icefloe_engine::write::{FileFormat, FileKind};
use icefloe_format::spec::{PartitionSpec, Schema, partition_from_json, partition_path};
use serde_json::Value;

fn cases(name: &str) -> Vec<Value> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    let paths = [format!("{directory}/{name}.json"), format!("{directory}/reference/{name}.json")];
    let texts = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    texts.flat_map(|text| serde_json::from_str::<Vec<Value>>(&text).unwrap()).collect()
}

fn directories(case: &Value) -> String {
    if case["spec"].is_null() {
        return String::new();
    }
    let schema = Schema::from_value(&case["schema"]).unwrap();
    let spec = PartitionSpec::from_value(&case["spec"]).unwrap();
    let tuple = case["partition"].to_string();
    let partition = partition_from_json(&spec.partition_type(&schema), &tuple).unwrap();
    partition_path(&spec, &schema, &partition)
}

#[test]
fn data_file_locations_match_the_vectors() {
    let cases = cases("data_location");
    assert!(!cases.is_empty());
    for case in cases {
        let mut properties = BTreeMap::new();
        for (name, value) in [
            ("write.object-storage.enabled", &case["object_storage"]),
            ("write.object-storage.partitioned-paths", &case["partitioned_paths"]),
        ] {
            properties.insert(name.to_owned(), value.to_string());
        }
        if let Some(path) = case["data_path"].as_str() {
            properties.insert("write.data.path".to_owned(), path.to_owned());
        }
        let locations = Locations::new(case["table_location"].as_str().unwrap(), &properties);
        let found = locations.unwrap().file(&directories(&case), case["file"].as_str().unwrap());
        assert_eq!(found, case["location"].as_str().unwrap(), "{case}");
    }
}

#[test]
fn data_file_names_match_the_vectors() {
    for case in cases("file_name") {
        let kind = match case["kind"].as_str().unwrap() {
            "data" => FileKind::Data,
            "deletes" => FileKind::Deletes,
            _ => continue, // Python names the others
        };
        let partition_id = u32::try_from(case["partition_id"].as_u64().unwrap()).unwrap();
        let task_id = case["task_id"].as_u64().unwrap();
        let operation_id = case["operation_id"].as_str().unwrap();
        let names =
            FileNames::new(partition_id, task_id, operation_id, (kind, FileFormat::Parquet));
        assert_eq!(names.next_name(), case["name"].as_str().unwrap());
    }
}

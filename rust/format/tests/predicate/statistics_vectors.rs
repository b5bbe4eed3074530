//! Evaluation on statistics of files and summaries of manifests, against the shared vectors.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, MapBuilder, MapFieldNames};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, ListArray, RecordBatch, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use icefloe_format::predicate::{
    FileStats, ManifestSummaries, bind, evaluate_inclusive, evaluate_strict, from_value,
    project_inclusive,
};
use icefloe_format::spec::{NestedField, PartitionSpec, Schema};
use serde_json::Value;

use crate::vectors::{cases, type_of};

fn unhex(value: &Value) -> Option<Vec<u8>> {
    let text = value.as_str()?;
    let pairs = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    Some(pairs.collect::<Result<_, _>>().unwrap())
}

fn names() -> Option<MapFieldNames> {
    Some(MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() })
}

fn count_map(value: &Value) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), Int64Builder::new());
    if let Some(count) = value.as_i64() {
        map.keys().append_value(1);
        map.values().append_value(count);
    }
    map.append(true).unwrap();
    Arc::new(map.finish())
}

fn bound_map(value: &Value) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), BinaryBuilder::new());
    if let Some(bytes) = unhex(value) {
        map.keys().append_value(1);
        map.values().append_value(bytes);
    }
    map.append(true).unwrap();
    Arc::new(map.finish())
}

fn one_column(case: &Value) -> Schema {
    let fields = vec![NestedField::optional(1, "x", type_of(case, "type"))];
    Schema::new(0, fields, Vec::new())
}

#[test]
fn files_might_and_must_match_as_in_the_vectors() {
    for file in cases("file_metrics") {
        let stats = &file["stats"];
        let records = Int64Array::from(vec![stats["record_count"].as_i64().unwrap()]);
        let batch = RecordBatch::try_from_iter(vec![
            ("record_count", Arc::new(records) as ArrayRef),
            ("value_counts", count_map(&stats["value_count"])),
            ("null_value_counts", count_map(&stats["null_count"])),
            ("nan_value_counts", count_map(&stats["nan_count"])),
            ("lower_bounds", bound_map(&stats["lower"])),
            ("upper_bounds", bound_map(&stats["upper"])),
        ])
        .unwrap();
        let schema = one_column(&file);
        for case in file["cases"].as_array().unwrap() {
            let predicate = bind(&from_value(&case["predicate"]).unwrap(), &schema, true).unwrap();
            let might = evaluate_inclusive(&predicate, &FileStats::new(&batch)).unwrap().value(0);
            let must = evaluate_strict(&predicate, &FileStats::new(&batch)).unwrap().value(0);
            assert_eq!(might, case["might"] == true, "{} {stats} {case}", file["type"]);
            // Null where nothing is known of NaN, of which the reference then sees none.
            assert!(
                case["must"].is_null() || case["must"] == must,
                "{} {stats} {case}",
                file["type"]
            );
        }
    }
}

/// A list of one manifest's summaries: of one field.
fn summaries(summary: &Value) -> ListArray {
    let flag = |name: &str| Arc::new(BooleanArray::from(vec![summary[name].as_bool()]));
    let bound = |name: &str| Arc::new([unhex(&summary[name])].into_iter().collect::<BinaryArray>());
    let columns: Vec<(Arc<Field>, ArrayRef)> = vec![
        (field("contains_null", DataType::Boolean), flag("contains_null")),
        (field("contains_nan", DataType::Boolean), flag("contains_nan")),
        (field("lower_bound", DataType::Binary), bound("lower")),
        (field("upper_bound", DataType::Binary), bound("upper")),
    ];
    let elements = StructArray::from(columns);
    let element = field("element", elements.data_type().clone());
    ListArray::new(element, OffsetBuffer::from_lengths([1]), Arc::new(elements), None)
}

fn field(name: &str, data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new(name, data_type, true))
}

#[test]
fn manifests_might_match_as_in_the_vectors() {
    let spec = PartitionSpec::from_fields_json(
        r#"[{"name":"x","transform":"identity","source-id":1,"field-id":1000}]"#,
    )
    .unwrap();
    for manifest in cases("manifest_summary") {
        let schema = one_column(&manifest);
        let partition_type = spec.partition_type(&schema);
        let list = summaries(&manifest["summary"]);
        let stats = ManifestSummaries::new(&list, &partition_type);
        for case in manifest["cases"].as_array().unwrap() {
            let predicate = bind(&from_value(&case["predicate"]).unwrap(), &schema, true).unwrap();
            let projected = project_inclusive(&predicate, &schema, &spec).unwrap();
            let might = evaluate_inclusive(&projected, &stats).unwrap().value(0);
            assert_eq!(might, case["might"] == true, "{} {case}", manifest["summary"]);
        }
    }
}

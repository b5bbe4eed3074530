use arrow_array::Time64MicrosecondArray;
use icefloe_format::Error;
use icefloe_format::spec::{
    Datum, PartitionSpec, PrimitiveType, Schema, Type, partition_from_json, partition_from_struct,
    partition_path, partition_to_json, partition_value, partitions_to_struct,
};
use proptest::prelude::*;

use crate::strategies::column;
use crate::vectors::{assert_all_hold, cases, difference, text};

fn schema() -> Schema {
    Schema::from_json(
        r#"{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"string"},
            {"id":2,"name":"at","required":false,"type":"timestamp"}]}"#,
    )
    .unwrap()
}

#[test]
fn partition_paths_match_the_vectors() {
    let differences = cases("partition_path").into_iter().filter_map(|case| {
        let schema = Schema::from_value(&case["schema"]).unwrap();
        let spec = PartitionSpec::from_value(&case["spec"]).unwrap();
        let read = |text: &str| partition_from_json(&spec.partition_type(&schema), text).unwrap();
        let partition = read(&case["partition"].to_string());
        assert_eq!(read(&partition_to_json(&partition)), partition, "{case}");
        difference(
            &partition_path(&spec, &schema, &partition).as_str(),
            &text(&case, "path"),
            &case,
        )
    });
    assert_all_hold(&differences.collect::<Vec<_>>());
}

#[test]
fn fields_without_ids_are_numbered_from_1000() {
    for case in cases("partition_spec") {
        let spec = PartitionSpec::from_fields_json(&case["fields"].to_string()).unwrap();
        let ids: Vec<i32> = spec.fields.iter().map(|field| field.field_id).collect();
        assert_eq!(serde_json::json!(ids), case["field_ids"]);
    }
}

#[test]
fn spec_object_is_read_in_place_of_its_fields() {
    let fields = r#"[{"name":"a","transform":"identity","source-id":1,"field-id":1000}]"#;
    let spec = PartitionSpec::from_fields_json(fields).unwrap();
    assert_eq!(spec.fields_to_json(), fields);
    assert_eq!(PartitionSpec::from_fields_json(&spec.to_json()).unwrap(), spec);
}

#[test]
fn repeated_ids_and_transforms_of_several_columns_are_refused() {
    let field =
        |ids: &str| format!(r#"{{"name":"a","transform":"identity",{ids},"field-id":1000}}"#);
    let twice = format!("[{0},{0}]", field(r#""source-id":1"#));
    assert!(matches!(PartitionSpec::from_fields_json(&twice), Err(Error::InvalidArgument { .. })));
    let one = format!("[{}]", field(r#""source-ids":[1]"#));
    assert_eq!(PartitionSpec::from_fields_json(&one).unwrap().fields[0].source_id, 1);
    let two = format!("[{}]", field(r#""source-ids":[1,2]"#));
    assert!(matches!(PartitionSpec::from_fields_json(&two), Err(Error::Unsupported { .. })));
}

#[test]
fn dropped_source_column_leaves_the_fixed_result_type_or_none() {
    let spec = PartitionSpec::from_fields_json(
        r#"[{"name":"d","transform":"day","source-id":9,"field-id":1000},
            {"name":"i","transform":"identity","source-id":9,"field-id":1001},
            {"name":"y","transform":"year","source-id":2,"field-id":1002}]"#,
    )
    .unwrap();
    let types = |schemas: &[Schema]| -> Vec<Type> {
        spec.partition_type_among(schemas).fields.into_iter().map(|f| f.field_type).collect()
    };
    use PrimitiveType as P;
    let current = schema();
    assert_eq!(
        types(std::slice::from_ref(&current)),
        [P::Date.into(), P::Unknown.into(), P::Int.into()]
    );
    let mut fields = current.fields().to_vec();
    fields[1].id = 9;
    let earlier = Schema::new(current.schema_id(), fields, vec![]);
    assert_eq!(types(&[current, earlier]), [P::Date.into(), P::Timestamp.into(), P::Int.into()]);
}

#[test]
fn values_of_an_unknown_type_distinguish_tuples() {
    let spec = PartitionSpec::from_fields_json(
        r#"[{"name":"i","transform":"identity","source-id":9,"field-id":1000}]"#,
    )
    .unwrap();
    let read = |text| partition_from_json(&spec.partition_type(&schema()), text).unwrap();
    assert_ne!(read(r#"["a"]"#), read(r#"["b"]"#));
    assert_eq!(read("[null]"), [None]);
    assert_eq!(partition_to_json(&read(r#"["a"]"#)), r#"["a"]"#);
}

#[test]
fn tuples_of_another_length_or_type_are_refused() {
    let spec = PartitionSpec::from_fields_json(
        r#"[{"name":"y","transform":"year","source-id":2,"field-id":1000}]"#,
    )
    .unwrap();
    let partition_type = spec.partition_type(&schema());
    for tuple in ["[]", "[1,2]", "{}", r#"["x"]"#, "[1.5]", "[2147483648]", "[[1]]", "["] {
        assert!(partition_from_json(&partition_type, tuple).is_err(), "{tuple}");
    }
    assert_eq!(partition_from_json(&partition_type, "[47]").unwrap(), [Some(Datum::Int(47))]);
}

proptest! {
    #[test]
    fn tuples_survive_json_and_struct_arrays((value_type, values) in column()) {
        let column = serde_json::json!({"type": "struct", "fields": [
            {"id": 1, "name": "c", "required": false, "type": value_type.to_string()}]});
        let schema = Schema::from_value(&column).unwrap();
        let spec = PartitionSpec::from_fields_json(
            r#"[{"name":"c","transform":"identity","source-id":1,"field-id":1000}]"#,
        ).unwrap();
        let partition_type = spec.partition_type(&schema);
        let tuples: Vec<_> = values.into_iter().map(|value| vec![value]).collect();
        let array = partitions_to_struct(&partition_type, &tuples).unwrap();
        for (row, tuple) in tuples.iter().enumerate() {
            let text = partition_to_json(tuple);
            prop_assert_eq!(&partition_from_json(&partition_type, &text).unwrap(), tuple);
            prop_assert_eq!(&partition_from_struct(&partition_type, &array, row).unwrap(), tuple);
        }
    }
}

#[test]
fn partition_times_of_another_day_are_refused() {
    let micros = [0, 86_399_999_999, 86_400_000_000, -1, i64::MAX];
    let array = Time64MicrosecondArray::from(micros.to_vec());
    let found = |row| partition_value(&array, row, &PrimitiveType::Time);
    assert_eq!(found(0).unwrap(), Some(Datum::Time(0)));
    assert_eq!(found(1).unwrap().unwrap().human_string(), "23:59:59.999999");
    for (row, micros) in micros.iter().enumerate().skip(2) {
        let error = found(row).unwrap_err().to_string();
        assert!(error.contains(&format!("from 0 to 86399999999, got {micros}")), "{error}");
    }
}

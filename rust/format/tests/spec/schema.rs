use icefloe_format::Error;
use icefloe_format::spec::{ArrowOptions, PrimitiveType, Schema, SortOrder, Type, schema_to_arrow};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::vectors::{cases, text};

const NESTED: &str = r#"{"type":"struct","schema-id":3,"identifier-field-ids":[1],"fields":[
    {"id":1,"name":"id","required":true,"type":"long","doc":"the key"},
    {"id":2,"name":"Point","required":false,"type":{"type":"struct","fields":[
        {"id":3,"name":"x","required":true,"type":"double","initial-default":0.5,"write-default":1.5},
        {"id":4,"name":"in","required":false,"type":{"type":"struct","fields":[
            {"id":5,"name":"at","required":false,"type":"timestamptz"}]}}]}},
    {"id":6,"name":"tags","required":false,"type":
        {"type":"list","element-id":7,"element":"decimal(9, 2)","element-required":true}},
    {"id":8,"name":"m","required":false,"type":{"type":"map","key-id":9,"key":"string","value-id":10,
        "value":{"type":"struct","fields":[{"id":11,"name":"v","required":false,"type":"fixed[4]"}]},
        "value-required":false}}]}"#;

fn nested() -> Schema {
    Schema::from_json(NESTED).unwrap()
}

#[test]
fn schema_survives_a_round_trip() {
    let text: Value = serde_json::from_str(NESTED).unwrap();
    assert_eq!(nested().to_json(), text.to_string());
}

#[test]
fn fields_are_found_by_id_and_by_full_name() {
    let schema = nested();
    assert_eq!(schema.field_by_id(5).unwrap().name, "at");
    assert_eq!(schema.field_by_id(11).unwrap().name, "v");
    assert!(schema.field_by_id(7).is_none(), "an element is not a field");
    assert_eq!(schema.field_by_name("Point.in.at", true).unwrap().id, 5);
    assert!(schema.field_by_name("point.in.at", true).is_none());
    assert_eq!(schema.field_by_name("point.IN.at", false).unwrap().id, 5);
    assert_eq!(schema.field_by_name("m.value.v", true).unwrap().id, 11);
    assert_eq!(schema.id_by_name("tags.element", true), Some(7));
    assert_eq!(schema.full_name(11).unwrap(), "m.value.v");
    assert_eq!(schema.full_name(99), None);
}

#[test]
fn schema_types_and_id_positions_are_parsed() {
    let schema = nested();
    let decimal = PrimitiveType::Decimal { precision: 9, scale: 2 };
    assert_eq!(schema.primitive_type(7), Some(decimal));
    assert_eq!(schema.primitive_type(2), None);
    assert!(schema.is_nested(7) && schema.is_nested(9) && schema.is_nested(11));
    assert!(!schema.is_nested(5) && !schema.is_nested(8) && !schema.is_nested(99));
    assert_eq!(schema.position_path(5), Some(vec![1, 1, 0]));
    assert_eq!(schema.position_path(7), None);
    assert_eq!(schema.position_path(8), Some(vec![3]));
    assert_eq!(schema.highest_field_id(), 11);
    assert_eq!(schema.leaf_ids(), [1, 3, 5, 7, 9, 11]);
}

#[test]
fn malformed_schemas_are_refused_with_the_reason() {
    for case in cases("schema_invalid") {
        let refused = Schema::from_json(&case["schema"].to_string());
        assert!(matches!(refused, Err(Error::InvalidArgument { .. })), "{case}: {refused:?}");
        let reason = refused.unwrap_err().to_string();
        assert!(reason.contains(text(&case, "message")), "{case}: {reason}");
    }
}

#[test]
fn types_of_later_versions_are_unsupported() {
    let field = json!({"id": 1, "name": "v", "required": false, "type": "variant"});
    let schema = json!({"type": "struct", "fields": [field]});
    let refused = Schema::from_value(&schema);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}

#[test]
fn deep_nesting_is_refused_and_not_a_stack_overflow() {
    let mut value = json!("int");
    for id in 0..200 {
        value =
            json!({"type": "list", "element-id": id, "element": value, "element-required": true});
    }
    assert!(Type::from_value(&value).is_err());
    let text = r#"{"type":"list","element":"#.repeat(100_000);
    assert!(Schema::from_json(&text).is_err());
}

#[test]
fn arrow_fields_carry_ids_at_every_level() {
    let options = ArrowOptions { field_ids: true, ..ArrowOptions::default() };
    let arrow = schema_to_arrow(&nested(), options);
    let (tags, map) = (arrow.field(2), arrow.field(3));
    assert_eq!(tags.metadata()["PARQUET:field_id"], "6");
    let arrow_schema::DataType::List(element) = tags.data_type() else { panic!("{tags}") };
    assert_eq!((element.name().as_str(), element.is_nullable()), ("element", false));
    assert_eq!(element.metadata()["PARQUET:field_id"], "7");
    let arrow_schema::DataType::Map(entries, _) = map.data_type() else { panic!("{map}") };
    assert_eq!(entries.name(), "key_value");
    assert!(schema_to_arrow(&nested(), ArrowOptions::default()).field(0).metadata().is_empty());
}

proptest! {
    #[test]
    fn schema_of_any_text_is_parsed_or_refused_without_a_panic(
        at in 0..NESTED.len(), length in 0_usize..8, replacement in r#"[\[\]{}",:0-9a-z-]{0,4}"#,
    ) {
        let mut text = NESTED.to_owned();
        text.replace_range(at..(at + length).min(NESTED.len()), &replacement);
        if let Ok(schema) = Schema::from_json(&text) {
            prop_assert_eq!(Schema::from_json(&schema.to_json()).unwrap(), schema);
        }
        let _ = SortOrder::from_json(&text);
    }
}

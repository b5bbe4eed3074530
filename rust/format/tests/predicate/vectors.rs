//! Projection and residuals against the shared vectors.

use icefloe_format::predicate::{
    BoundPredicate, Operator, Predicate, bind, from_value, project_inclusive, project_strict,
    residual, to_unbound_json,
};
use icefloe_format::spec::{
    NestedField, PartitionField, PartitionSpec, PrimitiveType, Schema, StructType,
    partition_from_json,
};
use serde_json::Value;

fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn schema(fields: Vec<NestedField>) -> Schema {
    Schema { schema_id: 0, fields, identifier_field_ids: Vec::new() }
}

/// The reference wraps around at the least ints too, but does not look for such partitions.
fn without_wrapped(predicate: BoundPredicate) -> BoundPredicate {
    let is_limit = |side: &BoundPredicate| {
        matches!(side, Predicate::Leaf(leaf) if matches!(leaf.op, Operator::Eq | Operator::NotEq)
            && leaf.literals[0].as_long() == Some(2_147_483_646))
    };
    match predicate {
        Predicate::Or(kept, limit) | Predicate::And(kept, limit) if is_limit(&limit) => *kept,
        other => other,
    }
}

#[test]
fn projections_are_those_of_the_vectors() {
    for case in cases("projection.json") {
        let source: PrimitiveType = case["type"].as_str().unwrap().parse().unwrap();
        let schema = schema(vec![NestedField::optional(1, "x", source)]);
        let transform = case["transform"].as_str().unwrap().parse().unwrap();
        let field = PartitionField { source_id: 1, field_id: 1000, name: "p".into(), transform };
        let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
        let predicate = bind(&from_value(&case["predicate"]).unwrap(), &schema, true).unwrap();
        let projected = match case["direction"].as_str().unwrap() {
            "inclusive" => project_inclusive(&predicate, &schema, &spec).unwrap(),
            _ => project_strict(&predicate, &schema, &spec).unwrap(),
        };
        let found: Value =
            serde_json::from_str(&to_unbound_json(&without_wrapped(projected))).unwrap();
        assert_eq!(found, case["projected"], "{case}");
    }
}

#[test]
fn residuals_are_those_of_the_vectors() {
    let schema = schema(vec![
        NestedField::optional(1, "dateint", PrimitiveType::Int),
        NestedField::optional(2, "hour", PrimitiveType::Int),
    ]);
    let transform = "identity".parse().unwrap();
    let field = PartitionField { source_id: 1, field_id: 1000, name: "dateint".into(), transform };
    let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
    let partition_type: StructType = spec.partition_type(&schema);
    for case in cases("residual.json") {
        let predicate = bind(&from_value(&case["predicate"]).unwrap(), &schema, true).unwrap();
        let tuple = partition_from_json(&partition_type, &case["partition"].to_string()).unwrap();
        let left = residual(&predicate, &spec, &schema, &tuple).unwrap();
        let found: Value = serde_json::from_str(&to_unbound_json(&left)).unwrap();
        assert_eq!(found, case["residual"], "{case}");
    }
}

#[test]
fn residual_of_an_unpartitioned_table_is_the_whole_predicate() {
    let schema = schema(vec![NestedField::optional(1, "x", PrimitiveType::Long)]);
    let spec = PartitionSpec { spec_id: 0, fields: Vec::new() };
    let text = r#"{"type":"gt","term":"x","value":3}"#;
    let predicate =
        bind(&from_value(&serde_json::from_str(text).unwrap()).unwrap(), &schema, true).unwrap();
    assert_eq!(residual(&predicate, &spec, &schema, &Vec::new()).unwrap(), predicate);
}

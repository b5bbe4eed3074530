//! Binding, projection and residuals against the shared vectors.

use icefloe_format::predicate::{
    BoundPredicate, Operator, Predicate, bind, from_value, project_inclusive, project_strict,
    residual, to_unbound_json,
};
use icefloe_format::spec::{
    NestedField, PartitionField, PartitionSpec, PrimitiveType, Schema, StructType,
    partition_from_json,
};
use serde_json::{Value, json};

use crate::vectors::{cases, text, type_of};

fn schema(fields: Vec<NestedField>) -> Schema {
    Schema::new(0, fields, Vec::new())
}

fn bound(predicate: &Value, schema: &Schema) -> BoundPredicate {
    bind(&from_value(predicate).unwrap(), schema, true).unwrap()
}

fn shown(predicate: &BoundPredicate) -> Value {
    serde_json::from_str(&to_unbound_json(predicate)).unwrap()
}

fn is_near_a_limit(value: i64) -> bool {
    (2_147_483_600..=2_147_483_647).contains(&value) || value > i64::MAX - 100
}

/// The reference wraps around at the least ints too, but does not look for such partitions.
fn without_wrapped(predicate: BoundPredicate) -> BoundPredicate {
    let is_limit = |side: &BoundPredicate| {
        matches!(side, Predicate::Leaf(leaf)
            if matches!(leaf.op, Operator::Eq | Operator::In | Operator::NotEq | Operator::NotIn)
            && leaf.literals.iter().all(|it| it.as_long().is_some_and(is_near_a_limit)))
    };
    match predicate {
        Predicate::Or(kept, limit) | Predicate::And(kept, limit) if is_limit(&limit) => *kept,
        other => other,
    }
}

/// Predicates whose texts may differ, bound to the same schema.
fn assert_same(found: &BoundPredicate, expected: &Value, schema: &Schema, case: &Value) {
    assert_eq!(shown(found), shown(&bound(expected, schema)), "{case}");
}

#[test]
fn projections_match_the_vectors() {
    for case in cases("projection") {
        let source = schema(vec![NestedField::optional(1, "x", type_of(&case, "type"))]);
        let transform = text(&case, "transform").parse().unwrap();
        let field = PartitionField { source_id: 1, field_id: 1000, name: "p".into(), transform };
        let spec = PartitionSpec { spec_id: 0, fields: vec![field] };
        let partition = schema(spec.partition_type(&source).fields);
        let predicate = bound(&case["predicate"], &source);
        for direction in ["inclusive", "strict"] {
            let expected = match case.get(direction) {
                Some(expected) => expected,
                None if case["direction"] == direction => &case["projected"],
                None => continue,
            };
            let projected = match direction {
                "inclusive" => project_inclusive(&predicate, &source, &spec).unwrap(),
                _ => project_strict(&predicate, &source, &spec).unwrap(),
            };
            assert_same(&without_wrapped(projected), expected, &partition, &case);
        }
    }
}

#[test]
fn residuals_match_the_vectors() {
    for case in cases("residual") {
        let table = if case["partition"].as_array().unwrap().len() == 1 {
            (two_ints(), json!([identity("dateint")]))
        } else {
            (three_columns(), three_fields())
        };
        let (schema, fields) = table;
        let spec = PartitionSpec::from_fields_json(&fields.to_string()).unwrap();
        let partition_type: StructType = spec.partition_type(&schema);
        let predicate = bound(&case["predicate"], &schema);
        let tuple = partition_from_json(&partition_type, &case["partition"].to_string()).unwrap();
        let left = residual(&predicate, &spec, &schema, &tuple).unwrap();
        assert_same(&left, &case["residual"], &schema, &case);
    }
}

fn identity(name: &str) -> Value {
    json!({"source-id": 1, "field-id": 1000, "name": name, "transform": "identity"})
}

fn two_ints() -> Schema {
    schema(vec![
        NestedField::optional(1, "dateint", PrimitiveType::Int),
        NestedField::optional(2, "hour", PrimitiveType::Int),
    ])
}

fn three_columns() -> Schema {
    schema(vec![
        NestedField::optional(1, "id", PrimitiveType::Long),
        NestedField::optional(2, "at", PrimitiveType::Timestamp),
        NestedField::optional(3, "name", PrimitiveType::String),
    ])
}

fn three_fields() -> Value {
    json!([identity("id"),
        {"source-id": 2, "field-id": 1001, "name": "at_day", "transform": "day"},
        {"source-id": 3, "field-id": 1002, "name": "name_trunc", "transform": "truncate[3]"}])
}

/// Where the reference lets a comparison that holds for every value hold for null as well.
fn but_for_nulls(expected: &Value, found: &BoundPredicate) -> bool {
    *expected == json!(true)
        && matches!(found, Predicate::Leaf(leaf) if leaf.op == Operator::NotNull)
}

#[test]
fn literals_are_bound_as_in_the_vectors() {
    for case in cases("bind") {
        let mut column = NestedField::optional(1, "x", type_of(&case, "type"));
        column.required = case["required"] == true;
        let schema = schema(vec![column]);
        let found = bound(&case["predicate"], &schema);
        if !but_for_nulls(&case["bound"], &found) {
            assert_same(&found, &case["bound"], &schema, &case);
        }
    }
}

#[test]
fn residual_of_an_unpartitioned_table_is_the_whole_predicate() {
    let schema = schema(vec![NestedField::optional(1, "x", PrimitiveType::Long)]);
    let spec = PartitionSpec { spec_id: 0, fields: Vec::new() };
    let predicate = bound(&json!({"type": "gt", "term": "x", "value": 3}), &schema);
    assert_eq!(residual(&predicate, &spec, &schema, &Vec::new()).unwrap(), predicate);
}

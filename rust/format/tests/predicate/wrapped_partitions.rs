//! The partitions of the least ints, whose truncation wraps around, in a column that was promoted to long.

use icefloe_format::predicate::{Predicate, bind, from_value, residual};
use icefloe_format::spec::{Datum, NestedField, PartitionSpec, PrimitiveType, Schema, Transform};
use serde_json::{Value, json};

const OPERATORS: [&str; 8] = ["lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "in", "not-in"];

/// Values around the limits of ints and longs, and multiples of ten beyond them.
fn values() -> Vec<i64> {
    let int = [i64::from(i32::MIN), i64::from(i32::MAX)];
    let around = |limit: i64| (-12..=12).filter_map(move |step| limit.checked_add(step));
    int.into_iter().chain([0, i64::MIN, i64::MAX]).flat_map(around).collect()
}

/// The partitions in which a file may have a value: written as a long, or as an int before the promotion.
fn partitions(transform: &Transform, value: i64) -> Vec<i64> {
    let as_int = i32::try_from(value).ok().map(Datum::Int);
    let written = [Some(Datum::Long(value)), as_int];
    let stored = |datum: Datum| match transform.apply(&datum).unwrap() {
        Some(Datum::Int(stored)) => i64::from(stored),
        Some(Datum::Long(stored)) => stored,
        other => panic!("{other:?}"),
    };
    written.into_iter().flatten().map(stored).collect()
}

fn is_match(operator: &str, value: i64, literals: &[i64]) -> bool {
    match operator {
        "lt" => value < literals[0],
        "lt-eq" => value <= literals[0],
        "gt" => value > literals[0],
        "gt-eq" => value >= literals[0],
        "eq" | "in" => literals.contains(&value),
        _ => !literals.contains(&value),
    }
}

fn leaf(operator: &str, term: &Value, literals: &[i64]) -> Value {
    if operator.ends_with("in") {
        json!({"type": operator, "term": term, "values": literals})
    } else {
        json!({"type": operator, "term": term, "value": literals[0]})
    }
}

#[test]
fn partitions_of_the_least_ints_decide_nothing_about_them() {
    let schema =
        Schema::new(0, vec![NestedField::optional(1, "x", PrimitiveType::Long)], Vec::new());
    let field =
        json!([{"source-id": 1, "field-id": 1000, "name": "p", "transform": "truncate[10]"}]);
    let spec = PartitionSpec::from_fields_json(&field.to_string()).unwrap();
    let transform = &spec.fields[0].transform;
    let truncated = json!({"type": "transform", "transform": "truncate[10]", "term": "x"});
    for (term, is_truncated) in [(json!("x"), false), (truncated, true)] {
        for literal in values() {
            for operator in OPERATORS {
                let set = [literal, 7];
                let literals = if operator.ends_with("in") { &set[..] } else { &set[..1] };
                let predicate = from_value(&leaf(operator, &term, literals)).unwrap();
                let predicate = bind(&predicate, &schema, true).unwrap();
                for value in values() {
                    let Some(Datum::Long(multiple)) = transform.apply(&Datum::Long(value)).unwrap()
                    else {
                        panic!("no long for {value}");
                    };
                    let compared = if is_truncated { multiple } else { value };
                    let expected = is_match(operator, compared, literals);
                    for partition in partitions(transform, value) {
                        let tuple = vec![Some(Datum::Long(partition))];
                        let left = residual(&predicate, &spec, &schema, &tuple).unwrap();
                        let wrong =
                            if expected { Predicate::AlwaysFalse } else { Predicate::AlwaysTrue };
                        assert_ne!(
                            left, wrong,
                            "{operator} {literals:?} of {value} in {partition}"
                        );
                    }
                }
            }
        }
    }
}

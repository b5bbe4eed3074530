//! Binding: names, literals, constants and errors.

use icefloe_format::Error;
use icefloe_format::predicate::{bind, parse_json, to_json, to_unbound_json};
use icefloe_format::spec::Schema;
use serde_json::Value;

const SCHEMA: &str = r#"{"type":"struct","schema-id":0,"fields":[
  {"id":1,"name":"id","required":true,"type":"int"},
  {"id":2,"name":"Amount","required":false,"type":"decimal(9, 2)"},
  {"id":3,"name":"place","required":false,"type":{"type":"struct","fields":[
    {"id":4,"name":"city","required":true,"type":"string"},
    {"id":5,"name":"code","required":false,"type":"int"}]}},
  {"id":6,"name":"tags","required":false,"type":{"type":"list","element-id":7,"element":"string","element-required":false}},
  {"id":8,"name":"day","required":false,"type":"date"},
  {"id":9,"name":"at","required":false,"type":"timestamp"},
  {"id":10,"name":"at_utc","required":false,"type":"timestamptz"},
  {"id":11,"name":"ratio","required":false,"type":"float"},
  {"id":12,"name":"key","required":false,"type":"uuid"},
  {"id":13,"name":"raw","required":false,"type":"binary"},
  {"id":14,"name":"code","required":false,"type":"int"},
  {"id":15,"name":"wide","required":false,"type":"double"},
  {"id":16,"name":"flag","required":false,"type":"boolean"}]}"#;

fn bound(filter: &str) -> Result<Value, Error> {
    let schema = Schema::from_json(SCHEMA)?;
    let predicate = bind(&parse_json(filter)?, &schema, true)?;
    Ok(serde_json::from_str(&to_unbound_json(&predicate)).unwrap())
}

fn leaf(op: &str, term: &str, value: &str) -> String {
    format!(r#"{{"type":"{op}","term":"{term}","value":{value}}}"#)
}

#[track_caller]
fn assert_bound(filter: &str, expected: &str) {
    let expected: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(bound(filter).unwrap(), expected, "{filter}");
}

#[test]
fn parsed_json_is_written_back() {
    let text = r#"{"type":"or","left":{"type":"not","child":{"type":"in","term":"a.b","values":[1,"x"]}},"right":{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":"id"},"value":3}}"#;
    assert_eq!(to_json(&parse_json(text).unwrap()), text);
    assert_eq!(to_json(&parse_json(r#"{"type":"true"}"#).unwrap()), "true");
}

#[test]
fn malformed_json_is_refused() {
    for text in [
        "",
        "5",
        "null",
        "{}",
        r#"{"type":"and","left":true}"#,
        r#"{"type":"between","term":"x"}"#,
        r#"{"type":"eq","term":"id"}"#,
        r#"{"type":"in","term":"id","value":1}"#,
        r#"{"type":"eq","term":"id","value":null}"#,
        r#"{"type":"eq","term":5,"value":1}"#,
        r#"{"type":"eq","term":"id","value":[1]}"#,
    ] {
        assert!(matches!(parse_json(text), Err(Error::InvalidArgument { .. })), "{text}");
    }
    let deep = format!("{}true{}", r#"{"type":"not","child":"#.repeat(200), "}".repeat(200));
    let Err(Error::InvalidArgument { reason, .. }) = parse_json(&deep) else { panic!("too deep") };
    assert_eq!(reason, "the expression nests too deep; expected at most 127 levels");
}

#[test]
fn names_reach_through_structs() {
    assert_bound(&leaf("eq", "place.city", "\"x\""), &leaf("eq", "place.city", "\"x\""));
    let Err(Error::UnknownColumn { name, known }) = bound(&leaf("eq", "city", "1")) else {
        panic!("city alone is no column");
    };
    assert_eq!(name, "city");
    assert!(known.contains(&"place.city".to_owned()), "{known:?}");
    let message = |name: &str| bound(&leaf("eq", name, "1")).unwrap_err().to_string();
    assert_eq!(message("city"), "no column named city; did you mean place.city?");
    assert_eq!(message("Raito"), "no column named Raito; did you mean ratio?");
    assert_eq!(message("amount"), "no column named amount; did you mean Amount?");
    assert!(message("nothing.like.it").contains("the columns are id, Amount, place"));
    assert!(matches!(bound(&leaf("eq", "amount", "1")), Err(Error::UnknownColumn { .. })));
    let schema = Schema::from_json(SCHEMA).unwrap();
    let predicate = parse_json(&leaf("eq", "AMOUNT", "1")).unwrap();
    let bound = bind(&predicate, &schema, false).unwrap();
    assert_eq!(to_unbound_json(&bound), leaf("eq", "Amount", "\"1.00\""));
}

#[test]
fn fields_without_a_value_per_row_are_refused() {
    assert!(matches!(bound(&leaf("eq", "place", "1")), Err(Error::Unsupported { .. })));
    assert!(matches!(bound(&leaf("eq", "tags", "1")), Err(Error::Unsupported { .. })));
    let element = bound(&leaf("eq", "tags.element", "\"a\""));
    assert!(matches!(element, Err(Error::InvalidArgument { .. })), "{element:?}");
}

#[test]
fn whole_structs_and_lists_compare_with_null_only() {
    for column in ["place", "tags"] {
        for op in ["is-null", "not-null"] {
            let text = format!(r#"{{"type":"{op}","term":"{column}"}}"#);
            let expected: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(bound(&text).unwrap(), expected);
        }
        for op in ["is-nan", "not-nan"] {
            let found = bound(&format!(r#"{{"type":"{op}","term":"{column}"}}"#));
            assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
        }
    }
}

fn of(op: &str, transform: &str, term: &str, value: &str) -> String {
    let term = format!(r#"{{"type":"transform","transform":"{transform}","term":"{term}"}}"#);
    format!(r#"{{"type":"{op}","term":{term},"value":{value}}}"#)
}

#[test]
fn transform_terms_bind_literals_of_the_result_type() {
    for (transform, term, value, expected) in [
        ("bucket[16]", "id", "3", "3"),
        ("BUCKET[16]", "key", "3.0", "3"),
        ("truncate[3]", "place.city", "\"abc\"", "\"abc\""),
        ("truncate[10]", "Amount", "1", "\"1.00\""),
        ("year", "at", "56", "56"),
        ("year", "at", "\"2026\"", "56"),
        ("month", "day", "\"1969-12\"", "-1"),
        ("day", "at_utc", "\"2026-01-31\"", "\"2026-01-31\""),
        ("hour", "at", "\"1970-01-02-03\"", "27"),
    ] {
        let written = transform.to_lowercase();
        assert_bound(&of("eq", transform, term, value), &of("eq", &written, term, expected));
    }
    assert_bound(
        &of("starts-with", "truncate[3]", "place.city", "\"a\""),
        &of("starts-with", "truncate[3]", "place.city", "\"a\""),
    );
    // No result is greater, and null is none.
    assert_bound(
        &of("lt", "bucket[4]", "code", "99999999999"),
        r#"{"type":"not-null","term":"code"}"#,
    );
}

#[test]
fn identity_void_and_null_preserving_terms_fold() {
    assert_bound(&of("lt", "identity", "code", "5"), &leaf("lt", "code", "5"));
    assert_bound(&of("eq", "void", "code", "5"), "false");
    assert_bound(&of("not-eq", "void", "code", "5"), "false");
    let unary = |op: &str, transform: &str| {
        format!(
            r#"{{"type":"{op}","term":{{"type":"transform","transform":"{transform}","term":"code"}}}}"#
        )
    };
    assert_bound(&unary("is-null", "void"), "true");
    assert_bound(&unary("is-null", "bucket[4]"), r#"{"type":"is-null","term":"code"}"#);
    assert_bound(&unary("is-nan", "bucket[4]"), "false");
}

#[test]
fn invalid_transform_terms_are_refused() {
    for (filter, named) in [
        (of("eq", "bucket[4]", "ratio", "1"), "bucket[4](ratio)"),
        (of("eq", "hour", "day", "1"), "hour(day)"),
        (of("eq", "bucket[4]", "id", "\"x\""), "bucket[4](id)"),
        (of("eq", "month", "day", "\"2026-13\""), "month(day)"),
        (of("starts-with", "year", "day", "\"2\""), "year(day)"),
    ] {
        let Err(Error::InvalidArgument { argument, .. }) = bound(&filter) else {
            panic!("{filter} binds");
        };
        assert!(argument.contains(named), "{argument}");
    }
    assert!(bound(&of("eq", "bucket[0]", "id", "1")).is_err());
    let unknown = bound(&of("eq", "zorder[2]", "id", "1"));
    assert!(matches!(unknown, Err(Error::Unsupported { .. })), "{unknown:?}");
    let absent = bound(&of("eq", "bucket[4]", "nowhere", "1"));
    assert!(matches!(absent, Err(Error::UnknownColumn { .. })), "{absent:?}");
}

#[test]
fn names_that_differ_in_case_alone_are_ambiguous_where_it_does_not_count() {
    let schema = SCHEMA.replace("\"name\":\"flag\"", "\"name\":\"ID\"");
    let schema = Schema::from_json(&schema).unwrap();
    let predicate = parse_json(&leaf("eq", "id", "1")).unwrap();
    assert!(bind(&predicate, &schema, true).is_ok());
    let Err(Error::InvalidArgument { argument, reason }) = bind(&predicate, &schema, false) else {
        panic!("it may be either");
    };
    assert!(argument.contains("id") && reason.contains("id, ID"), "{argument}: {reason}");
}

#[test]
fn literals_become_values_of_the_type() {
    for (term, value, expected) in [
        ("id", "5", "5"),
        ("id", "5.0", "5"),
        ("id", "\"5\"", "5"),
        ("id", "\"5e1\"", "50"),
        ("Amount", "14", "\"14.00\""),
        ("Amount", "14.2", "\"14.20\""),
        ("Amount", "\"-0.050\"", "\"-0.05\""),
        ("day", "\"2026-01-31\"", "\"2026-01-31\""),
        ("day", "0", "\"1970-01-01\""),
        ("at", "\"2026-01-31 01:02\"", "\"2026-01-31T01:02:00\""),
        ("at", "\"2026-01-31\"", "\"2026-01-31T00:00:00\""),
        ("at_utc", "\"2026-01-31T01:02:03-08:00\"", "\"2026-01-31T09:02:03+00:00\""),
        ("ratio", "0.5", "0.5"),
        ("ratio", "\"Infinity\"", "\"Infinity\""),
        ("wide", "-0.0", "0.0"),
        ("key", "\"F79C3E09677C4BBDA479349CB785E7F3\"", "\"f79c3e09-677c-4bbd-a479-349cb785e7f3\""),
        ("raw", "\"00FF\"", "\"00ff\""),
        ("flag", "true", "true"),
    ] {
        let expected = single_text(expected);
        let found = bound(&leaf("eq", term, value)).unwrap();
        assert_eq!(text_of(&found["value"]), expected, "{term} = {value}");
    }
}

/// Times may be written with or without a fraction.
fn text_of(value: &Value) -> String {
    value.to_string().replace(".000000", "")
}

fn single_text(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap().to_string()
}

#[test]
fn literals_of_another_kind_are_refused_with_column_literal_and_type() {
    for (term, value) in [
        ("id", "\"abc\""),
        ("id", "true"),
        ("Amount", "\"1,5\""),
        ("day", "\"2026-02-30\""),
        ("day", "\"yesterday\""),
        ("at", "\"2026-01-31T00:00:00Z\""),
        ("at_utc", "\"2026-01-31\""),
        ("ratio", "\"NaN\""),
        ("wide", "\"nan\""),
        ("key", "\"f79c\""),
        ("raw", "\"0\""),
        ("place.city", "5"),
        ("flag", "1"),
    ] {
        for filter in [
            leaf("lt", term, value),
            format!(r#"{{"type":"in","term":"{term}","values":[{value}]}}"#),
        ] {
            let Err(Error::InvalidArgument { argument, reason }) = bound(&filter) else {
                panic!("{filter} binds");
            };
            assert!(argument.contains(term), "{argument}");
            assert!(reason.contains(value), "{reason}");
        }
    }
    assert!(matches!(
        bound(&leaf("starts-with", "id", "\"1\"")),
        Err(Error::InvalidArgument { .. })
    ));
}

#[test]
fn out_of_range_literals_fold() {
    let big = "99999999999";
    assert_bound(&leaf("lt", "id", big), "true");
    assert_bound(&leaf("gt", "id", big), "false");
    assert_bound(&leaf("eq", "id", big), "false");
    assert_bound(&leaf("not-eq", "id", big), "true");
    assert_bound(&leaf("gt", "id", "-1e300"), "true");
    // A null is less than nothing.
    assert_bound(&leaf("lt", "code", big), r#"{"type":"not-null","term":"code"}"#);
    assert_bound(&leaf("gt-eq", "code", "-1e300"), r#"{"type":"not-null","term":"code"}"#);
    assert_bound(
        r#"{"type":"in","term":"code","values":[1,99999999999]}"#,
        &leaf("eq", "code", "1"),
    );
    assert_bound(&leaf("lt", "ratio", "1e300"), &leaf("lt-eq", "ratio", "3.4028234663852886e38"));
    assert_bound(&leaf("gt", "ratio", "1e300"), &leaf("gt", "ratio", "3.4028234663852886e38"));
}

#[test]
fn literals_between_two_values_move_to_the_lower_one() {
    assert_bound(&leaf("lt", "id", "5.5"), &leaf("lt-eq", "id", "5"));
    assert_bound(&leaf("gt-eq", "id", "-5.5"), &leaf("gt", "id", "-6"));
    assert_bound(&leaf("eq", "id", "5.5"), "false");
    assert_bound(&leaf("not-eq", "id", "5.5"), "true");
    assert_bound(&leaf("gt", "Amount", "\"1.005\""), &leaf("gt", "Amount", "\"1.00\""));
    assert_bound(
        &leaf("lt", "day", "\"2026-01-31T12:00:00\""),
        &leaf("lt-eq", "day", "\"2026-01-31\""),
    );
}

#[test]
fn null_questions_of_required_columns_fold() {
    let unary = |op: &str, term: &str| format!(r#"{{"type":"{op}","term":"{term}"}}"#);
    assert_bound(&unary("is-null", "id"), "false");
    assert_bound(&unary("not-null", "id"), "true");
    // Its struct may be null.
    assert_bound(&unary("is-null", "place.city"), &unary("is-null", "place.city"));
    assert_bound(&unary("is-nan", "id"), "false");
    assert_bound(&unary("not-nan", "id"), "true");
    assert_bound(&unary("is-nan", "ratio"), &unary("is-nan", "ratio"));
}

#[test]
fn sets_are_sorted_without_duplicates() {
    let set =
        |op: &str, values: &str| format!(r#"{{"type":"{op}","term":"code","values":[{values}]}}"#);
    assert_bound(&set("in", "3,1,3,2"), &set("in", "1,2,3"));
    assert_bound(&set("in", "3,3"), &leaf("eq", "code", "3"));
    assert_bound(&set("not-in", "3,3"), &leaf("not-eq", "code", "3"));
    assert_bound(&set("in", ""), "false");
    assert_bound(&set("not-in", ""), "true");
}

#[test]
fn not_moves_to_the_leaves_before_they_fold() {
    let not = |child: &str| format!(r#"{{"type":"not","child":{child}}}"#);
    let not_null = r#"{"type":"not-null","term":"code"}"#;
    let big = "99999999999";
    assert_bound(&not(&leaf("lt", "code", "5")), &leaf("gt-eq", "code", "5"));
    // Unknown for null, and so is its negation.
    assert_bound(&leaf("eq", "code", big), "false");
    assert_bound(&not(&leaf("eq", "code", big)), not_null);
    assert_bound(&not(&leaf("gt", "code", big)), not_null);
    assert_bound(&not(&not(&leaf("not-eq", "code", big))), not_null);
    assert_bound(&not(&leaf("lt", "code", big)), "false");
    assert_bound(&not(&of("eq", "void", "code", "5")), "false");
}

#[test]
fn negation_of_an_impossible_literal_is_true_for_non_null_values() {
    let not_null = r#"{"type":"not-null","term":"code"}"#;
    let set = |values: &str| format!(r#"{{"type":"not-in","term":"code","values":[{values}]}}"#);
    assert_bound(&leaf("not-eq", "code", "99999999999"), not_null);
    assert_bound(&leaf("not-eq", "code", "5.5"), not_null);
    assert_bound(&set("5.5,99999999999"), not_null);
    assert_bound(&set("5,99999999999"), &leaf("not-eq", "code", "5"));
}

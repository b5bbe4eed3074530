//! The vectors that the Rust and the Python tests share.

use icefloe_format::spec::{Datum, PrimitiveType, single_value};
use serde_json::Value;

/// The cases of `tests/vectors/<name>.json`.
pub(crate) fn cases(name: &str) -> Vec<Value> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    let path = format!("{directory}/{name}.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub(crate) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_else(|| panic!("{key} is not text in {case}"))
}

pub(crate) fn type_of(case: &Value, key: &str) -> PrimitiveType {
    text(case, key).parse().unwrap()
}

pub(crate) fn datum(value_type: &PrimitiveType, value: &Value) -> Option<Datum> {
    if value.is_null() {
        return None;
    }
    Some(single_value::from_json(value_type, value).unwrap())
}

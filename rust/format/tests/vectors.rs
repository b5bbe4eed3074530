//! The vectors that the Rust and the Python tests share.

use icefloe_format::spec::{Datum, PrimitiveType, single_value};
use serde_json::Value;

/// Return the cases of `tests/vectors/<name>.json`, then the cases of the reference.
pub(crate) fn cases(name: &str) -> Vec<Value> {
    let own = read(name);
    let reference = read(&format!("reference/{name}"));
    assert!(own.is_some() || reference.is_some(), "no vectors are called {name}");
    own.into_iter().chain(reference).flatten().collect()
}

fn read(name: &str) -> Option<Vec<Value>> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    let path = format!("{directory}/{name}.json");
    let text = std::fs::read_to_string(&path).ok()?;
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}")))
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

/// Fails with every case that differs, so that one run shows all.
pub(crate) fn assert_all_hold(differences: &[String]) {
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// The difference between the result and the expectation of a case.
pub(crate) fn difference<T: std::fmt::Debug + PartialEq>(
    found: &T,
    expected: &T,
    case: &Value,
) -> Option<String> {
    (found != expected).then(|| format!("{case}: found {found:?}"))
}

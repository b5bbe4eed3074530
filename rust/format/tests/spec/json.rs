use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};
use icefloe_format::{Error, Result};
use serde_json::Value;

use crate::vectors::{assert_all_hold, cases, difference};

/// Documents are read and written as the reference does, but for those whose `read` says whether
/// they are read.
fn check(name: &str, parse: fn(&Value) -> Result<Value>) {
    let held = cases(name).into_iter().filter(|case| case["read"] != "either");
    let differences = held.filter_map(|case| {
        let read = case["read"].as_bool();
        match parse(&case["json"]) {
            Ok(_) if read == Some(true) => None,
            Ok(written) if read.is_none() => difference(&written, &case["written"], &case),
            Err(
                Error::InvalidArgument { .. } | Error::Corrupt { .. } | Error::Unsupported { .. },
            ) if read.map_or(case["written"].is_null(), |read| !read) => None,
            other => Some(format!("{case}: {other:?}")),
        }
    });
    assert_all_hold(&differences.collect::<Vec<_>>());
}

#[test]
fn schema_json_matches_the_vectors() {
    check("schema_json", |json| Ok(Schema::from_value(json)?.to_value()));
}

#[test]
fn partition_spec_json_matches_the_vectors() {
    check("partition_spec_json", |json| Ok(PartitionSpec::from_value(json)?.to_value()));
}

#[test]
fn sort_order_json_matches_the_vectors() {
    check("sort_order_json", |json| Ok(SortOrder::from_value(json)?.to_value()));
}

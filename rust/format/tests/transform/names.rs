use icefloe_format::spec::Transform;

use crate::vectors::{cases, text};

#[test]
fn transform_names_parse_in_any_case_and_unknown_names_are_preserved() {
    for case in cases("transform_name") {
        let parsed = text(&case, "text").parse::<Transform>();
        if case["valid"] == false {
            assert!(parsed.is_err(), "{case}: {parsed:?}");
        } else {
            assert_eq!(parsed.unwrap().to_string(), text(&case, "name"), "{case}");
        }
    }
}

#[test]
fn parameters_out_of_range_name_the_argument() {
    for (made, argument) in [
        (Transform::bucket(0), "num_buckets"),
        (Transform::bucket(i64::from(i32::MAX) + 1), "num_buckets"),
        (Transform::truncate(-1), "width"),
    ] {
        assert!(made.unwrap_err().to_string().starts_with(argument));
    }
    assert_eq!(Transform::bucket(16).unwrap().to_string(), "bucket[16]");
}

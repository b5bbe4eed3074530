use icefloe_format::spec::sanitize_name;

use crate::vectors::{cases, text};

#[test]
fn test_names_are_sanitized_as_the_vectors_say() {
    for case in cases("name") {
        assert_eq!(sanitize_name(text(&case, "name")), text(&case, "sanitized"));
    }
}

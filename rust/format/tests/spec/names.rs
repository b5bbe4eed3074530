use icefloe_format::spec::sanitize_name;

use crate::vectors::{assert_all_hold, cases, difference, text};

#[test]
fn sanitized_names_match_the_vectors() {
    let differences = cases("name").into_iter().filter_map(|case| {
        difference(&&*sanitize_name(text(&case, "name")), &text(&case, "sanitized"), &case)
    });
    assert_all_hold(&differences.collect::<Vec<_>>());
}

use std::cmp::Ordering;

use icefloe_format::spec::Datum;

use crate::vectors::{cases, datum, type_of};

#[test]
fn value_order_matches_the_vectors() {
    for case in cases("order") {
        let value_type = type_of(&case, "type");
        let listed = case["ascending"].as_array().unwrap();
        let values: Vec<Datum> =
            listed.iter().map(|value| datum(&value_type, value).unwrap()).collect();
        for (at, left) in values.iter().enumerate() {
            for (other, right) in values.iter().enumerate() {
                let expected = at.cmp(&other);
                assert_eq!(left.compare(right), Some(expected), "{left:?} {right:?}");
                assert_eq!(right.compare(left), Some(expected.reverse()), "{right:?} {left:?}");
            }
        }
        assert!(values.iter().all(|value| value.compare(value) == Some(Ordering::Equal)));
    }
}

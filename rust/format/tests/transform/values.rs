use icefloe_format::Error;
use icefloe_format::spec::{Datum, PrimitiveType, Transform};
use proptest::prelude::*;
use serde_json::json;

use crate::strategies::column;
use crate::vectors::{assert_all_hold, cases, datum, difference, text, type_of};

#[test]
fn transform_results_match_the_vectors() {
    let mut differences = Vec::new();
    for case in cases("transform") {
        let transform: Transform = text(&case, "transform").parse().unwrap();
        let source = type_of(&case, "type");
        assert_eq!(transform.can_transform(&source), case["valid"] != false, "{case}");
        if case["valid"] == false {
            assert!(transform.result_type(&source).is_err(), "{case}");
            continue;
        }
        let result = type_of(&case, "result_type");
        assert_eq!(transform.result_type(&source).unwrap(), result, "{case}");
        differences.extend(case["cases"].as_array().unwrap().iter().filter_map(|pair| {
            let value = datum(&source, &pair[0])?;
            let found = transform.apply(&value).unwrap();
            let named = json!({"transform": case["transform"], "type": case["type"], "pair": pair});
            difference(&found, &datum(&result, &pair[1]), &named)
        }));
    }
    assert_all_hold(&differences);
}

#[test]
fn transform_result_text_matches_the_vectors() {
    let differences = cases("human").into_iter().filter_map(|case| {
        let transform: Transform = text(&case, "transform").parse().unwrap();
        let value = datum(&type_of(&case, "result_type"), &case["value"]);
        let shown = transform.human_string(&type_of(&case, "type"), value.as_ref());
        difference(&shown.as_str(), &text(&case, "text"), &case)
    });
    assert_all_hold(&differences.collect::<Vec<_>>());
}

#[test]
fn unsupported_source_types_of_transforms_are_refused() {
    use PrimitiveType as P;
    for (transform, source, value) in [
        ("bucket[4]", P::Double, Datum::Double(1.0)),
        ("bucket[4]", P::Boolean, Datum::Boolean(true)),
        ("truncate[4]", P::Date, Datum::Date(1)),
        ("truncate[4]", P::Uuid, Datum::Uuid([0; 16])),
        ("hour", P::Date, Datum::Date(1)),
        ("year", P::Long, Datum::Long(1)),
        ("day", P::Time, Datum::Time(1)),
    ] {
        let transform: Transform = transform.parse().unwrap();
        let array = value.to_array().unwrap();
        assert!(!transform.can_transform(&source));
        assert!(transform.result_type(&source).is_err());
        for refused in [
            transform.apply(&value).map(|_| ()),
            transform.apply_array(&array, &source).map(|_| ()),
        ] {
            assert!(matches!(refused, Err(Error::InvalidArgument { .. })), "{transform} {source}");
        }
    }
}

#[test]
fn unknown_transform_is_preserved_but_not_applied() {
    let transform: Transform = "zorder[2]".parse().unwrap();
    let value = Datum::Int(1);
    assert_eq!(transform.result_type(&PrimitiveType::Int).unwrap(), PrimitiveType::String);
    assert!(matches!(transform.apply(&value), Err(Error::Unsupported { .. })));
    let array = value.to_array().unwrap();
    let applied = transform.apply_array(&array, &PrimitiveType::Int);
    assert!(matches!(applied, Err(Error::Unsupported { .. })));
}

proptest! {
    #[test]
    fn buckets_are_in_range((_, values) in column(), count in 1_i64..=i64::from(i32::MAX)) {
        let transform = Transform::bucket(count).unwrap();
        for value in values.iter().flatten().filter(|v| transform.can_transform(&v.primitive_type())) {
            let Some(Datum::Int(bucket)) = transform.apply(value).unwrap() else { panic!("{value:?}") };
            prop_assert!((0..count).contains(&i64::from(bucket)));
        }
    }

    #[test]
    fn order_preserving_transforms_preserve_order(
        a in any::<i64>(), b in any::<i64>(), width in 1_i64..1_000_000,
    ) {
        let (low, high) = (a.min(b), a.max(b));
        for transform in [Transform::Year, Transform::Month, Transform::Day, Transform::Hour] {
            prop_assert!(transform.preserves_order());
            let of = |micros| transform.apply(&Datum::Timestamp(micros)).unwrap().unwrap();
            prop_assert!(of(low).compare(&of(high)).unwrap().is_le());
        }
        let truncate = Transform::truncate(width).unwrap();
        if low > i64::MIN + width {
            let of = |value| truncate.apply(&Datum::Long(value)).unwrap().unwrap().as_long().unwrap();
            prop_assert!(of(low) <= of(high));
            prop_assert!(of(low) <= low && low - of(low) < width && of(low) % width == 0);
        }
    }

    #[test]
    fn truncated_text_is_a_prefix_of_width_characters(text in ".{0,20}", width in 1_i64..24) {
        let truncate = Transform::truncate(width).unwrap();
        let expected: String = text.chars().take(usize::try_from(width).unwrap()).collect();
        let result = truncate.apply(&Datum::String(text)).unwrap();
        prop_assert_eq!(result, Some(Datum::String(expected)));
    }
}

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Date64Array, TimestampSecondArray};
use arrow_schema::DataType;
use icefloe_format::Error;
use icefloe_format::spec::{
    Datum, PrimitiveType, Transform, canonical_array, datums_to_array, primitive_to_arrow,
};
use proptest::prelude::*;

use super::layouts::{layouts, promoted, threefold};
use crate::strategies::column;

fn transforms(parameter: i64) -> Vec<Transform> {
    let mut all =
        vec![Transform::bucket(parameter).unwrap(), Transform::truncate(parameter).unwrap()];
    all.extend([Transform::Identity, Transform::Void, Transform::Year, Transform::Month]);
    all.extend([Transform::Day, Transform::Hour]);
    all
}

fn assert_array_is_values(
    transform: &Transform,
    source: &PrimitiveType,
    array: &ArrayRef,
    values: &[Option<Datum>],
) {
    let result_type = transform.result_type(source).unwrap();
    let results = transform.apply_array(array, source).unwrap();
    assert_eq!(results.len(), values.len());
    for (row, value) in values.iter().enumerate() {
        let expected = value.as_ref().and_then(|value| transform.apply(value).unwrap());
        let found = Datum::from_array(&results, row, &result_type).unwrap();
        assert_eq!(found, expected, "{transform} of {value:?} in {}", array.data_type());
    }
}

proptest! {
    #[test]
    fn array_results_equal_the_results_of_single_values(
        (source, values) in column(), parameter in prop_oneof![1_i64..20, 1..=i64::from(i32::MAX)],
        start in 0_usize..20,
    ) {
        let array = datums_to_array(&source, &values).unwrap();
        let start = start.min(values.len());
        for layout in layouts(&array) {
            let slice = layout.slice(start, values.len() - start);
            for transform in transforms(parameter).iter().filter(|t| t.can_transform(&source)) {
                assert_array_is_values(transform, &source, &layout, &values);
                assert_array_is_values(transform, &source, &slice, &values[start..]);
            }
        }
    }
}

proptest! {
    #[test]
    fn run_end_encoded_results_equal_the_results_of_single_values(
        (source, values) in column(), parameter in 1_i64..20, start in 0_usize..60, length in 0_usize..60,
    ) {
        let runs = threefold(&datums_to_array(&source, &values).unwrap());
        let expected: Vec<_> =
            values.iter().flat_map(|value| std::iter::repeat_n(value.clone(), 3)).collect();
        let start = start.min(runs.len());
        let length = length.min(runs.len() - start);
        for transform in transforms(parameter).iter().filter(|t| t.can_transform(&source)) {
            let slice = runs.slice(start, length);
            assert_array_is_values(transform, &source, &slice, &expected[start..start + length]);
        }
    }
}

#[test]
fn promoted_array_results_equal_the_results_of_single_values() {
    for (array, source) in promoted() {
        let values: Vec<_> =
            (0..array.len()).map(|row| Datum::from_array(&array, row, &source).unwrap()).collect();
        for layout in layouts(&array) {
            for transform in transforms(7).iter().filter(|t| t.can_transform(&source)) {
                assert_array_is_values(transform, &source, &layout, &values);
                let untyped = transform.apply_untyped(&layout).unwrap();
                assert_eq!(untyped.len(), layout.len(), "{transform} of {}", layout.data_type());
            }
        }
    }
}

#[test]
fn values_outside_the_type_are_refused_not_null() {
    let far = TimestampSecondArray::from(vec![i64::MAX / 1_000]);
    let within_a_day = Date64Array::from(vec![86_400_000, 1]);
    let beyond_dates = Date64Array::from(vec![i64::MAX / 86_400_000 * 86_400_000]);
    for (array, source) in [
        (&far as &dyn Array, PrimitiveType::Timestamp),
        (&within_a_day, PrimitiveType::Date),
        (&beyond_dates, PrimitiveType::Date),
    ] {
        let refused = Transform::bucket(4).unwrap().apply_array(array, &source);
        assert!(matches!(refused, Err(Error::InvalidArgument { .. })), "{source}: {refused:?}");
        assert!(canonical_array(array, &source).is_err());
    }
}

#[test]
fn untyped_truncation_keeps_the_layout_of_strings() {
    let values = [Some(Datum::String("a longer text \u{1f600}".into())), None];
    let array = datums_to_array(&PrimitiveType::String, &values).unwrap();
    for layout in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        let array = arrow_cast::cast(&array, &layout).unwrap();
        let truncated = Transform::truncate(15).unwrap().apply_untyped(&array).unwrap();
        assert_eq!(*truncated.data_type(), layout);
        let typed = Transform::truncate(15).unwrap().apply_array(&array, &PrimitiveType::String);
        assert_eq!(typed.unwrap().as_string::<i32>().value(0), "a longer text \u{1f600}");
    }
}

#[test]
fn strings_of_all_lengths_are_transformed_block_by_block() {
    let text = |row: usize| {
        "abcdefghijklmnopqrstuvwxyz\u{e9}\u{1f600}".repeat(2).chars().take(row).collect()
    };
    let short = (0..1_500).map(|row| (row % 7 != 0).then(|| Datum::String(text(row * 31 % 17))));
    let longer = (0..1_500).map(|row| (row % 5 != 0).then(|| Datum::String(text(row * 31 % 57))));
    let values: Vec<_> = short.chain(longer).collect();
    let array = datums_to_array(&PrimitiveType::String, &values).unwrap();
    for layout in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        let array = arrow_cast::cast(&array, &layout).unwrap();
        for (start, length) in [(0, 3_000), (1, 2_998), (700, 1_600), (2_999, 1)] {
            let (slice, values) = (array.slice(start, length), &values[start..start + length]);
            for transform in
                transforms(20).iter().filter(|t| t.can_transform(&PrimitiveType::String))
            {
                assert_array_is_values(transform, &PrimitiveType::String, &slice, values);
            }
        }
    }
}

#[test]
fn long_arrays_are_transformed_block_by_block() {
    // A block of values that all fit in 64 bits, one with a wider value, and the rest of a third.
    let decimal = |unscaled| Datum::Decimal { unscaled, precision: 38, scale: 0 };
    let mut values: Vec<_> =
        (0..5_000_i128).map(|n| Some(decimal((n - 2_500) * n * 977))).collect();
    values[3_000] = Some(decimal(-i128::from(i64::MAX) * 1_000));
    values[3_001] = None;
    let source = PrimitiveType::Decimal { precision: 38, scale: 0 };
    let array = datums_to_array(&source, &values).unwrap();
    for transform in [Transform::bucket(1_000).unwrap(), Transform::truncate(99).unwrap()] {
        assert_array_is_values(&transform, &source, &array, &values);
    }
    let days: Vec<_> = (0..5_000).map(|n| Some(Datum::Date(n * 13 - 20_000))).collect();
    let mut far = days.clone();
    far[3_000] = Some(Datum::Date(i32::MIN));
    for values in [days, far] {
        let array = datums_to_array(&PrimitiveType::Date, &values).unwrap();
        for transform in [Transform::Year, Transform::Month] {
            assert_array_is_values(&transform, &PrimitiveType::Date, &array, &values);
        }
    }
}

#[test]
fn results_have_the_layout_of_the_result_type() {
    let source = PrimitiveType::Timestamptz;
    let array = datums_to_array(&source, &[Some(Datum::Timestamptz(-1)), None]).unwrap();
    for transform in transforms(4).iter().filter(|transform| transform.can_transform(&source)) {
        let expected = primitive_to_arrow(&transform.result_type(&source).unwrap());
        let results = transform.apply_array(&array, &source).unwrap();
        assert_eq!(*results.data_type(), expected, "{transform}");
        assert!(results.is_null(1));
    }
}

#[test]
fn truncation_without_effect_copies_nothing() {
    let values = [Some(Datum::String("abc".into())), None];
    let array = datums_to_array(&PrimitiveType::String, &values).unwrap();
    let result =
        Transform::truncate(3).unwrap().apply_array(&array, &PrimitiveType::String).unwrap();
    assert!(result.to_data().ptr_eq(&array.to_data()));
}

#[test]
fn empty_array_has_an_empty_result() {
    let array = datums_to_array(&PrimitiveType::String, &[]).unwrap();
    for transform in [Transform::bucket(4).unwrap(), Transform::truncate(4).unwrap()] {
        assert_eq!(transform.apply_array(&array, &PrimitiveType::String).unwrap().len(), 0);
    }
}

#[test]
fn array_of_another_type_is_refused_with_the_type_name() {
    let array = Datum::Double(1.0).to_array().unwrap();
    let bucket = Transform::bucket(4).unwrap();
    let message = bucket.apply_untyped(&array).unwrap_err().to_string();
    assert_eq!(message, "array: bucket[4] does not apply to values of type double");
    assert!(bucket.apply_array(&array, &PrimitiveType::Long).is_err());
}

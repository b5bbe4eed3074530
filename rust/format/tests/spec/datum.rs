use std::cmp::Ordering;
use std::collections::HashSet;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use icefloe_format::Error;
use icefloe_format::spec::{Datum, PrimitiveType, canonical_array, datums_to_array};
use proptest::prelude::*;

use crate::strategies::column;

#[test]
fn float_order_matches_the_spec() {
    let ascending = [-f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
    for pair in ascending.windows(2) {
        let (low, high) = (Datum::Double(pair[0]), Datum::Double(pair[1]));
        assert_eq!(low.compare(&high), Some(Ordering::Less), "{low:?} {high:?}");
    }
}

#[test]
fn datums_compare_across_widths_but_not_across_kinds() {
    assert_eq!(Datum::Int(5).compare(&Datum::Long(6)), Some(Ordering::Less));
    assert_eq!(Datum::Double(0.5).compare(&Datum::Float(0.5)), Some(Ordering::Equal));
    let decimal = |precision, scale| Datum::Decimal { unscaled: 7, precision, scale };
    assert_eq!(decimal(9, 2).compare(&decimal(12, 2)), Some(Ordering::Equal));
    assert_eq!(decimal(9, 2).compare(&decimal(9, 3)), None);
    assert_eq!(Datum::Timestamp(1).compare(&Datum::Timestamptz(1)), None);
    assert_eq!(Datum::Int(1).compare(&Datum::Date(1)), None);
}

#[test]
fn strings_are_ordered_by_code_point() {
    // In UTF-16 the first of U+1F600 comes before U+FFFF.
    let (low, high) = (Datum::String("\u{ffff}".into()), Datum::String("\u{1f600}".into()));
    assert_eq!(low.compare(&high), Some(Ordering::Less));
}

#[test]
fn nan_partition_values_are_equal_as_keys_and_signed_zeros_are_not() {
    let keys = HashSet::from([Datum::Double(f64::NAN), Datum::Double(0.0), Datum::Int(1)]);
    assert!(keys.contains(&Datum::Double(-f64::NAN)));
    assert!(!keys.contains(&Datum::Double(-0.0)));
    assert!(!keys.contains(&Datum::Long(1)));
}

#[test]
fn arrays_with_lossy_conversions_are_refused() {
    let nanos =
        datums_to_array(&PrimitiveType::TimestampNs, &[Some(Datum::TimestampNs(1))]).unwrap();
    let long = datums_to_array(&PrimitiveType::Long, &[Some(Datum::Long(1))]).unwrap();
    for (array, wanted) in [
        (&nanos, PrimitiveType::Timestamp),
        (&long, PrimitiveType::Int),
        (&long, PrimitiveType::Double),
        (&long, PrimitiveType::String),
    ] {
        let found = canonical_array(array, &wanted);
        assert!(matches!(found, Err(Error::InvalidArgument { .. })), "{wanted}: {found:?}");
    }
}

#[test]
fn index_outside_the_array_is_refused() {
    let array = Datum::Int(1).to_array().unwrap();
    assert_eq!(Datum::from_array(&array, 0, &PrimitiveType::Int).unwrap(), Some(Datum::Int(1)));
    assert!(Datum::from_array(&array, 1, &PrimitiveType::Int).is_err());
}

#[test]
fn coarser_and_encoded_arrays_are_read() {
    let seconds = DataType::Timestamp(TimeUnit::Second, None);
    let array = arrow_cast::cast(&arrow_array::Int64Array::from(vec![1, 2]), &seconds).unwrap();
    let found = Datum::from_array(&array, 1, &PrimitiveType::Timestamp).unwrap();
    assert_eq!(found, Some(Datum::Timestamp(2_000_000)));
    let encoded: ArrayRef = std::sync::Arc::new(
        vec![Some("a"), None, Some("b")]
            .into_iter()
            .collect::<arrow_array::DictionaryArray<arrow_array::types::Int8Type>>(),
    );
    let found = Datum::from_array(&encoded, 2, &PrimitiveType::String).unwrap();
    assert_eq!(found, Some(Datum::String("b".into())));
    assert_eq!(Datum::from_array(&encoded, 1, &PrimitiveType::String).unwrap(), None);
}

/// The key of the order, by a rule of its own: the bits of floats, the code points of texts, the numbers
/// that UUIDs are.
fn by_rule(a: &Datum, b: &Datum) -> Ordering {
    let float_rank = |bits: i64| bits ^ ((bits >> 63) & i64::MAX);
    match (a, b) {
        (Datum::Double(a), Datum::Double(b)) => {
            float_rank(a.to_bits().cast_signed()).cmp(&float_rank(b.to_bits().cast_signed()))
        }
        (Datum::String(a), Datum::String(b)) => {
            a.chars().map(u32::from).cmp(b.chars().map(u32::from))
        }
        (Datum::Uuid(a), Datum::Uuid(b)) => u128::from_be_bytes(*a).cmp(&u128::from_be_bytes(*b)),
        (Datum::Binary(a), Datum::Binary(b)) | (Datum::Fixed(a), Datum::Fixed(b)) => {
            a.iter().map(|byte| u32::from(*byte)).cmp(b.iter().map(|byte| u32::from(*byte)))
        }
        _ => a.compare(b).unwrap(),
    }
}

proptest! {
    #[test]
    fn datum_order_is_total_and_matches_the_spec((_, values) in column()) {
        let mut values: Vec<_> = values.into_iter().flatten().collect();
        for (a, b) in values.iter().zip(values.iter().skip(1)) {
            prop_assert_eq!(a.compare(b).unwrap(), by_rule(a, b));
            prop_assert_eq!(a.compare(b).unwrap(), b.compare(a).unwrap().reverse());
        }
        values.sort_by(|a, b| a.compare(b).unwrap());
        prop_assert!(values.is_sorted_by(|a, b| a.compare(b).unwrap().is_le()));
    }

    #[test]
    fn datums_survive_arrays((value_type, values) in column()) {
        let array = datums_to_array(&value_type, &values).unwrap();
        prop_assert_eq!(array.len(), values.len());
        for (index, value) in values.iter().enumerate() {
            prop_assert_eq!(&Datum::from_array(&array, index, &value_type).unwrap(), value);
        }
    }
}

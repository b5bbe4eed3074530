//! Equality keys against a naive comparison.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array, StringArray,
    StringViewArray,
};
use arrow_buffer::BooleanBuffer;
use icefloe_format::Error;
use icefloe_format::delete::{EqualityKeys, KeyRange, KeyedColumns, deleted_rows};
use icefloe_format::spec::{Datum, PrimitiveType};
use proptest::prelude::*;

type Key = (Option<i64>, Option<String>);

fn columns(rows: &[Key]) -> Vec<ArrayRef> {
    let numbers: Int64Array = rows.iter().map(|(number, _)| *number).collect();
    let texts: StringArray = rows.iter().map(|(_, text)| text.as_deref()).collect();
    vec![Arc::new(numbers), Arc::new(texts)]
}

fn key() -> impl Strategy<Value = Key> {
    (prop::option::of(-3_i64..3), prop::option::of("[ab]{0,2}"))
}

/// The sources whose bit is set.
fn ranges(bits: impl IntoIterator<Item = bool>) -> Vec<Range<u32>> {
    let bits: BooleanBuffer = bits.into_iter().collect();
    bits.set_slices().map(|(start, end)| start as u32..end as u32).collect()
}

proptest! {
    #[test]
    fn deleted_rows_equal_a_key_with_null_equal_to_null(
        first in prop::collection::vec(key(), 0..8),
        second in prop::collection::vec(key(), 0..8),
        rows in prop::collection::vec(key(), 0..40),
    ) {
        let mut keys = EqualityKeys::new(&[PrimitiveType::Long, PrimitiveType::String]).unwrap();
        keys.insert(&columns(&first), 0).unwrap();
        keys.insert(&columns(&second), 1).unwrap();
        let distinct: std::collections::HashSet<&Key> = first.iter().chain(&second).collect();
        prop_assert_eq!(keys.len(), distinct.len());
        let deleted = keys.deleted(&columns(&rows)).unwrap();
        let older = keys.deleted_by(&columns(&rows), &ranges([true])).unwrap();
        let newer =
            keys.deleted_by(&columns(&rows), &ranges([false, true])).unwrap();
        for (row, key) in rows.iter().enumerate() {
            prop_assert_eq!(deleted.value(row), distinct.contains(key));
            prop_assert_eq!(older.value(row), first.contains(key));
            prop_assert_eq!(newer.value(row), second.contains(key));
        }
    }
}

#[test]
fn promoted_and_view_columns_meet_their_keys() {
    let mut keys = EqualityKeys::new(&[PrimitiveType::Long, PrimitiveType::String]).unwrap();
    keys.insert(&columns(&[(Some(7), Some("x".into()))]), 0).unwrap();
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![7, 8]));
    let view: ArrayRef = Arc::new(StringViewArray::from(vec!["x", "x"]));
    let deleted = keys.deleted(&[narrow, view]).unwrap();
    assert_eq!((deleted.value(0), deleted.value(1)), (true, false));
}

#[test]
fn positions_and_keys_make_one_mask() {
    let mut keys = EqualityKeys::new(&[PrimitiveType::Long]).unwrap();
    let key: ArrayRef = Arc::new(Int64Array::from(vec![Some(5)]));
    keys.insert(&[key], 0).unwrap();
    let positions = [7, 1000, 2000].into_iter().collect();
    let keyed = |values: Vec<i64>| {
        let columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(values))];
        [KeyedColumns { keys: &keys, sources: None, columns }]
    };
    let deleted = deleted_rows(1000..1003, Some(&positions), &keyed(vec![4, 5, 6])).unwrap();
    assert_eq!(deleted.unwrap().iter().collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(deleted_rows(10..12, Some(&positions), &keyed(vec![4, 6])).unwrap(), None);
    assert_eq!(deleted_rows(0..9, None, &[]).unwrap(), None);
    let short = deleted_rows(0..2, None, &keyed(vec![4]));
    assert!(matches!(short, Err(Error::InvalidArgument { .. })));
}

#[test]
fn key_of_several_delete_files_applies_if_one_of_them_does() {
    let mut keys = EqualityKeys::new(&[PrimitiveType::Int]).unwrap();
    let column = || -> [ArrayRef; 1] { [Arc::new(Int32Array::from(vec![1, 1]))] };
    for source in [0, 3, 4] {
        keys.insert(&column(), source).unwrap();
    }
    assert_eq!(keys.len(), 1);
    for (sources, expected) in [(0b00001, true), (0b10110, true), (0b01000, true), (0b00110, false)]
    {
        let bits: Vec<bool> = (0..5).map(|bit| sources >> bit & 1 == 1).collect();
        let deleted = keys.deleted_by(&column(), &ranges(bits)).unwrap();
        assert_eq!((deleted.value(0), deleted.value(1)), (expected, expected), "{sources:b}");
    }
}

#[test]
fn nan_equals_nan_and_the_zeros_differ() {
    let mut keys = EqualityKeys::new(&[PrimitiveType::Double]).unwrap();
    let other_nan = f64::from_bits(f64::NAN.to_bits() | 1 << 63 | 5);
    let key: ArrayRef = Arc::new(Float64Array::from(vec![Some(f64::NAN), Some(0.0)]));
    keys.insert(&[key], 0).unwrap();
    let rows: ArrayRef =
        Arc::new(Float64Array::from(vec![Some(other_nan), Some(-0.0), Some(0.0), None, Some(1.0)]));
    let deleted = keys.deleted(&[rows]).unwrap();
    assert_eq!(deleted.iter().collect::<Vec<_>>(), [true, false, true, false, false]);
    let narrow: ArrayRef = Arc::new(Float32Array::from(vec![f32::NAN, 0.0]));
    assert_eq!(keys.deleted(&[narrow]).unwrap().count_set_bits(), 2);
}

#[test]
fn ranges_enclose_the_keys() {
    let decimal = PrimitiveType::Decimal { precision: 9, scale: 2 };
    let types = [PrimitiveType::Int, PrimitiveType::String, decimal, PrimitiveType::Double];
    let mut keys = EqualityKeys::new(&types).unwrap();
    let decimals = Decimal128Array::from(vec![None, None, None]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(-5), None, Some(3)])),
        Arc::new(StringArray::from(vec!["b", "", "a much longer text"])),
        Arc::new(decimals.with_precision_and_scale(9, 2).unwrap()),
        Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0])),
    ];
    keys.insert(&columns, 0).unwrap();
    let text = |text: &str| Datum::String(text.to_owned());
    let values = [
        Some((Datum::Int(-5), Datum::Int(3))),
        Some((text(""), text("b"))),
        None,
        // The order of floats is not that of their bits, and NaN has no place in it.
        None,
    ];
    for ((range, values), (has_null, has_values)) in keys.ranges().into_iter().zip(values).zip([
        (true, true),
        (false, true),
        (true, false),
        (false, true),
    ]) {
        assert_eq!(range, KeyRange { has_null, has_values, values });
    }
}

#[test]
fn invalid_equality_fields_are_refused() {
    assert!(matches!(EqualityKeys::new(&[]), Err(Error::InvalidArgument { .. })));
    let mut keys = EqualityKeys::new(&[PrimitiveType::Long]).unwrap();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["5"]));
    assert!(matches!(keys.insert(&[text], 0), Err(Error::Mismatch { .. })));
    assert!(matches!(keys.insert(&[], 0), Err(Error::InvalidArgument { .. })));
}

proptest! {
    #[test]
    fn keys_of_sources_in_any_order_apply_by_the_bits_of_their_sources(
        sources in prop::collection::vec((0_u32..6, prop::collection::vec(0_i64..5, 0..6)), 0..6),
        bits in prop::collection::vec(any::<bool>(), 0..7),
        first in 0_usize..7,
    ) {
        let column = |values: Vec<i64>| -> [ArrayRef; 1] { [Arc::new(Int64Array::from(values))] };
        let mut keys = EqualityKeys::new(&[PrimitiveType::Long]).unwrap();
        for (source, values) in &sources {
            keys.insert(&column(values.clone()), *source).unwrap();
        }
        let newest: Vec<bool> = (0..6).map(|source| source >= first).collect();
        for bits in [bits, newest] {
            let deleted = keys.deleted_by(&column((0..5).collect()), &ranges(bits.clone())).unwrap();
            for value in 0..5 {
                let applies = |source: &u32| bits.get(*source as usize) == Some(&true);
                let expected = sources.iter().any(|(source, of)| applies(source) && of.contains(&value));
                prop_assert_eq!(deleted.value(usize::try_from(value).unwrap()), expected);
            }
        }
    }
}

/// Integers close to zero, in a wider range, and anywhere.
fn integer() -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        16 => (-5_i64..5).prop_map(Some),
        8 => (-9_000_i64..9_000).prop_map(Some),
        1 => any::<i64>().prop_map(Some),
        1 => prop::sample::select(vec![Some(i64::MIN), Some(i64::MAX), None]),
    ]
}

proptest! {
    #[test]
    fn integer_keys_apply_whether_they_are_close_together_or_not(
        batches in prop::collection::vec(prop::collection::vec(integer(), 0..20), 0..5),
        others in prop::collection::vec(integer(), 0..20),
        expected in prop::sample::select(vec![0_usize, 50, 1_000_000, usize::MAX]),
        first in 0_usize..5,
    ) {
        let column = |values: &[Option<i64>]| -> [ArrayRef; 1] { [Arc::new(Int64Array::from(values.to_vec()))] };
        let mut keys = EqualityKeys::new(&[PrimitiveType::Long]).unwrap();
        keys.expect(expected);
        for (source, values) in (0..).zip(&batches) {
            keys.insert(&column(values), source).unwrap();
        }
        let rows: Vec<_> = batches.iter().flatten().chain(&others).copied().collect();
        let distinct: std::collections::HashSet<_> = batches.iter().flatten().collect();
        prop_assert_eq!(keys.len(), distinct.len());
        let deleted = keys.deleted(&column(&rows)).unwrap();
        let newest: Vec<bool> = (0..5).map(|source| source >= first).collect();
        let by_newest = keys.deleted_by(&column(&rows), &ranges(newest)).unwrap();
        let one: Vec<bool> = (0..5).map(|source| source == first).collect();
        let by_one = keys.deleted_by(&column(&rows), &ranges(one)).unwrap();
        for (row, value) in rows.iter().enumerate() {
            prop_assert_eq!(deleted.value(row), distinct.contains(value));
            let newer = batches.iter().skip(first).any(|batch| batch.contains(value));
            prop_assert_eq!(by_newest.value(row), newer);
            let in_one = batches.get(first).is_some_and(|batch| batch.contains(value));
            prop_assert_eq!(by_one.value(row), in_one);
        }
    }
}

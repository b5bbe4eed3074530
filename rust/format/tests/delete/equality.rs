//! Equality keys against a naive comparison.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray, StringViewArray};
use icefloe_format::Error;
use icefloe_format::delete::{EqualityKeys, KeyedColumns, keep_mask};
use icefloe_format::spec::PrimitiveType;
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

proptest! {
    #[test]
    fn deleted_rows_equal_a_key_with_null_equal_to_null(
        first in prop::collection::vec(key(), 0..8),
        second in prop::collection::vec(key(), 0..8),
        rows in prop::collection::vec(key(), 0..40),
    ) {
        let mut keys = EqualityKeys::new(&[PrimitiveType::Long, PrimitiveType::String]).unwrap();
        keys.insert(&columns(&first)).unwrap();
        keys.insert(&columns(&second)).unwrap();
        let distinct: std::collections::HashSet<&Key> = first.iter().chain(&second).collect();
        prop_assert_eq!(keys.len(), distinct.len());
        let deleted = keys.deleted(&columns(&rows)).unwrap();
        for (row, key) in rows.iter().enumerate() {
            prop_assert_eq!(deleted.value(row), distinct.contains(key));
        }
    }
}

#[test]
fn promoted_and_view_columns_meet_their_keys() {
    let mut keys = EqualityKeys::new(&[PrimitiveType::Long, PrimitiveType::String]).unwrap();
    keys.insert(&columns(&[(Some(7), Some("x".into()))])).unwrap();
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![7, 8]));
    let view: ArrayRef = Arc::new(StringViewArray::from(vec!["x", "x"]));
    let deleted = keys.deleted(&[narrow, view]).unwrap();
    assert_eq!((deleted.value(0), deleted.value(1)), (true, false));
}

#[test]
fn positions_and_keys_make_one_mask() {
    let mut keys = EqualityKeys::new(&[PrimitiveType::Long]).unwrap();
    let key: ArrayRef = Arc::new(Int64Array::from(vec![Some(5)]));
    keys.insert(&[key]).unwrap();
    let column: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![4, 5, 6]))];
    let deleted = [1000].into_iter().collect();
    let positions = Int64Array::from(vec![1000, 1001, 1002]);
    let keyed = KeyedColumns { keys: &keys, columns: &column };
    let kept = keep_mask(&positions, Some(&deleted), &[keyed]).unwrap();
    assert_eq!(kept.iter().map(Option::unwrap).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn what_cannot_identify_a_row_is_refused() {
    for types in
        [vec![], vec![PrimitiveType::Double], vec![PrimitiveType::Long, PrimitiveType::Float]]
    {
        assert!(matches!(EqualityKeys::new(&types), Err(Error::InvalidArgument { .. })));
    }
    let mut keys = EqualityKeys::new(&[PrimitiveType::Long]).unwrap();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["5"]));
    assert!(matches!(keys.insert(&[text]), Err(Error::Mismatch { .. })));
    assert!(matches!(keys.insert(&[]), Err(Error::InvalidArgument { .. })));
}

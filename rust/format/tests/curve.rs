//! Space-filling curves: vectors, and properties of ranks and keys.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, StringArray};
use icefloe_format::curve::{Curve, CurveKeys, Ranks, hilbert_axes, interleave};
use proptest::prelude::*;

fn longs(values: &[Option<i64>]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

#[test]
fn bits_are_interleaved_from_the_first_axis() {
    assert_eq!(interleave(&[0b11, 0b00], 2), 0b1010);
    assert_eq!(interleave(&[0b00, 0b11], 2), 0b0101);
    assert_eq!(interleave(&[1, 0, 1], 1), 0b101);
    assert_eq!(interleave(&[u32::MAX; 4], 32), u128::MAX);
    assert_eq!(interleave(&[], 8), 0);
}

/// The curve of order 2, from (0, 0) to (3, 0).
#[test]
fn hilbert_curve_of_two_bits_is_the_known_one() {
    let expected = [
        (0, 0),
        (0, 1),
        (1, 1),
        (1, 0),
        (2, 0),
        (3, 0),
        (3, 1),
        (2, 1),
        (2, 2),
        (3, 2),
        (3, 3),
        (2, 3),
        (1, 3),
        (1, 2),
        (0, 2),
        (0, 3),
    ];
    let mut found: Vec<(u128, (u32, u32))> = vec![];
    for x in 0..4 {
        for y in 0..4 {
            found.push((position(&[x, y], 2), (x, y)));
        }
    }
    found.sort_unstable();
    let path: Vec<_> = found.iter().map(|(_, point)| *point).collect();
    let mirrored: Vec<_> = expected.iter().map(|(x, y)| (*y, *x)).collect();
    assert!(path == expected || path == mirrored, "{path:?}");
}

fn position(point: &[u32], bits: u32) -> u128 {
    let mut axes = point.to_vec();
    hilbert_axes(&mut axes, bits);
    interleave(&axes, bits)
}

#[test]
fn hilbert_neighbours_on_the_curve_are_neighbours_in_space() {
    for (dimensions, bits) in [(2_u32, 4_u32), (3, 3), (4, 2), (2, 1)] {
        let side = 1_u32 << bits;
        let count = side.pow(dimensions);
        let mut path: Vec<(u128, Vec<u32>)> = (0..count)
            .map(|number| {
                let point: Vec<u32> =
                    (0..dimensions).map(|axis| number / side.pow(axis) % side).collect();
                (position(&point, bits), point)
            })
            .collect();
        path.sort_unstable();
        for (index, pair) in path.windows(2).enumerate() {
            assert_eq!(pair[0].0, index as u128);
            let steps: u32 =
                pair[0].1.iter().zip(&pair[1].1).map(|(left, right)| left.abs_diff(*right)).sum();
            assert_eq!(steps, 1, "{dimensions} axes of {bits} bits: {pair:?}");
        }
    }
}

#[test]
fn null_has_a_rank_of_its_own() {
    let sample = longs(&[Some(i64::MIN), Some(5), None]);
    let ranks = Ranks::new(&sample, 8).unwrap();
    let values = longs(&[None, Some(i64::MIN), Some(4), Some(5), Some(6)]);
    assert_eq!(ranks.of(&values).unwrap(), [0, 2, 2, 3, 3]);
    assert_eq!(ranks.bits(), 2);
}

#[test]
fn empty_sample_has_one_rank_for_values() {
    let ranks = Ranks::new(&longs(&[]), 8).unwrap();
    assert_eq!(ranks.of(&longs(&[None, Some(7)])).unwrap(), [0, 1]);
}

#[test]
fn long_texts_of_one_prefix_are_ranked() {
    let texts: Vec<String> = (0..9).map(|number| format!("https://example.org/{number}")).collect();
    let column: ArrayRef = Arc::new(StringArray::from(texts));
    let ranks = Ranks::new(&column, 8).unwrap();
    assert_eq!(ranks.of(&column).unwrap(), (2..11).collect::<Vec<_>>());
}

#[test]
fn column_of_another_type_is_refused() {
    let ranks = Ranks::new(&longs(&[Some(1)]), 8).unwrap();
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let error = ranks.of(&texts).unwrap_err();
    assert_eq!(error.to_string(), "column curve: the data does not fit; expected Int64, got Utf8");
}

#[test]
fn number_of_columns_is_checked() {
    assert!(CurveKeys::new(Curve::ZOrder, &[]).is_err());
    assert!(CurveKeys::new(Curve::ZOrder, &vec![longs(&[]); 17]).is_err());
    let keys = CurveKeys::new(Curve::ZOrder, &[longs(&[])]).unwrap();
    assert!(keys.keys(&[]).is_err());
    assert!("spiral".parse::<Curve>().is_err());
}

#[test]
fn column_of_few_values_decides_upper_bits() {
    let many: Vec<_> = (0..1000).map(Some).collect();
    let few: Vec<_> = (0..1000).map(|row| Some(row % 2)).collect();
    let columns = [longs(&many), longs(&few)];
    let keys = CurveKeys::new(Curve::ZOrder, &columns).unwrap().keys(&columns).unwrap();
    let lowest = (0..500).map(|row| keys[row * 2]).filter(|key| *key < keys[999]).count();
    assert!(lowest > 400);
    let distinct: HashSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), 1000);
}

proptest! {
    #[test]
    fn keys_of_one_column_order_as_its_values(
        values in prop::collection::vec(prop::option::of(any::<i64>()), 1..200),
        hilbert in any::<bool>(),
    ) {
        let column = longs(&values);
        let curve = if hilbert { Curve::Hilbert } else { Curve::ZOrder };
        let curve = CurveKeys::new(curve, std::slice::from_ref(&column)).unwrap();
        let keys = curve.keys(std::slice::from_ref(&column)).unwrap();
        for left in 0..values.len() {
            for right in 0..values.len() {
                if values[left] == values[right] {
                    prop_assert_eq!(keys[left], keys[right]);
                } else if values[left] < values[right] {
                    prop_assert!(keys[left] < keys[right]);
                }
            }
        }
    }

    #[test]
    fn bytes_order_as_keys(
        left in prop::collection::vec(any::<i64>(), 2..50),
        right in prop::collection::vec(any::<i64>(), 50),
    ) {
        let rows = left.len();
        let columns: [ArrayRef; 2] = [
            Arc::new(Int64Array::from(left)),
            Arc::new(Int64Array::from(right[..rows].to_vec())),
        ];
        let curve = CurveKeys::new(Curve::Hilbert, &columns).unwrap();
        let keys = curve.keys(&columns).unwrap();
        let bytes = curve.column(&columns).unwrap();
        prop_assert_eq!(bytes.len(), rows);
        for row in 1..rows {
            prop_assert_eq!(keys[row - 1].cmp(&keys[row]), bytes.value(row - 1).cmp(bytes.value(row)));
        }
    }

    #[test]
    fn hilbert_positions_are_distinct(points in prop::collection::hash_set((0_u32..256, 0_u32..256, 0_u32..256), 1..200)) {
        let positions: HashSet<u128> =
            points.iter().map(|(x, y, z)| position(&[*x, *y, *z], 8)).collect();
        prop_assert_eq!(positions.len(), points.len());
    }
}

//! Net changes, from memory and from a temporary file.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use icefloe_engine::changes::{ChangePairs, NetChanges};

const ROWS: usize = 900;

/// The net changes of two parts that each delete and insert all rows: every seventh row gets another text.
fn net_changes(budget: usize) -> NetChanges {
    let mut pairs = ChangePairs::new(true, budget);
    for part in 0..2 {
        pairs.begin_part();
        for deleted in [true, false] {
            let mut ids: Vec<i64> = (0..ROWS as i64).collect();
            if !deleted {
                ids.reverse();
            }
            for ids in ids.chunks(100) {
                let texts = ids.iter().map(|id| match (id % 7, deleted) {
                    (0, true) => format!("before {part}"),
                    (0, false) => format!("after {part}"),
                    _ => "stays".to_owned(),
                });
                let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
                let ids: ArrayRef = Arc::new(Int64Array::from(
                    ids.iter().map(|id| id + part * 10_000).collect::<Vec<_>>(),
                ));
                let keys = [ArrayRef::clone(&ids)];
                let rows = RecordBatch::try_from_iter([("id", ids), ("text", texts)]).unwrap();
                pairs.add(&rows, &keys, deleted, None).unwrap();
            }
        }
    }
    pairs.cancel().unwrap()
}

#[test]
fn changes_from_memory_and_from_a_file_are_equal() {
    let (held, spilled) = (net_changes(usize::MAX), net_changes(4_000));
    for first in (0..4 * ROWS).step_by(60) {
        let (held, spilled) = (held.rows(first, 60).unwrap(), spilled.rows(first, 60).unwrap());
        assert_eq!(held.remaining, spilled.remaining);
        assert_eq!(held.halves, spilled.halves);
        assert_eq!(held.parts, spilled.parts);
        assert_eq!(held.remaining.true_count(), held.halves.len());
        assert_eq!(held.halves.true_count(), held.halves.len());
        let part = i32::from(first >= 2 * ROWS);
        assert!(held.parts.values().iter().all(|reported| *reported == part));
    }
    assert_eq!(held.count(0, 4 * ROWS).unwrap(), 4 * ROWS.div_ceil(7));
    assert!(held.rows(4 * ROWS, 1).is_err());
}

#[test]
fn equal_rows_are_reported_as_part_of_the_first() {
    let mut pairs = ChangePairs::new(false, 0);
    for ids in [[1, 2], [2, 3]] {
        pairs.begin_part();
        let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
        pairs.add(&RecordBatch::try_from_iter([("id", ids)]).unwrap(), &[], false, None).unwrap();
    }
    let nine =
        RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![9])) as ArrayRef)]);
    pairs.add(&nine.unwrap(), &[], false, Some(&vec![false].into())).unwrap();
    let net = pairs.cancel().unwrap().rows(0, 5).unwrap();
    assert_eq!(net.remaining.values().iter().collect::<Vec<_>>(), [true, true, true, true, false]);
    assert_eq!(net.parts.values(), &[0, 0, 0, 1]);
}

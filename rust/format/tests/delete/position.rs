//! Position sets, row runs and masks.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use icefloe_format::Error;
use icefloe_format::delete::{PositionDeletes, deleted_positions, row_runs};
use proptest::prelude::*;

fn batch(rows: &[(&str, i64)]) -> RecordBatch {
    let paths: StringArray = rows.iter().map(|(path, _)| Some(*path)).collect();
    let positions: Int64Array = rows.iter().map(|(_, position)| Some(*position)).collect();
    columns(Arc::new(paths), Arc::new(positions))
}

fn columns(paths: ArrayRef, positions: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter(vec![("file_path", paths), ("pos", positions)]).unwrap()
}

fn positions(deletes: &PositionDeletes, path: &str) -> Vec<u64> {
    deletes.positions(path).map(|set| set.iter().collect()).unwrap_or_default()
}

#[test]
fn positions_are_gathered_by_exact_path_in_any_order() {
    let mut deletes = PositionDeletes::default();
    deletes.insert_batch(&batch(&[("a", 5), ("a", 1), ("b", 7), ("a", 1)]), None).unwrap();
    deletes.insert_batch(&batch(&[("file:/a", 9), ("b", 2)]), None).unwrap();
    assert_eq!(positions(&deletes, "a"), [1, 5]);
    assert_eq!(positions(&deletes, "b"), [2, 7]);
    assert_eq!(positions(&deletes, "file:///a"), [] as [u64; 0]);
    assert_eq!(deletes.count("file:/a"), 1);
}

#[test]
fn positions_of_other_files_are_skipped() {
    let mut deletes = PositionDeletes::default();
    let wanted = HashSet::from(["b".to_owned()]);
    deletes.insert_batch(&batch(&[("a", 5), ("b", 7)]), Some(&wanted)).unwrap();
    assert_eq!(deletes.paths().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn merged_sets_are_unions() {
    let mut left = PositionDeletes::default();
    left.insert_slice("a", &[1, 2]).unwrap();
    let mut right = PositionDeletes::default();
    right.insert_slice("a", &[2, 3]).unwrap();
    right.insert_slice("b", &[0]).unwrap();
    left.merge(right);
    assert_eq!(positions(&left, "a"), [1, 2, 3]);
    assert_eq!(positions(&left, "b"), [0]);
}

#[test]
fn dictionary_of_paths_is_read() {
    let paths: DictionaryArray<arrow_array::types::Int32Type> =
        ["a", "a", "b"].into_iter().collect();
    let batch = columns(Arc::new(paths), Arc::new(Int64Array::from(vec![3, 4, 5])));
    let mut deletes = PositionDeletes::default();
    deletes.insert_batch(&batch, None).unwrap();
    assert_eq!(positions(&deletes, "a"), [3, 4]);
}

#[test]
fn bad_rows_are_corrupt() {
    let mut deletes = PositionDeletes::default();
    let text = || -> ArrayRef { Arc::new(StringArray::from(vec!["a"])) };
    let number = || -> ArrayRef { Arc::new(Int64Array::from(vec![1])) };
    for bad in [
        batch(&[("a", -1)]),
        columns(text(), Arc::new(Int64Array::from(vec![None]))),
        columns(Arc::new(StringArray::from(vec![None::<&str>])), number()),
        columns(text(), text()),
        RecordBatch::try_from_iter(vec![("file_path", text())]).unwrap(),
    ] {
        assert!(matches!(deletes.insert_batch(&bad, None), Err(Error::Corrupt { .. })), "{bad:?}");
    }
}

proptest! {
    #[test]
    fn runs_and_masks_are_those_of_a_plain_set(
        deleted in prop::collection::vec(0_u64..60, 0..80), start in 0_u64..30, count in 0_u64..40,
        // The words, containers and bitmaps of a set of positions begin there.
        base in prop::sample::select(vec![0_u64, 65_536 - 30, (1 << 32) - 30, 1 << 40]),
        others in any::<bool>(),
    ) {
        let (deleted, start): (Vec<u64>, u64) =
            (deleted.into_iter().map(|position| base + position).collect(), base + start);
        let mut deletes = PositionDeletes::default();
        let signed: Vec<i64> = deleted.iter().map(|p| i64::try_from(*p).unwrap()).collect();
        deletes.insert_slice("a", &signed).unwrap();
        let plain: BTreeSet<u64> = deleted.into_iter().collect();
        let mut set = deletes.positions("a").cloned().unwrap_or_default();
        let mut is_deleted: Vec<bool> = (start..start + count).map(|p| plain.contains(&p)).collect();
        if others {
            // All rows but these, as in a read of a few rows: containers of runs.
            let mut rest = roaring::RoaringTreemap::new();
            rest.insert_range(base..base + 70_000);
            set = rest - set;
            is_deleted.iter_mut().for_each(|one| *one = !*one);
        }
        let set = &set;
        let runs = row_runs(set, start, count);
        let mut rows = Vec::new();
        for pair in runs.windows(2) {
            prop_assert_ne!(pair[0].deleted, pair[1].deleted);
        }
        for run in &runs {
            prop_assert!(run.row_count > 0);
            rows.extend(std::iter::repeat_n(run.deleted, usize::try_from(run.row_count).unwrap()));
        }
        prop_assert_eq!(&rows, &is_deleted);
        let bits = deleted_positions(set, start..start + count);
        prop_assert_eq!(bits.iter().collect::<Vec<_>>(), is_deleted);
    }
}

#[test]
fn runs_cover_the_smallest_and_largest_positions() {
    let mut deletes = PositionDeletes::default();
    deletes.insert_slice("a", &[i64::MAX]).unwrap();
    let runs = row_runs(deletes.positions("a").unwrap(), 0, u64::MAX);
    assert_eq!(runs.iter().map(|run| run.row_count).sum::<u64>(), u64::MAX);
}

//! Net changes, from memory and from a temporary file, and plans of changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use icefloe_engine::changes::{ChangePairs, NetChanges};
use icefloe_engine::plan::{PlanChanges, changes};
use icefloe_format::delete::{DeleteRuns, delete_runs};

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

/// A plan: each file with rows of the delete files, and the delete files.
struct Plan {
    files: Vec<(String, Vec<(u32, u32)>)>,
    deletes: Vec<String>,
}

impl Plan {
    fn batches(&self) -> (RecordBatch, RecordBatch) {
        let texts = |texts: &mut dyn Iterator<Item = &String>| {
            Arc::new(StringArray::from_iter_values(texts)) as ArrayRef
        };
        let mut runs = DeleteRuns::default();
        for (_, of_file) in &self.files {
            runs.push(&mut of_file.clone()).unwrap();
        }
        let paths = texts(&mut self.files.iter().map(|(path, _)| path));
        let runs: ArrayRef = Arc::new(runs.into_array().unwrap());
        let files = RecordBatch::try_from_iter([("file_path", paths), ("deletes", runs)]);
        let deletes = [("file_path", texts(&mut self.deletes.iter()))];
        (files.unwrap(), RecordBatch::try_from_iter(deletes).unwrap())
    }

    /// The delete files of each file.
    fn names(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let names = |runs: &[(u32, u32)]| {
            let rows = runs.iter().flat_map(|(first, count)| *first..first + count);
            rows.map(|row| self.deletes[row as usize].as_str()).collect()
        };
        self.files.iter().map(|(path, runs)| (path.as_str(), names(runs))).collect()
    }
}

fn compared(before: &Plan, after: &Plan) -> PlanChanges {
    let (before, after) = (before.batches(), after.batches());
    changes((&before.0, &before.1), (&after.0, &after.1)).unwrap()
}

type Tasks<'a> = BTreeMap<&'a str, (BTreeSet<&'a str>, Option<BTreeSet<&'a str>>)>;

/// The tasks of a batch: the delete files of each path, and the delete files that mark rows.
fn tasks<'a>(files: &'a RecordBatch, deletes: &'a RecordBatch) -> Tasks<'a> {
    let deletes = deletes["file_path"].as_string::<i32>();
    let names = |column: &str, row: usize| {
        let runs = delete_runs(files[column].as_list::<i32>(), row);
        assert!(runs.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0), "{runs:?}");
        let rows = runs.into_iter().flat_map(|(first, count)| first..first + count);
        rows.map(|row| deletes.value(row as usize)).collect::<BTreeSet<_>>()
    };
    let of_row = |(row, path): (usize, Option<&'a str>)| {
        let marks = files["marks"].is_valid(row).then(|| names("marks", row));
        (path.unwrap(), (names("deletes", row), marks))
    };
    files["file_path"].as_string::<i32>().iter().enumerate().map(of_row).collect()
}

/// The rows that `own` has and `other` lacks, from sets of names.
fn expected<'a>(own: &'a Plan, other: &'a Plan) -> Tasks<'a> {
    let others = other.names();
    let tasks = own.names().into_iter().map(|(path, own)| {
        let marks = others.get(path).map(|others| others.difference(&own).copied().collect());
        (path, (own, marks))
    });
    tasks
        .filter(|(_, (_, marks))| marks.as_ref().is_none_or(|it: &BTreeSet<_>| !it.is_empty()))
        .collect()
}

#[test]
fn plans_of_changes_equal_those_of_sets() {
    let mut state = 7_u64;
    let mut below = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for _ in 0..500 {
        let mut plan = || {
            let mut deletes: Vec<String> = (0..12).map(|number| format!("d{number}")).collect();
            for last in (1..deletes.len()).rev() {
                // Most delete files stay in order.
                if below(3) == 0 {
                    deletes.swap(last, below(last as u64 + 1) as usize);
                }
            }
            deletes.retain(|_| below(4) > 0);
            let mut files = Vec::new();
            for file in 0..6 {
                let rows = (0..deletes.len() as u32).filter(|_| below(3) > 0);
                let runs = rows.map(|row| (row, 1)).collect();
                if below(5) > 0 {
                    files.push((format!("f{file}"), runs));
                }
            }
            Plan { files, deletes }
        };
        let (before, after) = (plan(), plan());
        let found = compared(&before, &after);
        assert_eq!(tasks(&found.inserted, &found.deletes), expected(&after, &before));
        assert_eq!(tasks(&found.deleted, &found.deletes), expected(&before, &after));
    }
}

#[test]
fn plans_of_changes_have_few_runs_however_many_delete_files_apply_to_a_file() {
    const FILES: u32 = 2_000;
    // A delete file applies to all older files: the first file has all of them.
    let plan = |deletes: u32| Plan {
        files: (0..FILES).map(|file| (format!("f{file}"), vec![(file, deletes - file)])).collect(),
        deletes: (0..deletes).map(|number| format!("d{number}")).collect(),
    };
    let found = compared(&plan(FILES), &plan(FILES + 3));
    assert_eq!((found.inserted.num_rows(), found.deleted.num_rows()), (0, FILES as usize));
    for column in ["deletes", "marks"] {
        let runs = found.deleted[column].as_list::<i32>();
        assert_eq!(runs.values().len(), FILES as usize);
        assert!((0..FILES as usize).all(|row| delete_runs(runs, row).len() == 1));
    }
    let marks = found.deleted["marks"].as_list::<i32>();
    assert_eq!(delete_runs(marks, 0), [(2 * FILES as i32, 3)]);
}

#[test]
fn plans_of_changes_refuse_delete_files_that_are_not_in_the_plan() {
    let plan = |count: u32| Plan {
        files: vec![("f".into(), vec![(1, count)])],
        deletes: vec!["d0".into(), "d1".into()],
    };
    let (good, bad) = (plan(1).batches(), plan(2).batches());
    for (before, after) in [(&good, &bad), (&bad, &good)] {
        let found = changes((&before.0, &before.1), (&after.0, &after.1));
        let text = found.unwrap_err().to_string();
        assert!(text.contains("expected the column deletes of a plan"), "{text}");
    }
}

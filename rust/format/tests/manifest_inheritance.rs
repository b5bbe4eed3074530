//! The values that entries inherit from the manifest list: every combination of a row of the specification's
//! table with what the entry says itself.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use icefloe_format::Error;
use icefloe_format::manifest::{ADDED, DELETED, EXISTING, Inheritance, ManifestColumns, inherit};
use icefloe_format::spec::StructType;

/// The outcome for a null sequence number of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Null {
    Becomes(i64),
    Stays,
    /// It stays null in the file's number; for the data sequence number it is corruption.
    Refused,
}

/// Status, the manifest's sequence number (none while it is being committed), a null's fate.
const RULES: [(i32, Option<i64>, Null); 12] = [
    (ADDED, None, Null::Stays),
    (ADDED, Some(0), Null::Becomes(0)),
    (ADDED, Some(1), Null::Becomes(1)),
    (ADDED, Some(i64::MAX), Null::Becomes(i64::MAX)),
    (EXISTING, None, Null::Refused),
    (EXISTING, Some(0), Null::Becomes(0)),
    (EXISTING, Some(1), Null::Refused),
    (EXISTING, Some(i64::MAX), Null::Refused),
    (DELETED, None, Null::Stays),
    (DELETED, Some(0), Null::Becomes(0)),
    (DELETED, Some(1), Null::Stays),
    (DELETED, Some(i64::MAX), Null::Stays),
];

type Numbers = (Option<i64>, Option<i64>, Option<i64>);

fn entries(rows: &[(i32, Numbers)]) -> ManifestColumns {
    let long = |of: fn(&Numbers) -> Option<i64>| -> ArrayRef {
        Arc::new(rows.iter().map(|(_, numbers)| of(numbers)).collect::<Int64Array>())
    };
    let int = |of: fn(i32) -> i32| -> ArrayRef {
        Arc::new(rows.iter().map(|(status, _)| of(*status)).collect::<Int32Array>())
    };
    let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text; rows.len()])) };
    let ones: ArrayRef = Arc::new(Int64Array::from(vec![1; rows.len()]));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("status", int(|status| status), false),
        ("snapshot_id", long(|numbers| numbers.0), true),
        ("sequence_number", long(|numbers| numbers.1), true),
        ("file_sequence_number", long(|numbers| numbers.2), true),
        ("content", int(|_| 0), false),
        ("file_path", text("f"), false),
        ("file_format", text("PARQUET"), false),
        ("spec_id", int(|_| 0), false),
        ("partition", text("[]"), false),
        ("record_count", Arc::clone(&ones), false),
        ("file_size_in_bytes", ones, false),
    ])
    .unwrap();
    ManifestColumns::from_batch(&batch, &StructType::default()).unwrap()
}

fn numbers(columns: &ManifestColumns) -> Vec<Numbers> {
    let read = |name: &str| columns.longs(name).unwrap().iter().collect::<Vec<_>>();
    let (ids, data, files) =
        (read("snapshot_id"), read("sequence_number"), read("file_sequence_number"));
    ids.into_iter().zip(data).zip(files).map(|((id, data), file)| (id, data, file)).collect()
}

fn or_inherited(own: Option<i64>, null: Null) -> Option<i64> {
    match null {
        Null::Becomes(number) => own.or(Some(number)),
        Null::Stays | Null::Refused => own,
    }
}

#[test]
fn inheritance_matches_the_table_for_every_combination() {
    let own = [None, Some(0), Some(7)];
    let combinations = || {
        let pairs = own.iter().flat_map(|id| own.iter().map(move |data| (*id, *data)));
        pairs.flat_map(|(id, data)| own.iter().map(move |file| (id, data, *file)))
    };
    for (status, sequence_number, null) in RULES {
        for added_snapshot_id in [None, Some(42)] {
            let from = Inheritance { added_snapshot_id, sequence_number };
            for (id, data, file) in combinations() {
                let found = inherit(entries(&[(status, (id, data, file))]), from);
                if null == Null::Refused && data.is_none() {
                    assert!(matches!(found, Err(Error::Corrupt { .. })), "{status} {from:?}");
                    continue;
                }
                let expected =
                    (id.or(added_snapshot_id), or_inherited(data, null), or_inherited(file, null));
                assert_eq!(numbers(&found.unwrap()), [expected], "{status} {from:?} {id:?}");
            }
        }
    }
}

#[test]
fn entries_of_one_manifest_inherit_each_by_its_own_status() {
    let rows = [
        (EXISTING, (Some(3), Some(2), Some(1))),
        (ADDED, (None, None, None)),
        (DELETED, (None, None, None)),
        (ADDED, (Some(4), Some(3), None)),
    ];
    let from = Inheritance { added_snapshot_id: Some(9), sequence_number: Some(6) };
    let inherited = inherit(entries(&rows), from).unwrap();
    assert_eq!(
        numbers(&inherited),
        [
            (Some(3), Some(2), Some(1)),
            (Some(9), Some(6), Some(6)),
            (Some(9), None, None),
            (Some(4), Some(3), Some(6)),
        ]
    );
}

#[test]
fn nothing_else_of_an_entry_changes() {
    let rows = [(ADDED, (None, None, None)), (DELETED, (Some(1), Some(1), Some(1)))];
    let from = Inheritance { added_snapshot_id: Some(9), sequence_number: Some(6) };
    let (before, after) = (entries(&rows), inherit(entries(&rows), from).unwrap());
    let numbered = ["snapshot_id", "sequence_number", "file_sequence_number"];
    for field in before.entries.schema().fields() {
        if !numbered.contains(&field.name().as_str()) {
            let column = before.column(field.name()).unwrap();
            assert_eq!(column, after.column(field.name()).unwrap(), "{}", field.name());
        }
    }
    let again = inherit(after.clone(), from).unwrap();
    assert_eq!(again.entries, after.entries);
    assert_eq!(before.statuses().unwrap().len(), 2);
}

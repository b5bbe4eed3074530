//! Pairing of delete files with data files.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames,
};
use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use icefloe_format::Error;
use icefloe_format::delete::{DeleteIndex, TableFacts, delete_runs};
use icefloe_format::spec::PrimitiveType;
use proptest::prelude::*;

use crate::vectors::cases;

const PATH_ID: i32 = 2_147_483_546;

/// Field id, lower, upper.
pub(crate) type FieldBounds = (i32, Vec<u8>, Vec<u8>);

/// Spec 0 is unpartitioned; field 1 is a long, field 2 a uuid.
struct Table;

impl TableFacts for Table {
    fn is_unpartitioned(&self, spec_id: i32) -> bool {
        spec_id == 0
    }

    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)> {
        match field_id {
            1 => Some((PrimitiveType::Long, false)),
            2 => Some((PrimitiveType::Uuid, false)),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    pub(crate) content: i32,
    pub(crate) path: String,
    pub(crate) format: &'static str,
    pub(crate) spec_id: i32,
    pub(crate) partition: String,
    pub(crate) sequence_number: i64,
    pub(crate) equality_ids: Vec<i32>,
    pub(crate) referenced: Option<String>,
    pub(crate) bounds: Vec<FieldBounds>,
    /// Field id, values, nulls.
    pub(crate) counts: Vec<(i32, i64, i64)>,
}

fn file(content: i32, sequence_number: i64) -> File {
    File {
        content,
        path: format!("d{content}-{sequence_number}"),
        format: "PARQUET",
        partition: "[]".into(),
        sequence_number,
        equality_ids: if content == 2 { vec![1] } else { Vec::new() },
        ..File::default()
    }
}

fn data(path: &str, spec_id: i32, partition: &str, sequence_number: i64) -> File {
    File { path: path.into(), spec_id, partition: partition.into(), ..file(0, sequence_number) }
}

fn map_names() -> Option<MapFieldNames> {
    Some(MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() })
}

fn bytes_map(files: &[File], of: fn(&FieldBounds) -> &Vec<u8>) -> ArrayRef {
    let mut map = MapBuilder::new(map_names(), Int32Builder::new(), BinaryBuilder::new());
    for file in files {
        for bound in &file.bounds {
            map.keys().append_value(bound.0);
            map.values().append_value(of(bound));
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn counts_map(files: &[File], of: fn(&(i32, i64, i64)) -> i64) -> ArrayRef {
    let mut map = MapBuilder::new(map_names(), Int32Builder::new(), Int64Builder::new());
    for file in files {
        for counts in &file.counts {
            map.keys().append_value(counts.0);
            map.values().append_value(of(counts));
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

pub(crate) fn batch(files: &[File]) -> RecordBatch {
    let text = |of: fn(&File) -> &str| -> ArrayRef {
        Arc::new(files.iter().map(|file| Some(of(file))).collect::<StringArray>())
    };
    let int = |of: fn(&File) -> i32| -> ArrayRef {
        Arc::new(files.iter().map(|file| Some(of(file))).collect::<Int32Array>())
    };
    let mut ids = ListBuilder::new(Int32Builder::new());
    for file in files {
        ids.append_option(
            (file.content == 2).then(|| file.equality_ids.iter().map(|id| Some(*id))),
        );
    }
    let referenced: StringArray = files.iter().map(|file| file.referenced.as_deref()).collect();
    let sequences: Int64Array = files.iter().map(|file| Some(file.sequence_number)).collect();
    RecordBatch::try_from_iter_with_nullable(vec![
        ("sequence_number", Arc::new(sequences) as ArrayRef, true),
        ("content", int(|file| file.content), true),
        ("file_path", text(|file| &file.path), true),
        ("file_format", text(|file| file.format), true),
        ("spec_id", int(|file| file.spec_id), true),
        ("partition", text(|file| &file.partition), true),
        ("value_counts", counts_map(files, |counts| counts.1), true),
        ("null_value_counts", counts_map(files, |counts| counts.2), true),
        ("lower_bounds", bytes_map(files, |bound| &bound.1), true),
        ("upper_bounds", bytes_map(files, |bound| &bound.2), true),
        ("equality_ids", Arc::new(ids.finish()), true),
        ("referenced_data_file", Arc::new(referenced), true),
    ])
    .unwrap()
}

fn pairs(deletes: &[File], data: &[File]) -> Vec<Vec<i32>> {
    let index = DeleteIndex::new(&batch(deletes), &Table).unwrap();
    applying(&index, &batch(data))
}

/// The rows of the deletes batch that apply to each data file, ascending.
pub(crate) fn applying(index: &DeleteIndex, data: &RecordBatch) -> Vec<Vec<i32>> {
    let lists = index.applying(data).unwrap().into_array().unwrap();
    let rows = |file: usize| {
        let runs = delete_runs(&lists, file);
        let apart = runs.windows(2).all(|pair| pair[0].0 + pair[0].1 < pair[1].0);
        assert!(apart, "runs ascend and do not touch: {runs:?}");
        let places = runs.into_iter().flat_map(|(first, count)| first..first + count);
        let row = |place: i32| index.order()[usize::try_from(place).unwrap()];
        let mut rows: Vec<i32> = places.map(|place| i32::try_from(row(place)).unwrap()).collect();
        rows.sort_unstable();
        rows
    };
    (0..data.num_rows()).map(rows).collect()
}

#[test]
fn sequence_numbers_decide_as_in_the_vectors() {
    let names = ["E@4", "E@6", "P@5", "P@6"];
    let deletes = [file(2, 4), file(2, 6), file(1, 5), file(1, 6)];
    for case in cases("delete_applicability") {
        let spec_id = i32::try_from(case["spec_id"].as_i64().unwrap()).unwrap();
        let partition = if spec_id == 0 { "[]" } else { "[3]" };
        let file = data("x", spec_id, partition, case["sequence_number"].as_i64().unwrap());
        let found: Vec<&str> = pairs(&deletes, &[file])[0]
            .iter()
            .map(|row| names[usize::try_from(*row).unwrap()])
            .collect();
        let expected: Vec<&str> =
            case["deletes"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn delete_of_one_file_applies_to_no_other() {
    let named = File { referenced: Some("a".into()), ..file(1, 5) };
    let bounded = File { bounds: vec![(PATH_ID, b"b".to_vec(), b"b".to_vec())], ..file(1, 5) };
    let ranged = File { bounds: vec![(PATH_ID, b"a".to_vec(), b"b".to_vec())], ..file(1, 5) };
    let found = pairs(
        &[named, bounded, ranged],
        &[
            data("a", 0, "[]", 1),
            data("b", 0, "[]", 1),
            data("c", 0, "[]", 1),
            data("a", 0, "[]", 6),
        ],
    );
    assert_eq!(found, [vec![0, 2], vec![1, 2], vec![2], vec![]]);
}

#[test]
fn partitioned_delete_applies_to_its_spec_and_tuple() {
    let deletes = [
        File { spec_id: 1, partition: "[1]".into(), ..file(1, 5) },
        File { spec_id: 1, partition: "[1]".into(), ..file(2, 5) },
    ];
    let found = pairs(
        &deletes,
        &[
            data("a", 1, "[1]", 1),
            data("b", 1, "[2]", 1),
            data("c", 2, "[1]", 1),
            data("d", 1, "[1]", 5),
        ],
    );
    assert_eq!(found, [vec![0, 1], vec![], vec![], vec![0]]);
}

#[test]
fn equality_deletes_are_pruned_where_statistics_part_them() {
    let long = |value: i64| value.to_le_bytes().to_vec();
    let range = |low, high, nulls| File {
        bounds: vec![(1, long(low), long(high))],
        counts: vec![(1, 10, nulls)],
        ..file(2, 5)
    };
    let deletes = [range(0, 9, 0), range(10, 19, 0), range(10, 19, 1), file(2, 5)];
    let with = |low, high, nulls| File {
        bounds: vec![(1, long(low), long(high))],
        counts: vec![(1, 10, nulls)],
        ..data("a", 0, "[]", 1)
    };
    let all_null = File { counts: vec![(1, 10, 10)], ..data("n", 0, "[]", 1) };
    let found = pairs(
        &deletes,
        &[
            with(5, 6, 0),
            with(9, 10, 0),
            with(20, 30, 0),
            with(20, 30, 1),
            all_null,
            data("u", 0, "[]", 1),
        ],
    );
    assert_eq!(
        found,
        [vec![0, 3], vec![0, 1, 2, 3], vec![3], vec![2, 3], vec![2, 3], vec![0, 1, 2, 3],]
    );
}

#[test]
fn uuid_bounds_and_unknown_fields_do_not_part_files() {
    let bounds = |first: u8| vec![(2, vec![first; 16], vec![first; 16])];
    let deletes = [
        File { equality_ids: vec![2], bounds: bounds(1), ..file(2, 5) },
        File { equality_ids: vec![99], ..file(2, 5) },
    ];
    let found = pairs(&deletes, &[File { bounds: bounds(9), ..data("a", 0, "[]", 1) }]);
    assert_eq!(found, [vec![0, 1]]);
}

#[test]
fn invalid_delete_files_are_refused() {
    let vector = File { format: "PUFFIN", ..file(1, 5) };
    let found = DeleteIndex::new(&batch(&[vector]), &Table);
    assert!(matches!(found, Err(Error::Unsupported { .. })));
    let found = DeleteIndex::new(&batch(&[file(0, 5)]), &Table);
    assert!(matches!(found, Err(Error::InvalidArgument { .. })));
}

fn any_file(contents: std::ops::Range<i32>) -> impl Strategy<Value = File> {
    (contents, 0_i32..3, 0_usize..2, 1_i64..6, 0_usize..3, any::<bool>()).prop_map(
        |(content, spec_id, tuple, sequence, path, scoped)| File {
            content,
            spec_id,
            partition: if spec_id == 0 { "[]".into() } else { format!("[{tuple}]") },
            path: format!("f{path}"),
            referenced: (content == 1 && scoped).then(|| format!("f{path}")),
            ..file(content, sequence)
        },
    )
}

proptest! {
    #[test]
    fn pairs_equal_a_pairwise_comparison(
        deletes in prop::collection::vec(any_file(1..3), 0..12),
        files in prop::collection::vec(any_file(0..1), 0..12),
    ) {
        let found = pairs(&deletes, &files);
        for (file, found) in files.iter().zip(found) {
            let same_partition = |delete: &File| {
                delete.spec_id == file.spec_id && delete.partition == file.partition
            };
            let applies = |delete: &File| match (delete.content, &delete.referenced) {
                (1, Some(path)) => *path == file.path && file.sequence_number <= delete.sequence_number,
                (1, None) => same_partition(delete) && file.sequence_number <= delete.sequence_number,
                _ => {
                    (delete.spec_id == 0 || same_partition(delete))
                        && file.sequence_number < delete.sequence_number
                }
            };
            let expected: BTreeSet<i32> =
                deletes.iter().zip(0..).filter(|(delete, _)| applies(delete)).map(|(_, n)| n).collect();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}

/// Lower and upper bound and nulls of field 1; none where a writer kept none.
fn any_bounds() -> impl Strategy<Value = Option<(i64, i64, i64)>> {
    prop::option::weighted(0.9, (0_i64..40, 0_i64..8, 0_i64..2))
}

fn bounded(base: File, range: Option<(i64, i64, i64)>) -> File {
    let Some((low, width, nulls)) = range else { return base };
    let bytes = |value: i64| value.to_le_bytes().to_vec();
    File { bounds: vec![(1, bytes(low), bytes(low + width))], counts: vec![(1, 10, nulls)], ..base }
}

/// In no partition, whose equality deletes are global, or in one of them.
fn placed(base: File, place: i32) -> File {
    match place {
        0 => base,
        _ => File { spec_id: 1, partition: format!("[{place}]"), ..base },
    }
}

proptest! {
    #[test]
    fn intervals_equal_a_pairwise_comparison(
        deletes in prop::collection::vec((1_i64..6, any_bounds(), 0..3), 0..90),
        files in prop::collection::vec((1_i64..6, any_bounds(), 0..3), 0..12),
    ) {
        let delete = |(sequence, range, place): &(i64, _, i32)| {
            bounded(placed(file(2, *sequence), *place), *range)
        };
        let data = |(sequence, range, place): &(i64, _, i32)| {
            bounded(placed(file(0, *sequence), *place), *range)
        };
        let found = pairs(
            &deletes.iter().map(delete).collect::<Vec<_>>(),
            &files.iter().map(data).collect::<Vec<_>>(),
        );
        for ((sequence, range, place), found) in files.iter().zip(found) {
            let applies = |(newer, other, of): &(i64, Option<(i64, i64, i64)>, i32)| {
                let apart = range.zip(*other).is_some_and(|((low, width, nulls), delete)| {
                    let values = low > delete.0 + delete.1 || low + width < delete.0;
                    values && !(nulls > 0 && delete.2 > 0)
                });
                newer > sequence && !apart && (*of == 0 || of == place)
            };
            let expected = deletes.iter().zip(0..).filter(|(delete, _)| applies(delete));
            prop_assert_eq!(found, expected.map(|(_, row)| row).collect::<Vec<i32>>());
        }
    }
}

#[test]
fn deletes_of_many_files_equal_the_deletes_of_each_file() {
    let range = |n: i32| Some((i64::from(n / 3 % 500), 30, 0));
    let of = |content, n: i32| bounded(placed(file(content, i64::from(n % 7)), n % 3), range(n));
    let deletes: Vec<File> = (0..300).map(|n| of(2, n)).collect();
    let files: Vec<File> = (0..70_000).map(|n| of(0, n)).collect();
    let (index, files) = (DeleteIndex::new(&batch(&deletes), &Table).unwrap(), batch(&files));
    let found = applying(&index, &files);
    for file in (0..files.num_rows()).step_by(997).chain(32_766..32_770) {
        assert_eq!(found[file..=file], applying(&index, &files.slice(file, 1)));
    }
    assert!(found.iter().any(|rows| rows.len() > 1) && found.iter().any(Vec::is_empty));
}

#[test]
fn files_that_keys_in_no_order_span_have_one_run_each() {
    let wide = |content, sequence, low: i64| bounded(file(content, sequence), Some((low, 1000, 0)));
    let deletes: Vec<File> = (1..=40).map(|n| wide(2, n, n)).collect();
    let files: Vec<File> = (1..=40)
        .map(|n| File { content: 0, path: format!("f{n}"), ..wide(0, n, 40 - n) })
        .collect();
    let index = DeleteIndex::new(&batch(&deletes), &Table).unwrap();
    let lists = index.applying(&batch(&files)).unwrap().into_array().unwrap();
    for (row, sequence) in (1..40_i32).enumerate() {
        assert_eq!(delete_runs(&lists, row), [(sequence, 40 - sequence)]);
    }
    assert_eq!(delete_runs(&lists, 39), []);
}

#[test]
fn rows_that_no_file_needs_are_left_out() {
    let deletes = [
        File { referenced: Some("gone".into()), ..file(1, 5) },
        File { spec_id: 1, partition: "[1]".into(), ..file(1, 5) },
        File { spec_id: 1, partition: "[1]".into(), ..file(1, 6) },
        File { spec_id: 1, partition: "[2]".into(), ..file(1, 6) },
        File { referenced: Some("a".into()), ..file(1, 7) },
    ];
    let index = DeleteIndex::new(&batch(&deletes), &Table).unwrap();
    let data = [data("a", 1, "[1]", 1), data("b", 1, "[1]", 6)];
    let (runs, used) = index.applying(&batch(&data)).unwrap().compact(deletes.len());
    let rows: Vec<u32> = used.iter().map(|place| index.order()[*place as usize]).collect();
    assert_eq!(rows, [1, 2, 4]);
    let lists = runs.into_array().unwrap();
    assert_eq!(delete_runs(&lists, 0), [(0, 2), (2, 1)]);
    assert_eq!(delete_runs(&lists, 1), [(1, 1)]);
}

//! File statistics: never a lost row, never a false claim, and pruning where the bounds allow it.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int32Builder, Int64Builder, MapBuilder, MapFieldNames};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use icefloe_format::Error;
use icefloe_format::metrics::{truncate_lower, truncate_upper};
use icefloe_format::predicate::{FileStats, bind, evaluate_inclusive, evaluate_strict, parse_json};
use icefloe_format::spec::{Datum, PrimitiveType, single_value};
use proptest::prelude::*;

use super::oracle::{self, Row};

fn names() -> Option<MapFieldNames> {
    Some(MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() })
}

type Counts = Vec<Vec<(i32, i64)>>;
type Bounds = Vec<Vec<(i32, Vec<u8>)>>;

fn count_map(files: &Counts) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), Int64Builder::new());
    for file in files {
        for (id, count) in file {
            map.keys().append_value(*id);
            map.values().append_value(*count);
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

fn bound_map(files: &Bounds) -> ArrayRef {
    let mut map = MapBuilder::new(names(), Int32Builder::new(), BinaryBuilder::new());
    for file in files {
        for (id, bytes) in file {
            map.keys().append_value(*id);
            map.values().append_value(bytes);
        }
        map.append(true).unwrap();
    }
    Arc::new(map.finish())
}

#[derive(Debug, Default)]
struct Stats {
    records: Vec<i64>,
    values: Counts,
    nulls: Counts,
    nans: Counts,
    lower: Bounds,
    upper: Bounds,
}

impl Stats {
    fn batch(&self) -> RecordBatch {
        RecordBatch::try_from_iter(vec![
            ("record_count", Arc::new(Int64Array::from(self.records.clone())) as ArrayRef),
            ("value_counts", count_map(&self.values)),
            ("null_value_counts", count_map(&self.nulls)),
            ("nan_value_counts", count_map(&self.nans)),
            ("lower_bounds", bound_map(&self.lower)),
            ("upper_bounds", bound_map(&self.upper)),
        ])
        .unwrap()
    }

    /// Add a file; each set bit of `holes` leaves one statistic of a column out.
    fn add(&mut self, types: &[PrimitiveType], rows: &[Row], width: usize, holes: u64) {
        let mut maps: (Vec<_>, Vec<_>, Vec<_>) = Default::default();
        let mut bounds: (Vec<_>, Vec<_>) = Default::default();
        for (column, id) in (0..types.len()).zip(1..) {
            let present: Vec<&Datum> = rows.iter().filter_map(|row| row[column].as_ref()).collect();
            let kept = |bit: usize| holes >> (column * 8 + bit) & 1 == 0;
            let count = |n: usize| i64::try_from(n).unwrap();
            if kept(0) {
                maps.0.push((id, count(rows.len())));
            }
            if kept(1) {
                maps.1.push((id, count(rows.len() - present.len())));
            }
            let nans = present.iter().filter(|value| value.is_nan()).count();
            if kept(2) && matches!(types[column], PrimitiveType::Float | PrimitiveType::Double) {
                maps.2.push((id, count(nans)));
            }
            let ordered = || present.iter().filter(|value| !value.is_nan());
            let least = ordered().min_by(|a, b| a.compare(b).unwrap());
            let greatest = ordered().max_by(|a, b| a.compare(b).unwrap());
            if let Some(least) = least.filter(|_| kept(3)) {
                bounds.0.push((id, stored(&truncate_lower(least, width))));
            }
            let greatest = greatest.filter(|_| kept(4));
            if let Some(greatest) = greatest.and_then(|datum| truncate_upper(datum, width)) {
                bounds.1.push((id, stored(&greatest)));
            }
        }
        self.records.push(i64::try_from(rows.len()).unwrap());
        self.values.push(maps.0);
        self.nulls.push(maps.1);
        self.nans.push(maps.2);
        self.lower.push(bounds.0);
        self.upper.push(bounds.1);
    }
}

/// As if the column had been an int or a float before, where the value allows it.
fn stored(bound: &Datum) -> Vec<u8> {
    match bound {
        Datum::Long(value) if i32::try_from(*value).is_ok_and(|v| v % 2 == 0) => {
            i32::try_from(*value).unwrap().to_le_bytes().to_vec()
        }
        Datum::Double(value) if *value == 1.5 => 1.5_f32.to_le_bytes().to_vec(),
        other => single_value::to_bytes(other),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn file_statistics_bound_the_rows(
        (types, predicate, files, width, holes) in prop::collection::vec(oracle::types(), 1..3)
            .prop_flat_map(|types| {
                let predicate = oracle::predicate(types.clone());
                let files = prop::collection::vec(oracle::rows(types.clone(), 0..5), 1..6);
                let holes = prop_oneof![2 => Just(0_u64), 1 => any::<u64>()];
                (Just(types), predicate, files, 1_usize..4, holes)
            })
    ) {
        let mut stats = Stats::default();
        for (rows, turn) in files.iter().zip(0..) {
            stats.add(&types, rows, width, holes.rotate_left(turn * 3));
        }
        let batch = stats.batch();
        let might = evaluate_inclusive(&predicate, &FileStats::new(&batch)).unwrap();
        let must = evaluate_strict(&predicate, &FileStats::new(&batch)).unwrap();
        for (file, rows) in files.iter().enumerate() {
            let any = rows.iter().any(|row| oracle::matches(&predicate, row));
            let all = rows.iter().all(|row| oracle::matches(&predicate, row));
            prop_assert!(might.value(file) || !any, "lost a row of {rows:?}");
            prop_assert!(!must.value(file) || all, "claimed all of {rows:?}");
        }
    }
}

/// Whether files of one column each might and must match.
fn verdict(kind: PrimitiveType, rows: &[Option<Datum>], filter: &str) -> (bool, bool) {
    let mut stats = Stats::default();
    let rows: Vec<Row> = rows.iter().map(|value| vec![value.clone()]).collect();
    stats.add(&[kind], &rows, 16, 0);
    let batch = stats.batch();
    let predicate = bind(&parse_json(filter).unwrap(), &oracle::schema(&[kind]), true).unwrap();
    let stats = FileStats::new(&batch);
    let might = evaluate_inclusive(&predicate, &stats).unwrap().value(0);
    (might, evaluate_strict(&predicate, &stats).unwrap().value(0))
}

#[track_caller]
fn assert_verdicts(
    kind: PrimitiveType,
    rows: &[Option<Datum>],
    cases: &[(&str, &str, bool, bool)],
) {
    for (op, value, might, must) in cases {
        let literal = match *value {
            "" => String::new(),
            list if list.starts_with('[') => format!(r#","values":{list}"#),
            one => format!(r#","value":{one}"#),
        };
        let filter = format!(r#"{{"type":"{op}","term":"c1"{literal}}}"#);
        assert_eq!(verdict(kind, rows, &filter), (*might, *must), "{filter}");
    }
}

#[test]
fn bounds_decide_comparisons() {
    let rows: Vec<Option<Datum>> = [10, 20, 30].map(|n| Some(Datum::Int(n))).to_vec();
    assert_verdicts(
        PrimitiveType::Int,
        &rows,
        &[
            ("lt", "10", false, false),
            ("lt", "11", true, false),
            ("lt", "31", true, true),
            ("lt-eq", "9", false, false),
            ("lt-eq", "30", true, true),
            ("gt", "30", false, false),
            ("gt", "9", true, true),
            ("gt-eq", "30", true, false),
            ("eq", "9", false, false),
            ("eq", "15", true, false),
            ("eq", "31", false, false),
            ("not-eq", "9", true, true),
            ("not-eq", "10", true, false),
            ("in", "[1,2,40]", false, false),
            ("in", "[1,25]", true, false),
            ("not-in", "[1,40]", true, true),
            ("not-in", "[1,25]", true, false),
            ("is-null", "", false, false),
            ("not-null", "", true, true),
        ],
    );
    let same = vec![Some(Datum::Int(7)); 3];
    assert_verdicts(
        PrimitiveType::Int,
        &same,
        &[
            ("eq", "7", true, true),
            ("not-eq", "7", false, false),
            ("in", "[6,7]", true, true),
            ("not-in", "[6,7]", false, false),
            ("in", "[6,8]", false, false),
        ],
    );
}

#[test]
fn nulls_and_nan_answer_for_themselves() {
    let nulls = vec![None; 3];
    assert_verdicts(
        PrimitiveType::Int,
        &nulls,
        &[
            ("lt", "10", false, false),
            ("not-eq", "10", false, false),
            ("is-null", "", true, true),
            ("not-null", "", false, false),
            ("not-in", "[1,2]", false, false),
        ],
    );
    let nans = vec![Some(Datum::Double(f64::NAN)); 2];
    assert_verdicts(
        PrimitiveType::Double,
        &nans,
        &[
            ("gt", "1.0", false, false),
            ("is-nan", "", true, true),
            ("not-nan", "", false, false),
            ("not-eq", "1.0", true, true),
            ("not-null", "", true, true),
            ("is-null", "", false, false),
        ],
    );
    let mixed = vec![Some(Datum::Int(5)), None];
    assert_verdicts(
        PrimitiveType::Int,
        &mixed,
        &[("lt", "10", true, false), ("is-null", "", true, false), ("not-eq", "5", false, false)],
    );
}

#[test]
fn files_with_nulls_or_without_a_count_of_nulls_never_match_a_negation_in_full() {
    let mut stats = Stats::default();
    let rows = [vec![Some(Datum::Int(5))], vec![Some(Datum::Int(6))]];
    // The second file has no count of nulls, the third has a null.
    stats.add(&[PrimitiveType::Int], &rows, 16, 0);
    stats.add(&[PrimitiveType::Int], &rows, 16, 0b10);
    stats.add(&[PrimitiveType::Int], &[rows[0].clone(), vec![None]], 16, 0);
    let batch = stats.batch();
    let filter = r#"{"type":"not","child":{"type":"eq","term":"c1","value":9}}"#;
    let schema = oracle::schema(&[PrimitiveType::Int]);
    let predicate = bind(&parse_json(filter).unwrap(), &schema, true).unwrap();
    let must = evaluate_strict(&predicate, &FileStats::new(&batch)).unwrap();
    assert_eq!(must, vec![true, false, false].into());
}

#[test]
fn zeros_of_both_signs_are_equal() {
    let rows = vec![Some(Datum::Double(-0.0)); 2];
    assert_verdicts(
        PrimitiveType::Double,
        &rows,
        &[
            ("eq", "0.0", true, true),
            ("in", "[0.0,3.0]", true, true),
            ("gt-eq", "0.0", true, true),
            ("lt", "0.0", false, false),
            ("not-in", "[0.0,3.0]", false, false),
        ],
    );
}

#[test]
fn prefixes_are_decided_by_bounds() {
    let rows = ["abc", "abd"].map(|text| Some(Datum::String(text.into())));
    assert_verdicts(
        PrimitiveType::String,
        &rows,
        &[
            ("starts-with", "\"ab\"", true, true),
            ("starts-with", "\"abc\"", true, false),
            ("starts-with", "\"b\"", false, false),
            ("starts-with", "\"abcd\"", true, false),
            ("starts-with", "\"abe\"", false, false),
            ("not-starts-with", "\"ab\"", false, false),
            ("not-starts-with", "\"b\"", true, true),
            ("not-starts-with", "\"abd\"", true, false),
        ],
    );
}

#[test]
fn uuid_bounds_prune_where_both_orders_agree() {
    let uuid = |first: u8| {
        let mut bytes = [0; 16];
        bytes[0] = first;
        Some(Datum::Uuid(bytes))
    };
    let literal = "\"ff000000-0000-0000-0000-000000000000\"";
    let rows = [uuid(0), uuid(1)];
    assert_verdicts(
        PrimitiveType::Uuid,
        &rows,
        &[
            ("eq", literal, false, false),
            ("gt", literal, false, false),
            ("lt", literal, true, true),
            ("in", &format!("[{literal}]"), false, false),
        ],
    );
    let same = [uuid(1), uuid(1)];
    assert_verdicts(PrimitiveType::Uuid, &same, &[("eq", literal, false, false)]);
}

#[test]
fn batch_without_statistics_might_match_but_not_must() {
    let batch = RecordBatch::try_from_iter(vec![(
        "record_count",
        Arc::new(Int64Array::from(vec![5, 0])) as ArrayRef,
    )])
    .unwrap();
    let schema = oracle::schema(&[PrimitiveType::Int]);
    let predicate = parse_json(r#"{"type":"eq","term":"c1","value":1}"#).unwrap();
    let predicate = bind(&predicate, &schema, true).unwrap();
    let might = evaluate_inclusive(&predicate, &FileStats::new(&batch)).unwrap();
    let must = evaluate_strict(&predicate, &FileStats::new(&batch)).unwrap();
    // A file without rows neither matches nor has a row that does not.
    assert_eq!((might.value(0), might.value(1)), (true, false));
    assert_eq!((must.value(0), must.value(1)), (false, true));
}

#[test]
fn bound_of_a_wrong_length_is_corrupt() {
    let mut stats = Stats::default();
    stats.add(&[PrimitiveType::Int], &[vec![Some(Datum::Int(1))]], 16, 0);
    stats.lower = vec![vec![(1, vec![1, 2, 3])]];
    let schema = oracle::schema(&[PrimitiveType::Int]);
    let predicate = parse_json(r#"{"type":"eq","term":"c1","value":1}"#).unwrap();
    let predicate = bind(&predicate, &schema, true).unwrap();
    let found = evaluate_inclusive(&predicate, &FileStats::new(&stats.batch()));
    assert!(matches!(found, Err(Error::Corrupt { .. })), "{found:?}");
}

#[test]
fn many_files_are_answered_as_few() {
    let mut stats = Stats::default();
    for n in 0..5_000_i64 {
        let text = |n: i64| Some(Datum::String(format!("name-{n:05}")));
        let rows = vec![
            vec![Some(Datum::Long(n * 2)), text(n)],
            vec![Some(Datum::Long(n * 2 + n % 3)), text(n + n % 2)],
        ];
        // Some files lack a statistic, so that their maps are of other shapes.
        let holes = if n % 700 == 0 { 1 << (n / 700) } else { 0 };
        stats.add(&[PrimitiveType::Long, PrimitiveType::String], &rows, 16, holes);
    }
    let batch = stats.batch();
    let schema = oracle::schema(&[PrimitiveType::Long, PrimitiveType::String]);
    let name = |op: &str, n: i64| format!(r#"{{"type":"{op}","term":"c2","value":"name-{n:05}"}}"#);
    let both =
        |left: &str, right: &str| format!(r#"{{"type":"and","left":{left},"right":{right}}}"#);
    for filter in [
        r#"{"type":"in","term":"c1","values":[-1,7,4000,4001,9999]}"#.to_owned(),
        r#"{"type":"eq","term":{"type":"transform","transform":"bucket[8]","term":"c1"},"value":3}"#
            .to_owned(),
        both(&name("gt-eq", 1_999), &name("lt", 2_100)),
        name("eq", 2_047),
        name("not-eq", 4_096),
        name("starts-with", 49),
        r#"{"type":"lt","term":"c2","value":"nam"}"#.to_owned(),
        r#"{"type":"gt","term":"c2","value":"name-0000"}"#.to_owned(),
    ] {
        let predicate = bind(&parse_json(&filter).unwrap(), &schema, true).unwrap();
        let whole = FileStats::new(&batch);
        let might = evaluate_inclusive(&predicate, &whole).unwrap();
        let must = evaluate_strict(&predicate, &whole).unwrap();
        assert!(might.true_count() > 0 || filter.contains("\"nam\""), "{filter}");
        for start in (0..batch.num_rows()).step_by(250) {
            let part = batch.slice(start, 250);
            let stats = FileStats::new(&part);
            assert_eq!(evaluate_inclusive(&predicate, &stats).unwrap(), might.slice(start, 250));
            assert_eq!(evaluate_strict(&predicate, &stats).unwrap(), must.slice(start, 250));
        }
    }
}

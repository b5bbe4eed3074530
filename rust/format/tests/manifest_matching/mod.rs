//! Decoding what might match a filter is decoding everything and filtering it.

mod block_runs;
mod bundles;
mod files;

use files::{SPECS, Table, files, many, predicate, stats};
use icefloe_format::Error;
use icefloe_format::codec::Codec;
use icefloe_format::manifest::{EntryFilter, Stats, decode_manifest, decode_matching};
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn matching_entries_equal_filtered_entries(
        files in files(),
        predicate in predicate(),
        stats in stats(),
        spec in 0_usize..2,
        deflated in any::<bool>(),
    ) {
        let table = Table::new(SPECS[spec]);
        let bytes = table.encode(&files, if deflated { Codec::Deflate(1) } else { Codec::Null });
        let (partitions, rows) = table.filter(&predicate);
        let filter = EntryFilter { partitions: &partitions, rows: &rows };
        let matching = decode_matching(&bytes, &table.options(stats.clone()), filter).unwrap();
        prop_assert_eq!(matching, table.oracle(&bytes, &predicate, stats));
    }

    #[test]
    fn damaged_bytes_never_panic(
        files in files(),
        predicate in predicate(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
    ) {
        let table = Table::new(SPECS[0]);
        let mut bytes = table.encode(&files, Codec::Null);
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        let (partitions, rows) = table.filter(&predicate);
        let filter = EntryFilter { partitions: &partitions, rows: &rows };
        let _ = decode_matching(&bytes, &table.options(Stats::All), filter);
    }
}

pub(crate) const TWO_TERMS: &str = r#"{"type":"and",
    "left":{"type":"eq","term":"day","value":"2024-01-02"},
    "right":{"type":"gt","term":"id","value":6000}}"#;

#[test]
fn chunks_follow_each_other() {
    let table = Table::new(SPECS[0]);
    let bytes = table.encode(&many(9000), Codec::Deflate(1));
    let predicate: Value = serde_json::from_str(TWO_TERMS).unwrap();
    let (partitions, rows) = table.filter(&predicate);
    let filter = EntryFilter { partitions: &partitions, rows: &rows };
    let matching = decode_matching(&bytes, &table.options(Stats::All), filter).unwrap();
    assert_eq!(matching.live, 6000);
    assert_eq!(matching.skipped_by_partition, 4500);
    assert!((400..600).contains(&matching.columns.len()), "{}", matching.columns.len());
    assert_eq!(matching, table.oracle(&bytes, &predicate, Stats::All));
}

#[test]
fn filter_with_many_matches_is_evaluated_last() {
    let table = Table::new(SPECS[0]);
    let bytes = table.encode(&many(9000), Codec::Deflate(1));
    let terms = [("gt", "id", json!(-1)), ("lt", "id", json!(6000)), ("gt", "id", json!(3000))];
    for (op, term, value) in terms.into_iter().chain([("not-eq", "day", json!("2024-01-02"))]) {
        let predicate = json!({"type": op, "term": term, "value": value});
        let (partitions, rows) = table.filter(&predicate);
        let filter = EntryFilter { partitions: &partitions, rows: &rows };
        for ids in [Some(vec![]), Some(vec![1, 2]), Some(vec![3]), None] {
            let stats = ids.map_or(Stats::All, Stats::Columns);
            let matching = decode_matching(&bytes, &table.options(stats.clone()), filter).unwrap();
            assert!(matching.columns.len() > 1000, "{predicate}");
            assert_eq!(matching, table.oracle(&bytes, &predicate, stats), "{predicate}");
        }
    }
}

#[test]
fn stretches_of_many_and_few_matches_alternate() {
    let table = Table::new(SPECS[0]);
    let bytes = table.encode(&many(30_000), Codec::Deflate(1));
    let between = |low: i32, high: i32| {
        json!({"type": "and",
            "left": {"type": "gt", "term": "id", "value": low},
            "right": {"type": "lt", "term": "id", "value": high}})
    };
    let predicate = json!({"type": "or",
        "left": {"type": "or", "left": between(-1, 9_000), "right": between(14_000, 17_000)},
        "right": between(21_000, 29_000)});
    let (partitions, rows) = table.filter(&predicate);
    let filter = EntryFilter { partitions: &partitions, rows: &rows };
    let matching = decode_matching(&bytes, &table.options(Stats::All), filter).unwrap();
    assert!((13_000..15_000).contains(&matching.columns.len()), "{}", matching.columns.len());
    assert_eq!(matching, table.oracle(&bytes, &predicate, Stats::All));
}

#[test]
fn truncated_manifest_is_corrupt_at_an_offset_within_it() {
    let table = Table::new(SPECS[0]);
    let header = table.encode(&[], Codec::Deflate(6)).len();
    let bytes = table.encode(&many(600), Codec::Deflate(6));
    let (partitions, rows) = table.filter(&serde_json::from_str(TWO_TERMS).unwrap());
    let filter = EntryFilter { partitions: &partitions, rows: &rows };
    for length in (header + 1..bytes.len()).step_by(61) {
        let options = table.options(Stats::All);
        let errors = [
            decode_matching(&bytes[..length], &options, filter).map(|_| ()),
            decode_manifest(&bytes[..length], &options).map(|_| ()),
        ];
        for error in errors {
            match error {
                Err(Error::Corrupt { offset: Some(offset), .. }) => {
                    assert!(offset >= header as u64 && offset < length as u64, "{offset}");
                }
                other => panic!("{length}: {other:?}"),
            }
        }
    }
}

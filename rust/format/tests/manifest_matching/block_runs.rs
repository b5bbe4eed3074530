//! Decoding the runs of a manifest is decoding the manifest.

use icefloe_format::avro::{BlockRun, Container, Header};
use icefloe_format::codec::Codec;
use icefloe_format::manifest::{
    DecodeOptions, EntryFilter, ManifestColumns, MatchingEntries, Stats, decode_manifest,
    decode_matching, decode_matching_run, decode_run,
};
use icefloe_format::{Error, Result};
use proptest::prelude::*;

use super::TWO_TERMS;
use super::files::{SPECS, Table, files, many, predicate, stats};

fn runs(bytes: &[u8], most: usize) -> Vec<BlockRun> {
    Header::parse(bytes).unwrap().runs(most)
}

/// The entries of all runs, one after another.
fn by_run(bytes: &[u8], most: usize, options: &DecodeOptions<'_>) -> Result<ManifestColumns> {
    let parts = runs(bytes, most).into_iter().map(|run| decode_run(bytes, Some(&run), options));
    Ok(ManifestColumns::concat(&parts.collect::<Result<Vec<_>>>()?)?.unwrap())
}

fn matching_by_run(
    bytes: &[u8],
    most: usize,
    options: &DecodeOptions<'_>,
    filter: EntryFilter<'_>,
) -> Result<MatchingEntries> {
    let runs = runs(bytes, most);
    let parts = runs.iter().map(|run| decode_matching_run(bytes, Some(run), options, filter));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let columns: Vec<ManifestColumns> = parts.iter().map(|part| part.columns.clone()).collect();
    let sum = |of: fn(&MatchingEntries) -> usize| parts.iter().map(of).sum();
    Ok(MatchingEntries {
        columns: ManifestColumns::concat(&columns)?.unwrap(),
        live: sum(|part| part.live),
        skipped_by_partition: sum(|part| part.skipped_by_partition),
        skipped_by_metrics: sum(|part| part.skipped_by_metrics),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn runs_together_equal_the_manifest(
        files in files(),
        copies in 1_usize..40,
        predicate in predicate(),
        stats in stats(),
        most in 1_usize..9,
        deflated in any::<bool>(),
    ) {
        let table = Table::new(SPECS[0]);
        let files: Vec<_> = files.iter().cycle().take(files.len() * copies).cloned().collect();
        let bytes = table.encode(&files, if deflated { Codec::Deflate(1) } else { Codec::Null });
        let options = table.options(stats);
        let whole = decode_manifest(&bytes, &options).unwrap();
        prop_assert_eq!(by_run(&bytes, most, &options).unwrap(), whole);
        let (partitions, rows) = table.filter(&predicate);
        let filter = EntryFilter { partitions: &partitions, rows: &rows };
        let whole = decode_matching(&bytes, &options, filter).unwrap();
        prop_assert_eq!(matching_by_run(&bytes, most, &options, filter).unwrap(), whole);
    }

    /// A manifest whose runs all decode is not damaged: the whole is decoded only where a run fails.
    #[test]
    fn damaged_manifest_fails_in_one_of_its_runs(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        most in 2_usize..9,
    ) {
        let table = Table::new(SPECS[0]);
        let mut bytes = table.encode(&many(2_000), Codec::Null);
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        prop_assume!(Container::parse(&bytes).is_ok());
        let options = table.options(Stats::All);
        match (decode_manifest(&bytes, &options), by_run(&bytes, most, &options)) {
            (Ok(whole), Ok(parts)) => prop_assert_eq!(whole, parts),
            (Err(error), Ok(_)) => prop_assert!(false, "no run says that {error}"),
            (_, Err(_)) => {}
        }
    }
}

#[test]
fn runs_are_about_as_long_and_follow_each_other() {
    let table = Table::new(SPECS[0]);
    let bytes = table.encode(&many(9_000), Codec::Deflate(1));
    let options = table.options(Stats::All);
    for most in [2, 3, 4, 7] {
        let runs = runs(&bytes, most);
        assert_eq!(runs.len(), most);
        let rows = |run| decode_run(&bytes, Some(run), &options).unwrap().len();
        let rows: Vec<usize> = runs.iter().map(rows).collect();
        assert_eq!(rows.iter().sum::<usize>(), 9_000);
        assert!(rows.iter().all(|rows| rows * most > 4_500), "{rows:?}");
    }
}

#[test]
fn there_are_no_more_runs_than_blocks() {
    let table = Table::new(SPECS[0]);
    for files in [0, 5] {
        let bytes = table.encode(&many(files), Codec::Null);
        assert_eq!(runs(&bytes, 8).len(), 1);
        let found = by_run(&bytes, 8, &table.options(Stats::All)).unwrap();
        assert_eq!(found.len(), files as usize);
    }
}

#[test]
fn damaged_frame_is_one_run_with_the_error_of_the_whole_manifest() {
    let table = Table::new(SPECS[0]);
    let mut bytes = table.encode(&many(9_000), Codec::Deflate(1));
    assert_eq!(runs(&bytes, 4).len(), 4);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let all = runs(&bytes, 4);
    assert_eq!(all.len(), 1);
    let (partitions, rows) = table.filter(&serde_json::from_str(TWO_TERMS).unwrap());
    let filter = EntryFilter { partitions: &partitions, rows: &rows };
    let options = table.options(Stats::All);
    let whole = decode_manifest(&bytes, &options).unwrap_err();
    assert!(matches!(&whole, Error::Corrupt { offset: Some(_), .. }));
    assert_eq!(decode_run(&bytes, Some(&all[0]), &options).unwrap_err(), whole);
    let found = decode_matching_run(&bytes, Some(&all[0]), &options, filter).unwrap_err();
    assert_eq!(found, whole);
}

//! Decoding manifests together is decoding each by itself.

use icefloe_format::codec::Codec;
use icefloe_format::manifest::{
    BundleDecoder, EntryFilter, Inheritance, MatchingEntries, Stats, decode_matching, inherit,
};
use proptest::prelude::*;

use super::files::{SPECS, Table, files, many, predicate};

/// The same manifest with a space more in its schema.
fn respelled(bytes: &[u8]) -> Vec<u8> {
    let key = b"avro.schema";
    let start = bytes.windows(key.len()).position(|window| window == key).unwrap() + key.len();
    let prefix = bytes[start..].iter().position(|byte| *byte < 0x80).unwrap() + 1;
    let length = bytes[start..start + prefix].iter().rev();
    let length = length.fold(0_usize, |length, byte| length << 7 | usize::from(byte & 0x7f)) / 2;
    let text = &bytes[start + prefix..start + prefix + length];
    let mut zigzag = (length + 1) * 2;
    let mut out = bytes[..start].to_vec();
    while zigzag >= 0x80 {
        out.push(zigzag as u8 & 0x7f | 0x80);
        zigzag >>= 7;
    }
    out.push(zigzag as u8);
    [&out, text, b" ", &bytes[start + prefix + length..]].concat()
}

fn from(place: usize) -> Inheritance {
    let number = Some(i64::try_from(place).unwrap());
    Inheritance { added_snapshot_id: number, sequence_number: number }
}

/// The entries of each manifest, decoded together.
fn together(
    table: &Table,
    manifests: &[Vec<u8>],
    filter: EntryFilter<'_>,
) -> (Vec<Option<MatchingEntries>>, usize) {
    let mut decoder = BundleDecoder::new(table.options(Stats::All));
    for (place, bytes) in manifests.iter().enumerate() {
        decoder.read(bytes, from(place)).unwrap();
    }
    let bundles = decoder.finish(filter).unwrap();
    let mut found = vec![None; manifests.len()];
    for bundle in &bundles {
        for member in &bundle.members {
            found[member.place] = Some(MatchingEntries {
                columns: bundle.columns.slice(member.rows.start, member.rows.len()),
                live: member.live,
                skipped_by_partition: member.skipped_by_partition,
                skipped_by_metrics: member.skipped_by_metrics,
            });
        }
    }
    (found, bundles.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bundled_manifests_equal_single_manifests(
        wanted in proptest::collection::vec((files(), any::<bool>(), any::<bool>()), 0..5),
        predicate in predicate(),
        spec in 0_usize..2,
    ) {
        let table = Table::new(SPECS[spec]);
        let manifest = |(files, deflated, other): &(Vec<_>, bool, bool)| {
            let codec = if *deflated { Codec::Deflate(1) } else { Codec::Null };
            let bytes = table.encode(files, codec);
            if *other { respelled(&bytes) } else { bytes }
        };
        let manifests: Vec<_> = wanted.iter().map(manifest).collect();
        let (partitions, rows) = table.filter(&predicate);
        let filter = EntryFilter { partitions: &partitions, rows: &rows };
        let (found, bundles) = together(&table, &manifests, filter);
        prop_assert!(bundles <= 2);
        for (place, (bytes, found)) in manifests.iter().zip(found).enumerate() {
            let alone = decode_matching(bytes, &table.options(Stats::All), filter).unwrap();
            let columns = inherit(alone.columns, from(place)).unwrap();
            prop_assert_eq!(found.unwrap(), MatchingEntries { columns, ..alone });
        }
    }
}

#[test]
fn damaged_manifest_fails_the_whole_bundle() {
    let table = Table::new(SPECS[0]);
    let good = table.encode(&many(9), Codec::Null);
    let mut decoder = BundleDecoder::new(table.options(Stats::All));
    decoder.read(&good, from(1)).unwrap();
    assert!(decoder.read(&good[..good.len() - 1], from(2)).is_err());
}

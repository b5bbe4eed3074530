//! Cutting of a row group into parts that several threads decode.

use std::collections::BTreeSet;
use std::ops::Range;

use parquet::file::metadata::ParquetMetaData;

/// Target rows of a part. Row groups of more rows are decoded on several threads.
const PART_ROWS: u64 = 262_144;
/// Minimum target rows of a part: parts that the Parquet crate decodes each decode the dictionaries again.
const LEAST_PART_ROWS: u64 = 1_024;
/// Target decoded bytes of a part: batches of a part stay in memory until the preceding parts have been returned.
const PART_BYTES: u64 = 16 << 20;

/// Return the target rows of a part for decoded rows of `row_bytes` bytes.
pub(crate) fn part_rows(row_bytes: u64) -> u64 {
    (PART_BYTES / row_bytes.max(1)).clamp(LEAST_PART_ROWS, PART_ROWS)
}

/// Maximum parts of a row group, whose row count in a damaged footer may be any number.
const MAX_PARTS: u64 = 4_096;

/// Cut the `rows` rows of a row group into parts, in order. `page_starts` are the ascending first rows of pages. A part
/// starts with a page if one starts less than a quarter of a part earlier, so that no page is decoded for two parts.
pub(crate) fn cut(rows: u64, part_rows: u64, page_starts: &[u64]) -> Vec<Range<u64>> {
    let count = rows.div_ceil(part_rows.max(1)).clamp(1, MAX_PARTS);
    let mut parts = Vec::new();
    let mut start = 0;
    for part in 1..count {
        let even = rows / count * part;
        let before = page_starts.partition_point(|page| *page <= even).checked_sub(1);
        let page = before.and_then(|index| page_starts.get(index)).copied();
        let end = page.filter(|page| *page > start && even - page < part_rows / 4).unwrap_or(even);
        parts.push(start..end);
        start = end;
    }
    parts.push(start..rows);
    parts
}

/// Return the ascending first rows of the pages of the largest column chunk among `leaves`, whose pages cost most to
/// decode twice. Empty without an offset index.
pub(crate) fn page_starts(
    metadata: &ParquetMetaData,
    row_group: usize,
    leaves: &BTreeSet<usize>,
) -> Vec<u64> {
    let (Some(index), Some(group)) = (metadata.page_index(), metadata.row_groups().get(row_group))
    else {
        return vec![];
    };
    let sized = leaves.iter().filter_map(|leaf| Some((group.columns().get(*leaf)?, leaf)));
    let largest = sized.max_by_key(|(column, _)| column.compressed_size());
    let pages = largest.and_then(|(_, leaf)| index.offset_index(row_group, *leaf));
    let mut starts: Vec<u64> = pages
        .map(|pages| pages.page_locations().as_slice())
        .unwrap_or_default()
        .iter()
        .filter_map(|page| u64::try_from(page.first_row_index).ok())
        .collect();
    starts.sort_unstable();
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: u64, page_starts: &[u64]) -> Vec<Range<u64>> {
        let parts = cut(rows, PART_ROWS, page_starts);
        assert_eq!(parts.first().unwrap().start, 0);
        assert_eq!(parts.last().unwrap().end, rows);
        assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(parts.iter().all(|part| part.start < part.end || rows == 0));
        assert!(parts.iter().all(|part| part.end - part.start <= PART_ROWS * 5 / 4));
        parts
    }

    #[test]
    fn parts_begin_at_pages() {
        let pages: Vec<u64> = (0..50).map(|page| page * 20_480).collect();
        let parts = check(1_000_000, &pages);
        assert_eq!(parts.len(), 4);
        assert!(parts.iter().all(|part| part.start % 20_480 == 0));
    }

    #[test]
    fn parts_of_wide_rows_are_short() {
        assert_eq!(part_rows(1), PART_ROWS);
        assert_eq!(part_rows(1_024), 16_384);
        assert_eq!(part_rows(u64::MAX), LEAST_PART_ROWS);
        assert_eq!(cut(100_000, part_rows(1_024), &[]).len(), 7);
    }

    #[test]
    fn row_group_of_any_stated_size_has_a_bounded_number_of_parts() {
        let parts = cut(i64::MAX as u64, LEAST_PART_ROWS, &[]);
        assert_eq!(parts.len() as u64, MAX_PARTS);
        assert_eq!(parts.last().unwrap().end, i64::MAX as u64);
    }

    #[test]
    fn absent_or_distant_pages_move_no_cut() {
        let even = check(1_000_000, &[]);
        assert_eq!(even[1], 250_000..500_000);
        assert_eq!(check(1_000_000, &[0, 900_000]), even);
        assert_eq!(check(1_000_000, &[2_000_000, u64::MAX]), even);
        assert_eq!(check(PART_ROWS, &[0, 100]), vec![0..PART_ROWS]);
        check(0, &[]);
    }
}

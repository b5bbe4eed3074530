//! Files cut into byte ranges.

use std::ops::Range;

/// A manifest may state any file size: a file without offsets is cut into at most this many ranges.
const MAX_CHUNKS: u64 = 1_024;

/// Append the byte ranges of one file, one for each task; together they cover the file.
///
/// Ranges between valid split offsets (starts of row groups) are joined up to `split_size`; without
/// them a file is cut every `split_size` bytes. Offsets are ignored where they do not ascend or reach
/// beyond the file. The first range starts at 0, so that every row group is in a range.
pub(crate) fn append_splits(
    ranges: &mut Vec<Range<u64>>,
    file_size: u64,
    offsets: Option<&[i64]>,
    split_size: Option<u64>,
    splittable: bool,
) {
    let Some(split_size) = split_size.filter(|size| splittable && *size > 0) else {
        return ranges.push(0..file_size);
    };
    let Some(offsets) = offsets.filter(|offsets| are_valid(offsets, file_size)) else {
        let chunk_size = split_size.max(file_size.div_ceil(MAX_CHUNKS));
        let count = file_size.div_ceil(chunk_size).max(1);
        let chunk = |n: u64| n * chunk_size..(n + 1).saturating_mul(chunk_size).min(file_size);
        return ranges.extend((0..count).map(chunk));
    };
    let first = ranges.len();
    let inner = offsets.iter().skip(1).map(|offset| offset.unsigned_abs());
    let starts = std::iter::once(0).chain(inner.clone());
    let ends = inner.chain([file_size]);
    for (start, end) in starts.zip(ends) {
        match ranges.get_mut(first..).and_then(|own| own.last_mut()) {
            Some(last) if end - last.start <= split_size => last.end = end,
            _ => ranges.push(start..end),
        }
    }
}

fn are_valid(offsets: &[i64], file_size: u64) -> bool {
    let ascending = offsets.windows(2).all(|pair| pair.first() < pair.last());
    let ends = offsets.first().zip(offsets.last());
    ascending && ends.is_some_and(|(first, last)| *first >= 0 && last.unsigned_abs() < file_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splits(
        file_size: u64,
        offsets: Option<&[i64]>,
        split_size: Option<u64>,
        splittable: bool,
    ) -> Vec<Range<u64>> {
        // Ranges of the files before.
        let mut ranges = vec![Range { start: 0, end: 1 }];
        append_splits(&mut ranges, file_size, offsets, split_size, splittable);
        ranges.split_off(1)
    }

    #[test]
    fn neighbours_are_joined_up_to_the_size() {
        let found = splits(100, Some(&[4, 30, 60, 90]), Some(60), true);
        assert_eq!(found, [0..60, 60..100]);
    }

    #[test]
    fn row_group_larger_than_the_size_stays_whole() {
        assert_eq!(splits(100, Some(&[4, 90]), Some(10), true), [0..90, 90..100]);
    }

    #[test]
    fn offsets_out_of_order_or_beyond_the_end_are_ignored() {
        for offsets in [&[60, 30][..], &[4, 100], &[-1, 4], &[]] {
            assert_eq!(splits(100, Some(offsets), Some(60), true), [0..60, 60..100]);
        }
    }

    #[test]
    fn file_of_any_stated_size_has_a_bounded_number_of_ranges() {
        for size in [u64::MAX, i64::MAX as u64, 1 << 50] {
            let found = splits(size, None, Some(1), true);
            assert!(found.len() <= 1_024);
            assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!((found[0].start, found[found.len() - 1].end), (0, size));
        }
    }

    #[test]
    fn without_a_size_or_in_a_format_without_splits_the_file_is_whole() {
        assert_eq!(splits(100, Some(&[4, 30]), None, true), [Range { start: 0, end: 100 }]);
        assert_eq!(splits(100, Some(&[4, 30]), Some(10), false), [Range { start: 0, end: 100 }]);
    }
}

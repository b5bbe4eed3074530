//! Files cut into byte ranges.

use std::ops::Range;

/// The ranges of one file that are read by one task each: together they cover the file.
///
/// Valid split offsets (where row groups start) are kept and neighbours joined up to `split_size`; without
/// them a file is cut every `split_size` bytes. Offsets are ignored where they do not ascend or reach
/// beyond the file.
pub(crate) fn splits(
    file_size: u64,
    offsets: Option<&[i64]>,
    split_size: Option<u64>,
    splittable: bool,
) -> Vec<Range<u64>> {
    let Some(split_size) = split_size.filter(|size| splittable && *size > 0) else {
        return vec![whole(file_size)];
    };
    let Some(starts) = offsets.and_then(|offsets| valid(offsets, file_size)) else {
        return chunks(file_size, split_size);
    };
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let ends = starts.iter().skip(1).copied().chain([file_size]);
    for (start, end) in starts.iter().copied().zip(ends) {
        match ranges.last_mut() {
            Some(last) if end - last.start <= split_size => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges
}

fn whole(file_size: u64) -> Range<u64> {
    Range { start: 0, end: file_size }
}

fn valid(offsets: &[i64], file_size: u64) -> Option<Vec<u64>> {
    let starts: Vec<u64> =
        offsets.iter().map(|offset| u64::try_from(*offset).ok()).collect::<Option<_>>()?;
    let ascending = starts.windows(2).all(|pair| pair.first() < pair.last());
    (ascending && starts.last().is_some_and(|last| *last < file_size)).then_some(starts)
}

fn chunks(file_size: u64, split_size: u64) -> Vec<Range<u64>> {
    let count = file_size.div_ceil(split_size).max(1);
    (0..count).map(|n| n * split_size..((n + 1) * split_size).min(file_size)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined_up_to_the_size() {
        let found = splits(100, Some(&[4, 30, 60, 90]), Some(60), true);
        assert_eq!(found, [4..60, 60..100]);
    }

    #[test]
    fn a_row_group_larger_than_the_size_stays_whole() {
        assert_eq!(splits(100, Some(&[4, 90]), Some(10), true), [4..90, 90..100]);
    }

    #[test]
    fn offsets_out_of_order_or_beyond_the_end_are_ignored() {
        for offsets in [&[60, 30][..], &[4, 100], &[-1, 4], &[]] {
            assert_eq!(splits(100, Some(offsets), Some(60), true), [0..60, 60..100]);
        }
    }

    #[test]
    fn without_a_size_or_in_a_format_without_splits_the_file_is_whole() {
        assert_eq!(splits(100, Some(&[4, 30]), None, true), vec![whole(100)]);
        assert_eq!(splits(100, Some(&[4, 30]), Some(10), false), vec![whole(100)]);
    }
}

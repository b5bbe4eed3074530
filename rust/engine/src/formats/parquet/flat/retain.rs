//! Removal of rows from decoded values in place.

use arrow_buffer::BooleanBuffer;

/// Rows of one 64-bit word of a mask.
const WORD_ROWS: usize = 64;
/// Words with at most this many dropped rows move run by run; for more dropped rows, a loop over the rows is cheaper.
const FEW_DROPPED: u32 = 8;

/// Retain the values of the rows whose bit in `kept` is set, in order.
pub(crate) fn retain<T: Copy>(values: &mut Vec<T>, kept: &BooleanBuffer) {
    let mut next = 0;
    let words = kept.bit_chunks();
    for (index, word) in words.iter_padded().enumerate() {
        let start = index * WORD_ROWS;
        let rows = values.len().saturating_sub(start).min(WORD_ROWS);
        if word.count_zeros() <= FEW_DROPPED {
            let mut dropped = !word;
            let mut from = 0;
            while from < rows {
                let end = rows.min(dropped.trailing_zeros() as usize);
                if next < start + from {
                    values.copy_within(start + from..start + end, next);
                }
                next += end - from;
                from = end + 1;
                dropped &= dropped.wrapping_sub(1);
            }
            continue;
        }
        // Every value is written and a dropped value is overwritten by the next, so that no branch depends on the mask.
        for row in 0..rows {
            values[next] = values[start + row];
            next += (word >> row) as usize & 1;
        }
    }
    values.truncate(next);
    // Release memory if less than half of the capacity is used.
    if values.len() < values.capacity() / 2 {
        values.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_masks_of_every_density_are_kept_in_order() {
        for (length, every) in [(0, 1), (1, 1), (64, 1), (200, 1), (200, 2), (1_000, 7), (777, 40)]
        {
            for is_dropped in [true, false] {
                let mask: BooleanBuffer =
                    (0..length).map(|row| (row % every == 0) != is_dropped).collect();
                let mut values: Vec<usize> = (0..length).collect();
                let expected: Vec<usize> = (0..length).filter(|row| mask.value(*row)).collect();
                retain(&mut values, &mask);
                assert_eq!(values, expected, "{length} rows, every {every}");
                let sliced =
                    BooleanBuffer::new(mask.inner().clone(), length / 3, length - length / 3);
                let mut values: Vec<usize> = (length / 3..length).collect();
                retain(&mut values, &sliced);
                let expected: Vec<usize> =
                    (length / 3..length).filter(|row| mask.value(*row)).collect();
                assert_eq!(values, expected, "{length} rows, every {every}");
            }
        }
    }
}

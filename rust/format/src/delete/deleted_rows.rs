//! Deleted rows of one data file: runs of rows, and a mask over a batch.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, Buffer};
use roaring::RoaringTreemap;

use super::equality::EqualityKeys;
use crate::error::{Error, Result};

/// Consecutive rows of a data file that are all live or all deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRun {
    /// Whether the rows are deleted.
    pub deleted: bool,
    /// Number of rows.
    pub row_count: u64,
}

/// Equality keys with the batch's columns of their fields.
pub struct KeyedColumns<'a> {
    /// The deleted keys.
    pub keys: &'a EqualityKeys,
    /// The sources of the keys that apply, as ascending ranges; `None` for all.
    pub sources: Option<&'a [Range<u32>]>,
    /// One column per equality field, in order.
    pub columns: Vec<ArrayRef>,
}

/// Return which rows of a batch are deleted by position or by key: one bit per row; `None` if no row is deleted. `rows`
/// are the positions of the batch's rows in the data file.
///
/// # Errors
/// `InvalidArgument` where lengths differ, `Mismatch` where an equality column has another type.
pub fn deleted_rows(
    rows: Range<u64>,
    positions: Option<&RoaringTreemap>,
    keyed: &[KeyedColumns<'_>],
) -> Result<Option<BooleanBuffer>> {
    let row_count = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
    let mut deleted = positions.map(|positions| deleted_positions(positions, rows));
    for KeyedColumns { keys, sources, columns } in keyed {
        let by_key = match sources {
            Some(sources) => keys.deleted_by(columns, sources)?,
            None => keys.deleted(columns)?,
        };
        if by_key.len() != row_count {
            let reason = format!(
                "their length differs from the batch; expected {row_count} rows, got {}",
                by_key.len()
            );
            return Err(Error::invalid("equality columns", reason));
        }
        deleted = Some(match deleted {
            Some(others) => &others | &by_key,
            None => by_key,
        });
    }
    Ok(deleted.filter(|deleted| deleted.count_set_bits() > 0))
}

/// Split rows `start..start + row_count` of a data file into alternating runs of live and deleted rows. No run is empty,
/// and all runs together have `row_count` rows.
pub fn row_runs(deleted: &RoaringTreemap, start: u64, row_count: u64) -> Vec<RowRun> {
    let end = start.saturating_add(row_count);
    let mut runs = Vec::new();
    let mut next = start;
    for range in deleted_ranges(deleted, start..end) {
        push_run(&mut runs, false, range.start - next);
        push_run(&mut runs, true, range.end - range.start);
        next = range.end;
    }
    push_run(&mut runs, false, end - next);
    runs
}

/// Return which of the rows at the positions `rows` are deleted: one bit per row.
pub fn deleted_positions(deleted: &RoaringTreemap, rows: Range<u64>) -> BooleanBuffer {
    let count = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
    let mut words = vec![0_u64; count.div_ceil(64)];
    let mut positions = deleted.iter();
    positions.advance_to(rows.start);
    for position in positions.take_while(|position| *position < rows.end) {
        let row = (position - rows.start) as usize;
        if let Some(word) = words.get_mut(row / 64) {
            *word |= 1 << (row % 64);
        }
    }
    BooleanBuffer::new(Buffer::from_vec(words), 0, count)
}

/// Return the deleted positions among `rows` as ascending ranges, not one by one: a reader of few rows takes all others as
/// deleted.
fn deleted_ranges(
    deleted: &RoaringTreemap,
    rows: Range<u64>,
) -> impl Iterator<Item = Range<u64>> + '_ {
    let (start, end) = (rows.start, rows.end);
    deleted
        .bitmaps()
        .filter(move |(high, _)| u64::from(*high) >= start >> 32)
        .flat_map(move |(high, bitmap)| {
            let first = u64::from(high) << 32;
            let mut positions = bitmap.iter();
            positions.advance_to(u32::try_from(start.saturating_sub(first)).unwrap_or_default());
            std::iter::from_fn(move || positions.next_range()).map(move |lows| {
                first + u64::from(*lows.start())..first + u64::from(*lows.end()) + 1
            })
        })
        .take_while(move |range| range.start < end)
        .map(move |range| range.start..range.end.min(end))
}

fn push_run(runs: &mut Vec<RowRun>, deleted: bool, row_count: u64) {
    match runs.last_mut() {
        _ if row_count == 0 => {}
        Some(last) if last.deleted == deleted => last.row_count += row_count,
        _ => runs.push(RowRun { deleted, row_count }),
    }
}

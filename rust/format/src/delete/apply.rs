//! Deletes of one data file as one mask over a batch of its rows.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use roaring::RoaringTreemap;

use super::equality::EqualityKeys;
use super::position::deleted_positions;
use crate::error::{Error, Result};

/// Keys and the batch's columns of their fields, in the keys' order.
pub struct KeyedColumns<'a> {
    /// The deleted keys.
    pub keys: &'a EqualityKeys,
    /// The delete files that apply, by the keys' sources; all if `None`.
    pub sources: Option<&'a BooleanBuffer>,
    /// One column per equality field.
    pub columns: Vec<ArrayRef>,
}

/// Which rows of a batch are deleted, by position or by key: one bit per row; `None` if no row is.
/// The rows have the positions `rows` in the data file.
///
/// # Errors
/// `InvalidArgument` where lengths differ, `Mismatch` where an equality column is of another type.
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
            let reason = format!("{} rows of keys among {row_count} rows", by_key.len());
            return Err(Error::invalid("equality columns", reason));
        }
        deleted = Some(match deleted {
            Some(others) => &others | &by_key,
            None => by_key,
        });
    }
    Ok(deleted.filter(|deleted| deleted.count_set_bits() > 0))
}

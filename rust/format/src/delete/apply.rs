//! Deletes of one data file as one mask over a batch of its rows.

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow_buffer::BooleanBuffer;
use roaring::RoaringTreemap;

use super::equality::EqualityKeys;
use crate::error::{Error, Result};

/// Keys and the batch's columns of their fields, in the keys' order.
pub struct KeyedColumns<'a> {
    /// The deleted keys.
    pub keys: &'a EqualityKeys,
    /// One column per equality field.
    pub columns: &'a [ArrayRef],
}

/// Which rows of a batch remain: one bit per row, none null. `positions` are the rows' physical
/// positions in the data file, from 0.
///
/// # Errors
/// `InvalidArgument` where a position is null or negative or lengths differ, `Mismatch` where an
/// equality column is of another type.
pub fn keep_mask(
    positions: &Int64Array,
    deleted_positions: Option<&RoaringTreemap>,
    deleted_keys: &[KeyedColumns<'_>],
) -> Result<BooleanArray> {
    let row_count = positions.len();
    let mut deleted = match deleted_positions {
        Some(set) => position_mask(positions, set)?,
        None => BooleanBuffer::new_unset(row_count),
    };
    for keyed in deleted_keys {
        let by_key = keyed.keys.deleted(keyed.columns)?;
        if by_key.len() != row_count {
            let reason = format!("{} rows beside {row_count} positions", by_key.len());
            return Err(Error::invalid("equality columns", reason));
        }
        deleted = &deleted | &by_key;
    }
    Ok(BooleanArray::new(!&deleted, None))
}

fn position_mask(positions: &Int64Array, deleted: &RoaringTreemap) -> Result<BooleanBuffer> {
    if positions.null_count() > 0 || positions.values().iter().any(|position| *position < 0) {
        return Err(Error::invalid("positions", "a row's position is null or negative"));
    }
    let values = positions.values();
    Ok(BooleanBuffer::collect_bool(values.len(), |row| {
        deleted.contains(values[row].cast_unsigned())
    }))
}

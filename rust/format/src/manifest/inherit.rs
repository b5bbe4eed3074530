//! Inheritance of values from the manifest list.
//!
//! No other module may fill a null snapshot id or sequence number.
//!
//! Null snapshot ids are always inherited. Sequence numbers are inherited by added entries, and by all entries of a
//! manifest with sequence number 0, which has format version 1.

use std::sync::Arc;

use arrow_array::builder::Int64Builder;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array};

use super::entries::{ADDED, EXISTING, ManifestColumns};
use crate::{Error, Result};

/// The values that a manifest's entries inherit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inheritance {
    /// The snapshot that wrote the manifest.
    pub added_snapshot_id: Option<i64>,
    /// The manifest's sequence number; `None` for a manifest of the current commit, whose added entries have none
    /// yet.
    pub sequence_number: Option<i64>,
}

/// Fill in the inherited values of entries.
///
/// # Errors
/// [`Error::Corrupt`] if a live entry has no sequence number and cannot inherit one.
pub fn inherit(columns: ManifestColumns, from: Inheritance) -> Result<ManifestColumns> {
    let rows = columns.len();
    inherit_each(columns, &[(rows, from)])
}

/// Fill in the inherited values of the entries of several manifests, each given as its number of entries.
///
/// # Errors
/// As for [`inherit`].
pub fn inherit_each(
    columns: ManifestColumns,
    manifests: &[(usize, Inheritance)],
) -> Result<ManifestColumns> {
    let statuses = columns.statuses()?;
    let mut replaced: Vec<(&str, ArrayRef)> = Vec::new();
    let snapshot_ids = columns.longs("snapshot_id")?;
    if snapshot_ids.null_count() > 0 {
        let filled = filled(snapshot_ids, manifests, |_, from| from.added_snapshot_id);
        replaced.push(("snapshot_id", Arc::new(filled)));
    }
    for name in ["sequence_number", "file_sequence_number"] {
        let numbers = columns.longs(name)?;
        if numbers.null_count() > 0 {
            let filled = filled(numbers, manifests, |row, from| {
                let added = statuses.values().get(row) == Some(&ADDED);
                from.sequence_number.filter(|number| added || *number == 0)
            });
            // Early writers of version 2 stored no file sequence number, so it may remain null.
            if name == "sequence_number" {
                check(statuses, &filled)?;
            }
            replaced.push((name, Arc::new(filled)));
        }
    }
    if replaced.is_empty() { Ok(columns) } else { columns.with_columns(replaced) }
}

/// Replace nulls by the inherited values of each row.
fn filled(
    values: &Int64Array,
    manifests: &[(usize, Inheritance)],
    inherited: impl Fn(usize, &Inheritance) -> Option<i64>,
) -> Int64Array {
    let mut filled = Int64Builder::with_capacity(values.len());
    let mut own = values.iter().enumerate();
    for (rows, from) in manifests {
        for (row, value) in own.by_ref().take(*rows) {
            filled.append_option(value.or_else(|| inherited(row, from)));
        }
    }
    filled.finish()
}

fn check(statuses: &Int32Array, numbers: &Int64Array) -> Result<()> {
    let mut pairs = statuses.iter().zip(numbers);
    match pairs.position(|(status, number)| status == Some(EXISTING) && number.is_none()) {
        Some(row) => {
            let reason = format!("the existing entry {row} has no sequence number");
            Err(Error::corrupt("manifest", reason))
        }
        None => Ok(()),
    }
}

//! Values that entries inherit from the manifest list.
//!
//! All inheritance happens here; nothing else may fill a null snapshot id or sequence number.
//!
//! A snapshot id is inherited wherever it is null. Both sequence numbers are inherited only by added
//! entries, and by all entries of a manifest with sequence number 0, which is one of version 1.

use std::sync::Arc;

use arrow_array::builder::Int64Builder;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array};

use super::entries::{ADDED, EXISTING, ManifestColumns};
use crate::{Error, Result};

/// What a manifest list says about a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inheritance {
    /// The snapshot that wrote the manifest.
    pub added_snapshot_id: Option<i64>,
    /// The manifest's sequence number; `None` while its commit is under way, so that it has none
    /// and its added entries keep theirs null.
    pub sequence_number: Option<i64>,
}

/// The entries with every inherited value filled in.
///
/// # Errors
/// [`Error::Corrupt`] if a live entry has no sequence number and may not inherit one.
pub fn inherit(columns: ManifestColumns, from: Inheritance) -> Result<ManifestColumns> {
    let rows = columns.len();
    inherit_each(columns, &[(rows, from)])
}

/// [`inherit`] for the entries of several manifests: so many of each, one manifest after another.
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
            // Early version 2 writers had no file sequence number, so only the other one is vital.
            if name == "sequence_number" {
                check(statuses, &filled)?;
            }
            replaced.push((name, Arc::new(filled)));
        }
    }
    if replaced.is_empty() { Ok(columns) } else { columns.with_columns(replaced) }
}

/// Values with their nulls replaced by what a row inherits of its manifest.
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
            let reason = format!("entry {row} is existing and has no sequence number");
            Err(Error::corrupt("manifest", reason))
        }
        None => Ok(()),
    }
}

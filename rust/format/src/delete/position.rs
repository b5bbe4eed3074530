//! Deleted row positions: one set per data file.

use std::borrow::Cow;
use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringViewArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use hashbrown::HashMap;
use roaring::RoaringTreemap;

use crate::error::{Error, Result};
use crate::spec::ArrowName;

const WHAT: &str = "position delete file";

/// Deleted positions by data file path. Paths are compared as exact strings; positions count the file's rows from 0.
#[derive(Debug, Clone, Default)]
pub struct PositionDeletes {
    by_path: HashMap<String, RoaringTreemap>,
}

impl PositionDeletes {
    /// Add the rows of a position delete file: columns `file_path` (string) and `pos` (int64).
    /// With `wanted`, rows of other data files are ignored.
    ///
    /// The cost is linear in the rows: each run of equal paths takes one lookup.
    ///
    /// # Errors
    /// `Corrupt` where a column is missing, has another type, or holds null or a negative number.
    pub fn insert_batch(
        &mut self,
        batch: &RecordBatch,
        wanted: Option<&HashSet<String>>,
    ) -> Result<()> {
        self.insert_resolved(batch, |path| {
            wanted.is_none_or(|wanted| wanted.contains(path)).then_some(Cow::Borrowed(path))
        })
    }

    /// Add the rows of a position delete file, whose paths are resolved first: `resolve` returns the path of the data
    /// file, or `None` for rows to ignore. See [`PositionDeletes::insert_batch`].
    ///
    /// # Errors
    /// As for [`PositionDeletes::insert_batch`].
    pub fn insert_resolved(
        &mut self,
        batch: &RecordBatch,
        resolve: impl for<'t> Fn(&'t str) -> Option<Cow<'t, str>>,
    ) -> Result<()> {
        let paths = string_column(batch, "file_path")?;
        let positions = position_column(batch, "pos")?;
        let mut start = 0;
        while start < paths.len() {
            let path = paths.value(start);
            let end = start + run_length(&paths, start);
            if let Some(path) = resolve(path) {
                self.insert_slice(&path, &positions.values()[start..end])?;
            }
            start = end;
        }
        Ok(())
    }

    /// Add positions of one data file, in any order.
    ///
    /// # Errors
    /// `Corrupt` where a position is negative.
    pub fn insert_slice(&mut self, path: &str, positions: &[i64]) -> Result<()> {
        let set = self.by_path.entry_ref(path).or_default();
        let mut unsigned = Vec::with_capacity(positions.len());
        for position in positions {
            unsigned.push(u64::try_from(*position).map_err(|_| {
                Error::corrupt(WHAT, format!("position {position} of {path} is negative"))
            })?);
        }
        // Writers sort by (path, pos): appending skips the search for the container.
        if set.append(unsigned.iter().copied()).is_err() {
            set.extend(unsigned);
        }
        Ok(())
    }

    /// Add all positions of `other`.
    pub fn merge(&mut self, other: Self) {
        for (path, positions) in other.by_path {
            *self.by_path.entry(path).or_default() |= positions;
        }
    }

    /// Return the deleted positions of a data file; `None` where it has none.
    pub fn positions(&self, path: &str) -> Option<&RoaringTreemap> {
        self.by_path.get(path)
    }

    /// Return the number of deleted rows of a data file.
    pub fn count(&self, path: &str) -> u64 {
        self.positions(path).map_or(0, RoaringTreemap::len)
    }

    /// Return the data files with deleted rows, in no particular order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.by_path.keys().map(String::as_str)
    }

    /// Whether no position is deleted.
    pub fn is_empty(&self) -> bool {
        self.by_path.values().all(RoaringTreemap::is_empty)
    }
}

/// Return the number of consecutive rows from `start` on with the same path. Rows of one dictionary entry share a view,
/// which saves comparing most paths.
fn run_length(paths: &StringViewArray, start: usize) -> usize {
    let (views, path) = (paths.views(), paths.value(start));
    let view = views[start];
    let same = |row: &usize| views[*row] == view || paths.value(*row) == path;
    (start..paths.len()).take_while(same).count()
}

/// Return a column as string views, the layout of the decoder.
fn string_column(batch: &RecordBatch, name: &str) -> Result<StringViewArray> {
    let array = complete_column(batch, name)?;
    let strings =
        cast(array, &DataType::Utf8View).map_err(|_| wrong_type(name, array, "string"))?;
    Ok(strings.as_string_view().clone())
}

fn position_column(batch: &RecordBatch, name: &str) -> Result<Int64Array> {
    let array = complete_column(batch, name)?;
    match array.as_primitive_opt::<Int64Type>() {
        Some(positions) => Ok(positions.clone()),
        None => Err(wrong_type(name, array, "long")),
    }
}

fn complete_column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    let array = batch
        .column_by_name(name)
        .ok_or_else(|| Error::corrupt(WHAT, format!("column {name} is missing")))?;
    if array.null_count() > 0 {
        return Err(Error::corrupt(WHAT, format!("column {name} has a null")));
    }
    Ok(array)
}

fn wrong_type(name: &str, array: &ArrayRef, expected: &str) -> Error {
    Error::corrupt(
        WHAT,
        format!(
            "column {name} has another type; expected {expected}, got {}",
            ArrowName(array.data_type())
        ),
    )
}

//! The residual of a filter for each file of a plan, as a dictionary.
//!
//! Files of one partition share a residual: a plain column would repeat a long list of literals for every file.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use icefloe_format::Error as FormatError;

use super::columns::invalid;
use crate::error::Result;

const COLUMN: &str = "residual";

/// Predicate JSON by file; null where all rows match.
pub(crate) type Residuals = DictionaryArray<Int32Type>;

/// Return the type of a column of residuals.
pub(crate) fn residuals_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Return null residuals of `rows` files.
pub(super) fn all_null(rows: usize) -> Residuals {
    Residuals::new(Int32Array::new_null(rows), Arc::new(StringArray::new_null(0)))
}

/// Return the residuals of rows by their indices in `texts`.
///
/// # Errors
/// `InvalidArgument` for an index without a text.
pub(super) fn of(
    texts: Vec<String>,
    indices: Vec<Option<i32>>,
) -> icefloe_format::Result<Residuals> {
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    Residuals::try_new(Int32Array::from(indices), texts)
        .map_err(|error| FormatError::invalid("residuals", error.to_string()))
}

/// Concatenate rows of several columns, with only the texts that occur.
///
/// # Errors
/// `InvalidArgument` for more than 2 GiB of distinct texts.
pub(super) fn joined<'a>(
    parts: impl Iterator<Item = (&'a Residuals, Range<usize>)>,
) -> Result<Residuals> {
    let (mut texts, mut indices) = (DistinctTexts::default(), Vec::new());
    for (column, rows) in parts {
        let values = column.values().as_string::<i32>();
        let mut of_column: HashMap<i32, i32> = HashMap::new();
        for key in column.keys().slice(rows.start, rows.len()).iter() {
            let Some(key) = key else {
                indices.push(None);
                continue;
            };
            if let Some(index) = of_column.get(&key) {
                indices.push(Some(*index));
                continue;
            }
            let index = texts.index_of(values.value(usize::try_from(key).unwrap_or_default()))?;
            of_column.insert(key, index);
            indices.push(Some(index));
        }
    }
    Residuals::try_new(Int32Array::from(indices), Arc::new(texts.texts.finish())).map_err(invalid)
}

/// The distinct texts of several columns, in the order of their first use.
#[derive(Default)]
struct DistinctTexts<'a> {
    texts: StringBuilder,
    known: HashMap<&'a str, i32>,
}

impl<'a> DistinctTexts<'a> {
    /// Return the index of a text, which is added if it is new.
    fn index_of(&mut self, text: &'a str) -> Result<i32> {
        if let Some(index) = self.known.get(text) {
            return Ok(*index);
        }
        let bytes = self.texts.values_slice().len().saturating_add(text.len());
        let index = i32::try_from(self.known.len()).ok();
        let index = index.filter(|_| i32::try_from(bytes).is_ok()).ok_or_else(|| {
            let reason = "expected residuals of at most 2 GiB for the files of the plan; use a shorter filter";
            FormatError::invalid("filter", reason)
        })?;
        self.texts.append_value(text);
        self.known.insert(text, index);
        Ok(index)
    }
}

/// Return the files of a plan with only the texts of their own residuals.
///
/// # Errors
/// As for [`joined`].
pub(super) fn with_own_residuals(files: RecordBatch) -> Result<RecordBatch> {
    let Some((index, field)) = files.schema_ref().column_with_name(COLUMN) else {
        return Ok(files);
    };
    if *field.data_type() != residuals_type() {
        return Ok(files);
    }
    let mut columns = files.columns().to_vec();
    if let Some(column) = columns.get_mut(index) {
        let all = column.as_dictionary::<Int32Type>();
        let own = joined(std::iter::once((all, 0..all.len())))?;
        *column = Arc::new(own);
    }
    RecordBatch::try_new(files.schema(), columns).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;

    use super::*;

    fn column(texts: &[&str], indices: &[Option<i32>]) -> Residuals {
        of(texts.iter().map(|text| (*text).to_owned()).collect(), indices.to_vec()).unwrap()
    }

    #[test]
    fn joined_columns_have_each_occurring_text_once() {
        let first = column(&["a", "unused", "b"], &[Some(2), None, Some(0), Some(2)]);
        let second = column(&["b", "c"], &[Some(0), Some(0), Some(1)]);
        let all = joined([(&first, 0..4), (&second, 0..2)].into_iter()).unwrap();
        let texts = all.values().as_string::<i32>().iter().flatten().collect::<Vec<_>>();
        assert_eq!(texts, ["b", "a"]);
        let rows = [Some(0), None, Some(1), Some(0), Some(0), Some(0)];
        assert_eq!(all.keys().iter().collect::<Vec<_>>(), rows);
        assert_eq!(joined(std::iter::empty()).unwrap().len(), 0);
    }

    #[test]
    fn slice_of_files_has_only_its_own_residuals() {
        let all: ArrayRef = Arc::new(column(&["a", "b"], &[Some(0), Some(1), None]));
        let batch = RecordBatch::try_from_iter_with_nullable([(COLUMN, all, true)]).unwrap();
        let one = with_own_residuals(batch.slice(1, 1)).unwrap();
        let texts = one.column(0).as_dictionary::<Int32Type>().values().as_string::<i32>();
        assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("b")]);
        assert_eq!(one.column(0).null_count(), 0);
    }
}

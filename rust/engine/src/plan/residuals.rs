//! What is left of a filter for each file of a plan, each text once.
//!
//! Files of one partition share a residual, and without partitions all do: a column of texts would repeat a long
//! list of literals for every file.

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

/// Predicate JSON by file; null where nothing is left to filter.
pub(crate) type Residuals = DictionaryArray<Int32Type>;

/// The type of a column of residuals.
pub(crate) fn residuals_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Nothing left to filter in any of `rows` files.
pub(super) fn none(rows: usize) -> Residuals {
    Residuals::new(Int32Array::new_null(rows), Arc::new(StringArray::new_null(0)))
}

/// The residuals of rows whose texts stand in `texts`, by their places there.
///
/// # Errors
/// `InvalidArgument` for a place without a text.
pub(super) fn of(
    texts: Vec<String>,
    places: Vec<Option<i32>>,
) -> icefloe_format::Result<Residuals> {
    let texts: ArrayRef = Arc::new(StringArray::from(texts));
    Residuals::try_new(Int32Array::from(places), texts)
        .map_err(|error| FormatError::invalid("residuals", error.to_string()))
}

/// Some rows of several columns one after the other, with only the texts that they have.
///
/// # Errors
/// `InvalidArgument` where texts of more than 2 GiB differ.
pub(super) fn joined<'a>(
    parts: impl Iterator<Item = (&'a Residuals, Range<usize>)>,
) -> Result<Residuals> {
    let mut known: HashMap<&str, i32> = HashMap::new();
    let (mut texts, mut places) = (StringBuilder::new(), Vec::new());
    for (column, rows) in parts {
        let values = column.values().as_string::<i32>();
        let mut of_column: HashMap<i32, i32> = HashMap::new();
        for key in column.keys().slice(rows.start, rows.len()).iter() {
            let Some(key) = key else {
                places.push(None);
                continue;
            };
            if let Some(place) = of_column.get(&key) {
                places.push(Some(*place));
                continue;
            }
            let text = values.value(usize::try_from(key).unwrap_or_default());
            let place = match known.get(text) {
                Some(place) => *place,
                None => {
                    let bytes = texts.values_slice().len().saturating_add(text.len());
                    let place = i32::try_from(known.len()).ok();
                    let place = place.filter(|_| i32::try_from(bytes).is_ok()).ok_or_else(|| {
                        let reason = "what is left of it for the files of the plan takes more than 2 GiB; use a shorter filter";
                        FormatError::invalid("filter", reason)
                    })?;
                    texts.append_value(text);
                    known.insert(text, place);
                    place
                }
            };
            of_column.insert(key, place);
            places.push(Some(place));
        }
    }
    Residuals::try_new(Int32Array::from(places), Arc::new(texts.finish())).map_err(invalid)
}

/// The files of a plan with only those texts of residuals that they have.
///
/// # Errors
/// As for [`joined`].
pub(super) fn own(files: RecordBatch) -> Result<RecordBatch> {
    let Some((place, field)) = files.schema_ref().column_with_name(COLUMN) else {
        return Ok(files);
    };
    if *field.data_type() != residuals_type() {
        return Ok(files);
    }
    let mut columns = files.columns().to_vec();
    if let Some(column) = columns.get_mut(place) {
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

    fn column(texts: &[&str], places: &[Option<i32>]) -> Residuals {
        of(texts.iter().map(|text| (*text).to_owned()).collect(), places.to_vec()).unwrap()
    }

    #[test]
    fn joined_columns_have_each_text_once_and_no_other() {
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
    fn files_alone_have_their_own_texts_alone() {
        let all: ArrayRef = Arc::new(column(&["a", "b"], &[Some(0), Some(1), None]));
        let batch = RecordBatch::try_from_iter_with_nullable([(COLUMN, all, true)]).unwrap();
        let one = own(batch.slice(1, 1)).unwrap();
        let texts = one.column(0).as_dictionary::<Int32Type>().values().as_string::<i32>();
        assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("b")]);
        assert_eq!(one.column(0).null_count(), 0);
    }
}

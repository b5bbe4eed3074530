//! The sketch of a column, from its batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray};
use arrow_select::filter::filter;

use super::theta::ThetaSketch;
use super::values::add_values;
use crate::{Error, Result};

/// A sketch of the values of a column, whose batches may be dictionary arrays with keys of type `UInt32`.
///
/// Batches that share a dictionary mark its entries, and each entry is hashed once.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::types::UInt32Type;
/// use arrow_array::{ArrayRef, DictionaryArray};
/// use icefloe_format::sketch::ColumnSketch;
/// let batch: DictionaryArray<UInt32Type> = vec!["a", "b", "a"].into_iter().collect();
/// let mut sketch = ColumnSketch::default();
/// sketch.add(&(Arc::new(batch) as ArrayRef)).unwrap();
/// assert_eq!(sketch.finish().unwrap().estimate(), 2.0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct ColumnSketch {
    sketch: ThetaSketch,
    /// The dictionary of the last batches. Its entries are not in the sketch yet.
    dictionary: Option<ArrayRef>,
    /// For each entry of the dictionary, whether a row has it.
    used: Vec<bool>,
}

impl ColumnSketch {
    /// Add the values of a batch, as [`add_values`] does.
    ///
    /// # Errors
    /// The errors of [`add_values`], also for entries of earlier batches.
    pub fn add(&mut self, column: &ArrayRef) -> Result<()> {
        let Some(keyed) = column.as_dictionary_opt::<UInt32Type>() else {
            return add_values(&mut self.sketch, column);
        };
        if !self.dictionary.as_ref().is_some_and(|known| Arc::ptr_eq(known, keyed.values())) {
            self.add_entries()?;
            self.dictionary = Some(Arc::clone(keyed.values()));
            self.used.clear();
            self.used.resize(keyed.values().len(), false);
        }
        mark(keyed, &mut self.used);
        Ok(())
    }

    /// Return the sketch of all values.
    ///
    /// # Errors
    /// The errors of [`add_values`].
    pub fn finish(mut self) -> Result<ThetaSketch> {
        self.add_entries()?;
        Ok(self.sketch)
    }

    /// Add the entries of the last dictionary that rows have.
    fn add_entries(&mut self) -> Result<()> {
        let Some(dictionary) = self.dictionary.take() else { return Ok(()) };
        if self.used.iter().all(|used| *used) {
            return add_values(&mut self.sketch, &dictionary);
        }
        let used = filter(&dictionary, &BooleanArray::from(std::mem::take(&mut self.used)));
        let used = used.map_err(|error| Error::invalid("distinct values", error.to_string()))?;
        add_values(&mut self.sketch, &used)
    }
}

/// Mark the entries that rows have.
fn mark(rows: &DictionaryArray<UInt32Type>, used: &mut [bool]) {
    let mut mark = |key: u32| {
        if let Some(used) = used.get_mut(key as usize) {
            *used = true;
        }
    };
    let keys = rows.keys();
    match keys.null_count() {
        0 => keys.values().iter().for_each(|key| mark(*key)),
        _ => keys.iter().flatten().for_each(mark),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use arrow_array::{Decimal128Array, StringArray, UInt32Array};
    use arrow_cast::cast;

    use super::*;

    fn keyed(keys: Vec<Option<u32>>, entries: &ArrayRef) -> ArrayRef {
        let array = DictionaryArray::try_new(UInt32Array::from(keys), Arc::clone(entries));
        Arc::new(array.unwrap())
    }

    fn sketch(batches: &[ArrayRef]) -> ThetaSketch {
        let mut sketch = ColumnSketch::default();
        batches.iter().for_each(|batch| sketch.add(batch).unwrap());
        sketch.finish().unwrap()
    }

    #[test]
    fn dictionaries_have_the_sketch_of_their_values() {
        let texts: ArrayRef =
            Arc::new(StringArray::from_iter_values((0..9_000).map(|n| n.to_string())));
        let decimals: ArrayRef =
            Arc::new(Decimal128Array::from_iter_values((0..9_000).map(|n| n << 40)));
        for entries in [texts, decimals] {
            for step in [1, 2, 7] {
                let keys = |from: u32| {
                    let keys = (from..9_000).step_by(step);
                    keyed(keys.map(|key| (key % 5 > 0).then_some(key)).collect(), &entries)
                };
                let batches = [keys(0), keys(3), keyed(vec![Some(5), None], &entries.slice(1, 6))];
                let plain: Vec<ArrayRef> =
                    batches.iter().map(|it| cast(it, entries.data_type()).unwrap()).collect();
                assert_eq!(sketch(&batches).to_bytes(), sketch(&plain).to_bytes());
                let mixed = [batches[0].clone(), plain[1].clone(), batches[2].clone()];
                assert_eq!(sketch(&mixed).to_bytes(), sketch(&plain).to_bytes());
            }
        }
    }

    #[test]
    fn entries_without_rows_are_not_counted() {
        let entries: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
        assert_eq!(sketch(&[keyed(vec![Some(2), Some(2), None], &entries)]).estimate(), 1.0);
        assert_eq!(sketch(&[keyed(vec![None], &entries)]).estimate(), 0.0);
    }
}

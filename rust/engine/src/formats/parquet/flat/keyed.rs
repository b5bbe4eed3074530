//! Decoding of dictionary-encoded values to Arrow dictionary arrays.

use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, UInt32Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use parquet::basic::Type as PhysicalType;
use parquet::errors::{ParquetError, Result};

use super::encoded::{Encoded, unexpected};
use super::retain::retain;
use super::validity::Validity;
use super::value_type::{Page, ValueType};

/// A column whose pages are all dictionary-encoded, decoded to an Arrow dictionary array. The dictionary has the type
/// that `V` decodes to; the arrays of a column chunk share it.
pub(crate) struct Keyed<V>(pub(crate) V);

/// A dictionary array under construction.
pub(crate) struct Keys {
    keys: Vec<u32>,
    /// The dictionary; `None` until a page with values is decoded.
    dictionary: Option<ArrayRef>,
}

impl<V: ValueType> Keyed<V> {
    fn entries(&self, bytes: &[u8], entries: usize) -> Result<ArrayRef> {
        let mut values = self.0.values(0);
        let page = Page { bytes, dictionary: None, keys: &mut Vec::new() };
        self.0.append(page, &mut Encoded::Plain { at: 0 }, entries, &mut values)?;
        self.0.finish(values, None)
    }
}

impl<V: ValueType> ValueType for Keyed<V> {
    type Values = Keys;
    type Dictionary = ArrayRef;

    fn physical(&self) -> (PhysicalType, usize) {
        self.0.physical()
    }

    fn dictionary(&self, bytes: &[u8], entries: usize) -> Result<ArrayRef> {
        self.entries(bytes, entries)
    }

    fn values(&self, rows: usize) -> Keys {
        Keys { keys: Vec::with_capacity(rows), dictionary: None }
    }

    fn append(
        &self,
        page: Page<'_, ArrayRef>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut Keys,
    ) -> Result<()> {
        let dictionary = page.dictionary.ok_or_else(unexpected)?;
        encoded.keys(page.bytes, (count, dictionary.len()), &mut values.keys)?;
        values.dictionary.get_or_insert_with(|| Arc::clone(dictionary));
        Ok(())
    }

    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut Keys) {
        validity.spread(&mut values.keys, rows, valid, 0);
    }

    fn retain(&self, values: &mut Keys, kept: &BooleanBuffer) -> bool {
        retain(&mut values.keys, kept);
        true
    }

    fn finish(&self, values: Keys, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let keys = UInt32Array::new(values.keys.into(), nulls);
        let dictionary = match values.dictionary {
            Some(dictionary) => dictionary,
            // All rows are null.
            None => self.entries(&[], 0)?,
        };
        let array = DictionaryArray::<UInt32Type>::try_new(keys, dictionary);
        Ok(Arc::new(array.map_err(|error| ParquetError::ArrowError(error.to_string()))?))
    }
}

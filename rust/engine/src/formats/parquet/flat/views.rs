//! Decoding of byte arrays to Arrow views; dictionary-encoded rows share the bytes of their entries.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryViewArray, StringViewArray, UInt32Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_select::concat::concat;
use arrow_select::take::take;
use parquet::basic::Type as PhysicalType;
use parquet::errors::{ParquetError, Result};

use super::encoded::Encoded;
use super::retain::retain;
use super::texts::{ByteArrays, Content};
use super::validity::Validity;
use super::value_type::{Page, ValueType};

/// A column of byte arrays, decoded to an Arrow view array.
pub(crate) struct Views(pub(crate) Content);

/// Consecutive rows of a view array, from pages that all hold dictionary keys or all hold values.
struct Part {
    dictionary: Option<ArrayRef>,
    keys: Vec<u32>,
    plain: ByteArrays,
}

/// A view array under construction.
pub(crate) struct ViewParts {
    rows: usize,
    parts: Vec<Part>,
}

impl Part {
    fn len(&self) -> usize {
        self.keys.len() + self.plain.len()
    }
}

impl ViewParts {
    /// Return the part for the next rows: dictionary keys with a `dictionary`, values without.
    fn part(&mut self, dictionary: Option<&ArrayRef>) -> &mut Part {
        if self.parts.last().is_none_or(|last| last.dictionary.is_some() != dictionary.is_some()) {
            let (keys, values) = if dictionary.is_some() { (self.rows, 0) } else { (0, self.rows) };
            self.parts.push(Part {
                dictionary: dictionary.cloned(),
                keys: Vec::with_capacity(keys),
                plain: ByteArrays::new(values),
            });
        }
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }
}

impl Views {
    fn array(&self, values: ByteArrays, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let array = values.finish(self.0, nulls)?;
        Ok(match self.0 {
            Content::Text => Arc::new(StringViewArray::from(array.as_string::<i32>())),
            Content::Binary => Arc::new(BinaryViewArray::from(array.as_binary::<i32>())),
        })
    }
}

impl ValueType for Views {
    type Values = ViewParts;
    type Dictionary = ArrayRef;

    fn physical(&self) -> (PhysicalType, usize) {
        (PhysicalType::BYTE_ARRAY, 0)
    }

    fn dictionary(&self, bytes: &[u8], entries: usize) -> Result<ArrayRef> {
        let mut values = ByteArrays::new(0);
        values.append(bytes, &mut Encoded::Plain { at: 0 }, entries)?;
        self.array(values, None)
    }

    fn values(&self, rows: usize) -> ViewParts {
        ViewParts { rows, parts: Vec::new() }
    }

    fn append(
        &self,
        page: Page<'_, ArrayRef>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut ViewParts,
    ) -> Result<()> {
        let part = values.part(page.dictionary);
        match page.dictionary {
            Some(dictionary) => encoded.keys(page.bytes, (count, dictionary.len()), &mut part.keys),
            None => part.plain.append(page.bytes, encoded, count),
        }
    }

    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut ViewParts) {
        // If no part exists, all rows so far are null.
        let dictionary = values.parts.last().and_then(|last| last.dictionary.clone());
        let part = values.part(dictionary.as_ref());
        match dictionary {
            Some(_) => validity.spread(&mut part.keys, rows, valid, 0),
            None => part.plain.spread(validity, rows, valid),
        }
    }

    fn retain(&self, values: &mut ViewParts, kept: &BooleanBuffer) -> bool {
        if values.parts.iter().any(|part| part.dictionary.is_none()) {
            return false;
        }
        let mut start = 0;
        for part in &mut values.parts {
            let rows = part.keys.len();
            retain(&mut part.keys, &kept.slice(start, rows));
            start += rows;
        }
        true
    }

    fn finish(&self, values: ViewParts, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let failed = |error: arrow_schema::ArrowError| ParquetError::ArrowError(error.to_string());
        let mut arrays = Vec::with_capacity(values.parts.len());
        let mut start = 0;
        for part in values.parts {
            let rows = part.len();
            let nulls = nulls.as_ref().map(|nulls| nulls.slice(start, rows));
            start += rows;
            arrays.push(match part.dictionary {
                Some(dictionary) => {
                    let keys = UInt32Array::new(part.keys.into(), nulls);
                    take(&dictionary, &keys, None).map_err(failed)?
                }
                None => self.array(part.plain, nulls)?,
            });
        }
        match arrays.as_slice() {
            [] => self.array(ByteArrays::new(0), None),
            [array] => Ok(Arc::clone(array)),
            arrays => {
                let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
                concat(&arrays).map_err(failed)
            }
        }
    }
}

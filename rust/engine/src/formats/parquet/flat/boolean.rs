//! Decoding of booleans.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use parquet::basic::Type as PhysicalType;
use parquet::errors::Result;

use super::encoded::{Encoded, ended, unexpected};
use super::validity::Validity;
use super::value_type::{Page, ValueType};

/// A column of booleans, which cannot be dictionary-encoded.
pub(crate) struct Boolean;

impl ValueType for Boolean {
    type Values = Vec<bool>;
    type Dictionary = ();

    fn physical(&self) -> (PhysicalType, usize) {
        (PhysicalType::BOOLEAN, 0)
    }

    fn dictionary(&self, _: &[u8], _: usize) -> Result<()> {
        Err(unexpected())
    }

    fn values(&self, rows: usize) -> Vec<bool> {
        Vec::with_capacity(rows)
    }

    fn append(
        &self,
        page: Page<'_, ()>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut Vec<bool>,
    ) -> Result<()> {
        match encoded {
            Encoded::Bits { at, next } => {
                let bits = page.bytes.get(*at..).unwrap_or_default();
                let end = next.checked_add(count).ok_or_else(ended)?;
                if end > bits.len().saturating_mul(8) {
                    return Err(ended());
                }
                values.extend((*next..end).map(|bit| bits[bit / 8] >> (bit % 8) & 1 == 1));
                *next = end;
            }
            Encoded::Runs { at, runs } => {
                page.keys.clear();
                runs.read(page.bytes.get(*at..).unwrap_or_default(), count, page.keys)?;
                values.extend(page.keys.iter().map(|value| *value == 1));
            }
            _ => return Err(unexpected()),
        }
        Ok(())
    }

    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut Vec<bool>) {
        validity.spread(values, rows, valid, false);
    }

    fn finish(&self, values: Vec<bool>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(Arc::new(BooleanArray::new(BooleanBuffer::from(values), nulls)))
    }
}

//! Growing offsets and nulls of a column of lists or maps.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, MapArray, StructArray};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Fields};

use super::cursor::Malformed;
use super::flat_column::invalid_column;
use super::forecast::Forecast;
use crate::Result;

/// The end of each list or map among the items of a column, and the nulls.
#[derive(Debug)]
pub(super) struct ListOffsets {
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl ListOffsets {
    pub(super) fn new() -> Self {
        Self { offsets: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    /// End a list or map. The column has `length` items in total.
    #[inline(always)]
    pub(super) fn close(&mut self, length: usize) -> Result<(), Malformed> {
        self.offsets.push(i32::try_from(length).map_err(|_| Malformed::ColumnOverflow)?);
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.offsets.resize(self.offsets.len() + count, end);
        self.nulls.append_n_nulls(count);
    }

    /// Return the bytes of the offsets.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.offsets.as_slice())
    }

    pub(super) fn reserve(&mut self, forecast: Forecast) {
        forecast.reserve(&mut self.offsets);
    }

    /// Return the offsets and the nulls, and start an empty column.
    pub(super) fn take(&mut self) -> (OffsetBuffer<i32>, Option<NullBuffer>) {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        (OffsetBuffer::new(ScalarBuffer::from(offsets)), self.nulls.finish())
    }

    /// Return the maps with these keys and values as their entries, and start an empty column.
    pub(super) fn take_maps(&mut self, keys: ArrayRef, values: ArrayRef) -> Result<ArrayRef> {
        let fields = Fields::from(vec![
            Field::new("key", keys.data_type().clone(), false),
            Field::new("value", values.data_type().clone(), true),
        ]);
        let entries = StructArray::try_new(fields, vec![keys, values], None)
            .map_err(|error| invalid_column(&error))?;
        let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        let (offsets, nulls) = self.take();
        let array = MapArray::try_new(field, offsets, entries, nulls, false);
        Ok(Arc::new(array.map_err(|error| invalid_column(&error))?))
    }
}

//! Growing list columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::Field;

use super::column::{Column, invalid_column};
use super::cursor::{Cursor, Malformed};
use super::forecast::Forecast;
use super::schema::{AvroType, Kind};
use super::struct_column::Selection;
use crate::spec::types::ListType;
use crate::{Error, Result};

/// A column of lists; the child field is named `item` and may be null.
#[derive(Debug)]
pub(super) struct ListColumn {
    items: Box<Column>,
    offsets: Vec<i32>,
    length: usize,
    nulls: NullBufferBuilder,
}

impl ListColumn {
    pub(super) fn compile(
        wanted: &ListType,
        written: Option<&AvroType>,
        selection: &Selection,
    ) -> Result<Self> {
        let items = match written.map(|written| &written.kind) {
            None => None,
            // An item without a byte would let a count of any size pass unchecked.
            Some(Kind::Array { items, .. }) if items.min_bytes() > 0 => Some(&**items),
            Some(_) => return Err(Error::corrupt("Avro schema", "a list is not written as one")),
        };
        let items = Box::new(Column::compile(&wanted.element, items, selection)?);
        Ok(Self { items, offsets: vec![0], length: 0, nulls: NullBufferBuilder::new(0) })
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        loop {
            let items = cursor.begin_items()?;
            if items.count == 0 {
                break;
            }
            for _ in 0..items.count {
                self.items.read(cursor)?;
            }
            cursor.end_items(items)?;
            self.length += items.count;
        }
        self.close()?;
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.offsets.resize(self.offsets.len() + count, end);
        self.nulls.append_n_nulls(count);
    }

    pub(super) fn reserve(&mut self, forecast: Forecast) {
        forecast.reserve(&mut self.offsets);
        self.items.reserve(forecast);
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        self.length = 0;
        let items = self.items.finish()?;
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let array = ListArray::try_new(field, offsets, items, self.nulls.finish());
        Ok(Arc::new(array.map_err(|error| invalid_column(&error))?))
    }

    fn close(&mut self) -> Result<(), Malformed> {
        let end = i32::try_from(self.length).map_err(|_| Malformed::ColumnOverflow)?;
        self.offsets.push(end);
        Ok(())
    }
}

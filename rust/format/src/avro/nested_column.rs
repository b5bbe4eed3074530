//! Growing columns of lists and of maps of any types. A map is an Avro map, or an array of key-value records.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray, MapArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{Field, Fields};

use super::cursor::{Cursor, Malformed};
use super::decoder::{ColumnDecoder, Selection};
use super::flat_column::invalid_column;
use super::forecast::Forecast;
use super::schema::{AvroType, Kind};
use crate::spec::types::{ListType, MapType};
use crate::{Error, Result};

/// A column of lists; the child field is named `item` and may be null.
#[derive(Debug)]
pub(super) struct ListColumn<C> {
    items: Box<C>,
    offsets: Vec<i32>,
    length: usize,
    nulls: NullBufferBuilder,
}

impl<C: ColumnDecoder> ListColumn<C> {
    pub(super) fn compile(
        wanted: &ListType,
        written: Option<&AvroType>,
        selection: &Selection,
    ) -> Result<Self> {
        let items = match written.map(|written| &written.kind) {
            None => None,
            // The count of items is checked against the bytes left, so an item must have at least one byte.
            Some(Kind::Array { items, .. }) if items.min_bytes() > 0 => Some(&**items),
            Some(_) => {
                return Err(Error::corrupt(
                    "Avro schema",
                    "the written type does not fit; expected an array",
                ));
            }
        };
        let items = Box::new(C::compile(&wanted.element, items, selection)?);
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

/// A column of maps, with entries `key` and `value`. Duplicate keys are retained.
#[derive(Debug)]
pub(super) struct AnyMapColumn<C> {
    keys: Box<C>,
    values: Box<C>,
    /// Whether the writer put the value before its key.
    value_first: bool,
    offsets: Vec<i32>,
    length: usize,
    nulls: NullBufferBuilder,
}

impl<C: ColumnDecoder> AnyMapColumn<C> {
    pub(super) fn compile(
        wanted: &MapType,
        written: Option<&AvroType>,
        selection: &Selection,
    ) -> Result<Self> {
        let text = AvroType::string()?;
        let (key, value, value_first) = match written.map(|written| &written.kind) {
            None => (None, None, false),
            Some(Kind::Map { values, .. }) => (Some(&text), Some(&**values), false),
            Some(Kind::Array { items, .. }) => {
                let (key, value, value_first) = entry(wanted, items).ok_or_else(|| {
                    Error::corrupt("Avro schema", "the written type does not fit; expected a map or an array of key-value records")
                })?;
                (Some(key), Some(value), value_first)
            }
            Some(_) => {
                return Err(Error::corrupt(
                    "Avro schema",
                    "the written type does not fit; expected a map or an array of key-value records",
                ));
            }
        };
        let keys = Box::new(C::compile(&wanted.key, key, selection)?);
        let values = Box::new(C::compile(&wanted.value, value, selection)?);
        let (offsets, nulls) = (vec![0], NullBufferBuilder::new(0));
        Ok(Self { keys, values, value_first, offsets, length: 0, nulls })
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        loop {
            let items = cursor.begin_items()?;
            if items.count == 0 {
                break;
            }
            for _ in 0..items.count {
                if self.value_first {
                    self.values.read(cursor)?;
                    self.keys.read(cursor)?;
                } else {
                    self.keys.read(cursor)?;
                    self.values.read(cursor)?;
                }
            }
            cursor.end_items(items)?;
            self.length += items.count;
        }
        let end = i32::try_from(self.length).map_err(|_| Malformed::ColumnOverflow)?;
        self.offsets.push(end);
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.offsets.resize(self.offsets.len() + count, end);
        self.nulls.append_n_nulls(count);
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let (keys, values) = (self.keys.finish()?, self.values.finish()?);
        if keys.null_count() > 0 {
            return Err(Error::corrupt("Avro column", "a map has a null key"));
        }
        let fields = Fields::from(vec![
            Field::new("key", keys.data_type().clone(), false),
            Field::new("value", values.data_type().clone(), true),
        ]);
        let entries = StructArray::try_new(fields, vec![keys, values], None)
            .map_err(|error| invalid_column(&error))?;
        let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        self.length = 0;
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let array = MapArray::try_new(field, offsets, entries, self.nulls.finish(), false);
        Ok(Arc::new(array.map_err(|error| invalid_column(&error))?))
    }
}

/// Return the types of key and value in a key-value record, and whether the value comes first.
fn entry<'r>(wanted: &MapType, items: &'r AvroType) -> Option<(&'r AvroType, &'r AvroType, bool)> {
    let [first, second] = items.as_record()?.fields.as_slice() else { return None };
    // The count of items is checked against the bytes left, so an item must have at least one byte.
    if items.min_bytes() == 0 {
        return None;
    }
    let fits = |found: Option<i32>, id: i32| found.is_none_or(|found| found == id);
    if fits(first.field_id, wanted.key_id) && fits(second.field_id, wanted.value_id) {
        return Some((&first.field_type, &second.field_type, false));
    }
    let swapped = first.field_id == Some(wanted.value_id) && second.field_id == Some(wanted.key_id);
    swapped.then_some((&second.field_type, &first.field_type, true))
}

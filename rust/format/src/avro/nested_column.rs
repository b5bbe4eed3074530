//! Growing columns of lists and of maps of any types. A map is an Avro map, or an array of key-value records.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray};
use arrow_schema::Field;

use super::cursor::{Cursor, Malformed};
use super::decoder::{ColumnDecoder, Selection};
use super::flat_column::invalid_column;
use super::forecast::Forecast;
use super::list_offsets::ListOffsets;
use super::schema::{AvroType, Kind};
use crate::spec::types::{ListType, MapType};
use crate::{Error, Result};

/// A column of lists; the child field is named `item` and may be null.
#[derive(Debug)]
pub(super) struct ListColumn<C> {
    items: Box<C>,
    length: usize,
    ends: ListOffsets,
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
        Ok(Self { items, length: 0, ends: ListOffsets::new() })
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
        self.ends.close(self.length)
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.ends.push_nulls(count);
    }

    pub(super) fn reserve(&mut self, forecast: Forecast) {
        self.ends.reserve(forecast);
        self.items.reserve(forecast);
    }

    pub(super) fn bytes(&self) -> usize {
        self.ends.bytes().saturating_add(self.items.bytes())
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        self.length = 0;
        let (offsets, nulls) = self.ends.take();
        let items = self.items.finish()?;
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        let array = ListArray::try_new(field, offsets, items, nulls);
        Ok(Arc::new(array.map_err(|error| invalid_column(&error))?))
    }
}

/// A column of maps, with entries `key` and `value`. Duplicate keys are retained.
#[derive(Debug)]
pub(super) struct AnyMapColumn<C> {
    keys: Box<C>,
    values: Box<C>,
    /// Whether the writer put the value before its key.
    value_first: bool,
    length: usize,
    ends: ListOffsets,
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
        Ok(Self { keys, values, value_first, length: 0, ends: ListOffsets::new() })
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
        self.ends.close(self.length)
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.ends.push_nulls(count);
    }

    pub(super) fn bytes(&self) -> usize {
        let entries = self.keys.bytes().saturating_add(self.values.bytes());
        self.ends.bytes().saturating_add(entries)
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let (keys, values) = (self.keys.finish()?, self.values.finish()?);
        if keys.null_count() > 0 {
            return Err(Error::corrupt("Avro column", "a map has a null key"));
        }
        self.length = 0;
        self.ends.take_maps(keys, values)
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

//! Growing columns of maps by integer key: the statistics of a manifest.
//!
//! They are most of a manifest's bytes, so their loops know the two value types there are.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, MapArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};

use super::bytes_column::{VariableBytes, push_zeros};
use super::cursor::{Cursor, Malformed};
use super::decoder::Selection;
use super::flat_column::invalid_column;
use super::forecast::Forecast;
use super::presence::Presence;
use super::schema::{AvroType, Kind};
use crate::spec::types::{MapType, PrimitiveType, Type};
use crate::{Error, Result};

/// A column of `map<int, long>` or `map<int, binary>`, entries `key` and `value`.
#[derive(Debug)]
pub(super) struct MapColumn {
    keys: Vec<i32>,
    values: MapValues,
    value_presence: Presence,
    /// Whether the writer stored keys as longs.
    long_keys: bool,
    /// Keys to keep, in ascending order; all of them if `None`.
    kept: Option<Arc<[i32]>>,
    places: Places,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

/// Where the last map that was searched had the kept keys, if it had them all: writers give the
/// columns of one file in the order of those of the last.
#[derive(Debug, Default)]
struct Places {
    count: usize,
    found: Vec<(usize, i32)>,
}

#[derive(Debug)]
enum MapValues {
    Long(Vec<i64>),
    Binary(VariableBytes),
}

impl MapColumn {
    /// Whether columns of this type are of this kind.
    pub(super) fn holds(wanted: &MapType) -> bool {
        wanted.key == Type::Primitive(PrimitiveType::Int)
            && matches!(wanted.value, Type::Primitive(PrimitiveType::Long | PrimitiveType::Binary))
    }

    pub(super) fn compile(
        wanted: &MapType,
        written: Option<&AvroType>,
        selection: &Selection,
    ) -> Result<Self> {
        let values = match (&wanted.key, &wanted.value) {
            (Type::Primitive(PrimitiveType::Int), Type::Primitive(PrimitiveType::Long)) => {
                MapValues::Long(Vec::new())
            }
            (Type::Primitive(PrimitiveType::Int), Type::Primitive(PrimitiveType::Binary)) => {
                MapValues::Binary(VariableBytes::new())
            }
            _ => {
                return Err(Error::unsupported(format!(
                    "Avro map<{}, {}>",
                    wanted.key, wanted.value
                )));
            }
        };
        let (value_presence, long_keys) = match written {
            None => (Presence::Always, false),
            Some(written) => entry_shape(wanted, written).ok_or_else(|| {
                Error::corrupt("Avro schema", "a map by int is no array of int keys and values")
            })?,
        };
        let kept = selection.map_keys.clone();
        let (offsets, nulls) = (vec![0], NullBufferBuilder::new(0));
        let places = Places::default();
        let keys = Vec::new();
        Ok(Self { keys, values, value_presence, long_keys, kept, places, offsets, nulls })
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        loop {
            let items = cursor.begin_items()?;
            if items.count == 0 {
                break;
            }
            if self.kept.is_none() && self.is_plain() {
                self.read_all(cursor, items.count)?;
            } else {
                self.read_kept(cursor, items.count)?;
            }
            cursor.end_items(items)?;
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
        forecast.reserve(&mut self.keys);
        match &mut self.values {
            MapValues::Long(values) => forecast.reserve(values),
            MapValues::Binary(values) => values.reserve(forecast),
        }
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let keys = Int32Array::from(std::mem::take(&mut self.keys));
        let values: ArrayRef = match &mut self.values {
            MapValues::Long(values) => Arc::new(Int64Array::from(std::mem::take(values))),
            MapValues::Binary(values) => {
                let (offsets, data) = values.take();
                let array = BinaryArray::try_new(offsets, data, None);
                Arc::new(array.map_err(|error| invalid_column(&error))?)
            }
        };
        let fields = Fields::from(vec![
            Field::new("key", DataType::Int32, false),
            Field::new("value", values.data_type().clone(), true),
        ]);
        let entries = StructArray::try_new(fields, vec![Arc::new(keys), values], None)
            .map_err(|error| invalid_column(&error))?;
        let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let array = MapArray::try_new(field, offsets, entries, self.nulls.finish(), false);
        Ok(Arc::new(array.map_err(|error| invalid_column(&error))?))
    }

    #[inline(always)]
    fn read_all(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        // Room for all is made once, and then filled without asking again; a local cursor stays in
        // registers.
        let start = self.keys.len();
        push_zeros(&mut self.keys, count);
        let keys = self.keys.get_mut(start..).unwrap_or_default();
        let mut ahead = *cursor;
        match &mut self.values {
            MapValues::Long(values) => {
                push_zeros(values, count);
                let values = values.get_mut(start..).unwrap_or_default();
                for (key, value) in keys.iter_mut().zip(values) {
                    (*key, *value) = ahead.int_and_long()?;
                }
            }
            MapValues::Binary(values) => values.read_keyed(&mut ahead, keys)?,
        }
        *cursor = ahead;
        Ok(())
    }

    fn read_kept(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        if self.places.count == count && self.read_at_places(cursor)? {
            return Ok(());
        }
        self.search(cursor, count)
    }

    /// Take the kept keys from where they were last; false, and nothing done, if they are not there.
    fn read_at_places(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Malformed> {
        let start = self.keys.len();
        let mut ahead = *cursor;
        let mut passed = 0;
        for (place, expected) in &self.places.found {
            let key = match &mut self.values {
                MapValues::Long(values) => {
                    ahead.skip_varints(2 * (place - passed))?;
                    let (key, value) = ahead.int_and_long()?;
                    values.push(value);
                    key
                }
                MapValues::Binary(values) => {
                    ahead.skip_ints_and_bytes(place - passed)?;
                    let key = ahead.int()?;
                    values.push(ahead.bytes()?)?;
                    key
                }
            };
            self.keys.push(key);
            passed = place + 1;
            if key != *expected {
                self.truncate(start);
                return Ok(false);
            }
        }
        let left = self.places.count - passed;
        match &self.values {
            MapValues::Long(_) => ahead.skip_varints(2 * left)?,
            MapValues::Binary(_) => ahead.skip_ints_and_bytes(left)?,
        }
        *cursor = ahead;
        Ok(true)
    }

    /// Whether every entry is an int and a value.
    fn is_plain(&self) -> bool {
        self.value_presence == Presence::Always && !self.long_keys
    }

    fn truncate(&mut self, length: usize) {
        self.keys.truncate(length);
        match &mut self.values {
            MapValues::Long(values) => values.truncate(length),
            MapValues::Binary(values) => values.truncate(length),
        }
    }

    /// Look at every key.
    fn search(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        let mut found = std::mem::take(&mut self.places.found);
        found.clear();
        for place in 0..count {
            // No column has an id outside 32 bits.
            let key = if self.long_keys {
                i32::try_from(cursor.long()?).ok()
            } else {
                Some(cursor.int()?)
            };
            let present = self.value_presence.read(cursor)?;
            let is_kept =
                |key: i32| self.kept.as_ref().is_none_or(|kept| kept.binary_search(&key).is_ok());
            let key = key.filter(|key| is_kept(*key));
            found.extend(key.map(|key| (place, key)));
            match &mut self.values {
                MapValues::Long(values) if present => {
                    let value = cursor.long()?;
                    if let Some(key) = key {
                        self.keys.push(key);
                        values.push(value);
                    }
                }
                MapValues::Binary(values) if present => {
                    let value = cursor.bytes()?;
                    if let Some(key) = key {
                        self.keys.push(key);
                        values.push(value)?;
                    }
                }
                // A statistic without a value says nothing, as one that is not there.
                _ => {}
            }
        }
        let all = self.kept.as_ref().is_some_and(|kept| kept.len() == found.len());
        let known = all && self.is_plain();
        self.places = Places { count: if known { count } else { 0 }, found };
        Ok(())
    }

    #[inline]
    fn close(&mut self) -> Result<(), Malformed> {
        let end = i32::try_from(self.keys.len()).map_err(|_| Malformed::ColumnOverflow)?;
        self.offsets.push(end);
        Ok(())
    }
}

/// How the values' presence is written and whether keys are longs, if `written` is an array of matching
/// key-value records.
fn entry_shape(wanted: &MapType, written: &AvroType) -> Option<(Presence, bool)> {
    let Kind::Array { items, .. } = &written.kind else { return None };
    let [key, value] = items.as_record()?.fields.as_slice() else { return None };
    let integral = |kind: &Kind| matches!(kind, Kind::Int | Kind::Long);
    let in_order = key.field_id.is_none_or(|id| id == wanted.key_id)
        && value.field_id.is_none_or(|id| id == wanted.value_id);
    let (presence, value) = Presence::of(&value.field_type).ok()?;
    let matches = match (&wanted.value, value) {
        (_, None) => true,
        (Type::Primitive(PrimitiveType::Long), Some(value)) => integral(&value.kind),
        (_, Some(value)) => matches!(value.kind, Kind::Bytes | Kind::String),
    };
    let fits = in_order && integral(&key.field_type.kind) && matches;
    fits.then_some((presence, key.field_type.kind == Kind::Long))
}

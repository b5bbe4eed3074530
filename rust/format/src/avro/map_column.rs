//! Growing columns of maps from int: the statistics of a manifest.
//!
//! They are most of a manifest's bytes, so the loops are specialised for the two value types, long and binary.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int32Array, Int64Array};

use super::bytes_column::{VariableBytes, push_zeros};
use super::cursor::{Cursor, Malformed};
use super::decoder::Selection;
use super::flat_column::invalid_column;
use super::forecast::Forecast;
use super::list_offsets::ListOffsets;
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
    /// Whether the writer stored keys as long.
    long_keys: bool,
    /// Keys to decode, in ascending order; `None` for all.
    requested: Option<Arc<[i32]>>,
    positions: KeyPositions,
    ends: ListOffsets,
}

/// The positions of the requested keys in the last map that had them all: writers list the columns of all files in the
/// same order.
#[derive(Debug, Default)]
struct KeyPositions {
    count: usize,
    found: Vec<(usize, i32)>,
}

#[derive(Debug)]
enum MapValues {
    Long(Vec<i64>),
    Binary(VariableBytes),
}

impl MapColumn {
    /// Return whether this column type decodes a map type.
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
                    "the Avro type map<{}, {}>",
                    wanted.key, wanted.value
                )));
            }
        };
        let (value_presence, long_keys) = match written {
            None => (Presence::Always, false),
            Some(written) => entry_shape(wanted, written).ok_or_else(|| {
                Error::corrupt("Avro schema", "the written type does not fit; expected an array of records of int keys and values")
            })?,
        };
        let requested = selection.map_keys.clone();
        let positions = KeyPositions::default();
        let (keys, ends) = (Vec::new(), ListOffsets::new());
        Ok(Self { keys, values, value_presence, long_keys, requested, positions, ends })
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        loop {
            let items = cursor.begin_items()?;
            if items.count == 0 {
                break;
            }
            if self.requested.is_none() && self.is_plain() {
                self.read_all(cursor, items.count)?;
            } else {
                self.read_requested(cursor, items.count)?;
            }
            cursor.end_items(items)?;
        }
        self.ends.close(self.keys.len())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.ends.push_nulls(count);
    }

    pub(super) fn reserve(&mut self, forecast: Forecast) {
        self.ends.reserve(forecast);
        forecast.reserve(&mut self.keys);
        match &mut self.values {
            MapValues::Long(values) => forecast.reserve(values),
            MapValues::Binary(values) => values.reserve(forecast),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let values = match &self.values {
            MapValues::Long(values) => size_of_val(values.as_slice()),
            MapValues::Binary(values) => values.bytes(),
        };
        self.ends.bytes() + size_of_val(self.keys.as_slice()) + values
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
        self.ends.take_maps(Arc::new(keys), values)
    }

    #[inline(always)]
    fn read_all(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        // Capacity is reserved once for all items; the local cursor stays in registers.
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

    fn read_requested(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        if self.positions.count == count && self.read_at_positions(cursor)? {
            return Ok(());
        }
        self.search(cursor, count)
    }

    /// Read the requested keys at their last positions; false, without an effect, if they are not there.
    fn read_at_positions(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Malformed> {
        let start = self.keys.len();
        let mut ahead = *cursor;
        let mut passed = 0;
        for (position, expected) in &self.positions.found {
            let key = match &mut self.values {
                MapValues::Long(values) => {
                    ahead.skip_varints(2 * (position - passed))?;
                    let (key, value) = ahead.int_and_long()?;
                    values.push(value);
                    key
                }
                MapValues::Binary(values) => {
                    ahead.skip_ints_and_bytes(position - passed)?;
                    let key = ahead.int()?;
                    values.push(ahead.bytes()?)?;
                    key
                }
            };
            self.keys.push(key);
            passed = position + 1;
            if key != *expected {
                self.truncate(start);
                return Ok(false);
            }
        }
        let left = self.positions.count - passed;
        match &self.values {
            MapValues::Long(_) => ahead.skip_varints(2 * left)?,
            MapValues::Binary(_) => ahead.skip_ints_and_bytes(left)?,
        }
        *cursor = ahead;
        Ok(true)
    }

    /// Return whether every entry is an int and a non-null value.
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

    /// Read every key.
    fn search(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        let mut found = std::mem::take(&mut self.positions.found);
        found.clear();
        for position in 0..count {
            // Field ids have 32 bits; other keys are skipped.
            let key = if self.long_keys {
                i32::try_from(cursor.long()?).ok()
            } else {
                Some(cursor.int()?)
            };
            let present = self.value_presence.read(cursor)?;
            let is_kept = |key: i32| {
                self.requested
                    .as_ref()
                    .is_none_or(|requested| requested.binary_search(&key).is_ok())
            };
            let key = key.filter(|key| is_kept(*key));
            found.extend(key.map(|key| (position, key)));
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
                // A null statistic is unknown, like a missing one.
                _ => {}
            }
        }
        let all = self.requested.as_ref().is_some_and(|requested| requested.len() == found.len());
        let known = all && self.is_plain();
        self.positions = KeyPositions { count: if known { count } else { 0 }, found };
        Ok(())
    }
}

/// Return the encoding of the values' presence and whether keys are long, if `written` is an array of matching
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

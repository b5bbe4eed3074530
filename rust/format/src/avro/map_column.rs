//! Growing columns of maps by integer key: the statistics of a manifest.
//!
//! They are most of a manifest's bytes, so their loops know the two value types there are.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, Int32Array, Int64Array, MapArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};

use super::bytes_column::VariableBytes;
use super::column::{Presence, invalid_column};
use super::cursor::{Cursor, Malformed};
use super::schema::{AvroType, Kind};
use super::struct_column::Selection;
use crate::spec::types::{MapType, PrimitiveType, Type};
use crate::{Error, Result};

/// A column of `map<int, long>` or `map<int, binary>`, entries `key` and `value`.
#[derive(Debug)]
pub(super) struct MapColumn {
    keys: Vec<i32>,
    values: MapValues,
    value_presence: Presence,
    /// Keys to keep, in ascending order; all of them if `None`.
    kept: Option<Arc<[i32]>>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

#[derive(Debug)]
enum MapValues {
    Long(Vec<i64>),
    Binary(VariableBytes),
}

impl MapColumn {
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
        let value_presence = match written {
            None => Presence::Always,
            Some(written) => value_presence(wanted, written).ok_or_else(|| {
                Error::corrupt("Avro schema", "a map by int is no array of int keys and values")
            })?,
        };
        let kept = selection.map_keys.clone();
        let (offsets, nulls) = (vec![0], NullBufferBuilder::new(0));
        Ok(Self { keys: Vec::new(), values, value_presence, kept, offsets, nulls })
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        loop {
            let count = cursor.bounded_count()?;
            if count == 0 {
                break;
            }
            if self.kept.is_none() && self.value_presence == Presence::Always {
                self.read_all(cursor, count)?;
            } else {
                self.read_kept(cursor, count)?;
            }
        }
        self.close()?;
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_null(&mut self) {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.offsets.push(end);
        self.nulls.append_null();
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

    #[inline]
    fn read_all(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        // Room for all is made once, and then filled without asking again.
        let start = self.keys.len();
        self.keys.resize(start + count, 0);
        let keys = self.keys.get_mut(start..).unwrap_or_default();
        match &mut self.values {
            MapValues::Long(values) => {
                values.resize(start + count, 0);
                let values = values.get_mut(start..).unwrap_or_default();
                for (key, value) in keys.iter_mut().zip(values) {
                    *key = cursor.int()?;
                    *value = cursor.long()?;
                }
            }
            MapValues::Binary(values) => {
                values.reserve(count);
                for key in keys {
                    *key = cursor.int()?;
                    values.push_next(cursor)?;
                }
            }
        }
        Ok(())
    }

    fn read_kept(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<(), Malformed> {
        for _ in 0..count {
            let key = cursor.int()?;
            let present = self.value_presence.read(cursor)?;
            let kept = self.kept.as_ref().is_none_or(|kept| kept.binary_search(&key).is_ok());
            match &mut self.values {
                MapValues::Long(values) if present => {
                    let value = cursor.long()?;
                    if kept {
                        self.keys.push(key);
                        values.push(value);
                    }
                }
                MapValues::Binary(values) if present => {
                    let value = cursor.bytes()?;
                    if kept {
                        self.keys.push(key);
                        values.push(value)?;
                    }
                }
                // A statistic without a value says nothing, as one that is not there.
                _ => {}
            }
        }
        Ok(())
    }

    #[inline]
    fn close(&mut self) -> Result<(), Malformed> {
        let end = i32::try_from(self.keys.len()).map_err(|_| Malformed::ColumnOverflow)?;
        self.offsets.push(end);
        Ok(())
    }
}

/// How the values' presence is written, if `written` is an array of matching key-value records.
fn value_presence(wanted: &MapType, written: &AvroType) -> Option<Presence> {
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
    (in_order && integral(&key.field_type.kind) && matches).then_some(presence)
}

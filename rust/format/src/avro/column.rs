//! Growing columns of any type.
//!
//! The conversion from the writer's encoding of a field is determined once, when a column is compiled. Reading a value
//! then copies bytes from the block to the Arrow buffers.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, NullArray};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder};

use super::bytes_column::{BytesColumn, DecimalColumn, FixedColumn};
use super::cursor::{Cursor, Malformed};
use super::decoder::{ColumnDecoder, Selection};
use super::flat_column::FlatColumn;
use super::forecast::Forecast;
use super::map_column::MapColumn;
use super::nested_column::{AnyMapColumn, ListColumn};
use super::presence::Presence;
use super::schema::{AvroType, Kind, Logical};
use super::struct_column::RecordColumn;
use crate::spec::arrow_schema::primitive_to_arrow;
use crate::spec::types::{PrimitiveType, Type};
use crate::{Error, Result};

/// The values of a field.
#[derive(Debug)]
pub struct Column {
    presence: Presence,
    values: Values,
    /// Nulls after the values, which are appended together.
    pending_nulls: usize,
}

#[derive(Debug)]
enum Values {
    Boolean(BooleanBufferBuilder, NullBufferBuilder),
    Int(FlatColumn<i32>),
    /// An int column that the writer stored as long.
    LongAsInt(FlatColumn<i32>),
    Long(FlatColumn<i64>),
    /// Microseconds that the writer stored as milliseconds.
    Millis(FlatColumn<i64>),
    Float(FlatColumn<f32>),
    Double(FlatColumn<f64>),
    /// A double column that the writer stored as float.
    FloatAsDouble(FlatColumn<f64>),
    Decimal(DecimalColumn),
    Bytes(BytesColumn),
    Fixed(FixedColumn),
    List(ListColumn<Column>),
    Map(MapColumn),
    AnyMap(AnyMapColumn<Column>),
    Struct(RecordColumn<Column>),
    /// The number of values of an unknown type, which are all null.
    Nulls(usize),
}

impl ColumnDecoder for Column {
    fn compile(wanted: &Type, written: Option<&AvroType>, selection: &Selection) -> Result<Self> {
        let (presence, value) = match written {
            None => (Presence::Never, None),
            Some(written) => Presence::of(written)?,
        };
        let values = match wanted {
            Type::Primitive(primitive) => Values::compile(*primitive, value)?,
            Type::List(list) => Values::List(ListColumn::compile(list, value, selection)?),
            Type::Map(map) if MapColumn::holds(map) && !selection.null_map_values => {
                Values::Map(MapColumn::compile(map, value, selection)?)
            }
            Type::Map(map) => Values::AnyMap(AnyMapColumn::compile(map, value, selection)?),
            Type::Struct(fields) => {
                Values::Struct(RecordColumn::compile(fields, value, selection)?)
            }
        };
        Ok(Self { presence, values, pending_nulls: 0 })
    }

    #[inline(always)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if self.presence.read(cursor)? {
            if self.pending_nulls > 0 {
                self.append_pending_nulls();
            }
            return self.values.read(cursor);
        }
        self.pending_nulls += 1;
        Ok(())
    }

    fn push_nulls(&mut self, count: usize) {
        self.pending_nulls += count;
    }

    fn reserve(&mut self, forecast: Forecast) {
        match &mut self.values {
            Values::Int(values) | Values::LongAsInt(values) => values.reserve(forecast),
            Values::Long(values) => values.reserve(forecast),
            Values::Bytes(column) => column.reserve(forecast),
            Values::List(column) => column.reserve(forecast),
            Values::Map(column) => column.reserve(forecast),
            Values::Struct(column) => column.reserve(forecast),
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        let nulls = match self.pending_nulls {
            0 => 0,
            count => count.saturating_mul(self.null_bytes()),
        };
        nulls.saturating_add(match &self.values {
            Values::Boolean(values, _) => values.len() / 8,
            Values::Int(values) | Values::LongAsInt(values) => values.bytes(),
            Values::Long(values) | Values::Millis(values) => values.bytes(),
            Values::Float(values) => values.bytes(),
            Values::Double(values) | Values::FloatAsDouble(values) => values.bytes(),
            Values::Decimal(column) => column.bytes(),
            Values::Bytes(column) => column.bytes(),
            Values::Fixed(column) => column.bytes(),
            Values::List(column) => column.bytes(),
            Values::Map(column) => column.bytes(),
            Values::AnyMap(column) => column.bytes(),
            Values::Struct(column) => column.bytes(),
            Values::Nulls(_) => 0,
        })
    }

    fn null_bytes(&self) -> usize {
        match &self.values {
            Values::Boolean(..) | Values::Nulls(_) => 0,
            Values::Int(values) | Values::LongAsInt(values) => values.null_bytes(),
            Values::Long(values) | Values::Millis(values) => values.null_bytes(),
            Values::Float(values) => values.null_bytes(),
            Values::Double(values) | Values::FloatAsDouble(values) => values.null_bytes(),
            Values::Decimal(_) => size_of::<i128>(),
            Values::Fixed(column) => column.width(),
            Values::Struct(column) => column.null_bytes(),
            Values::Bytes(_) | Values::List(_) | Values::Map(_) | Values::AnyMap(_) => {
                size_of::<i32>()
            }
        }
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        self.append_pending_nulls();
        match &mut self.values {
            Values::Boolean(values, nulls) => {
                Ok(Arc::new(BooleanArray::new(values.finish(), nulls.finish())))
            }
            Values::Int(values) | Values::LongAsInt(values) => values.finish(),
            Values::Long(values) | Values::Millis(values) => values.finish(),
            Values::Float(values) => values.finish(),
            Values::Double(values) | Values::FloatAsDouble(values) => values.finish(),
            Values::Decimal(column) => column.finish(),
            Values::Bytes(column) => column.finish(),
            Values::Fixed(column) => column.finish(),
            Values::List(column) => column.finish(),
            Values::Map(column) => column.finish(),
            Values::AnyMap(column) => column.finish(),
            Values::Struct(column) => Ok(Arc::new(column.finish()?)),
            Values::Nulls(count) => Ok(Arc::new(NullArray::new(std::mem::take(count)))),
        }
    }
}

impl Column {
    #[inline(never)]
    fn append_pending_nulls(&mut self) {
        let count = std::mem::take(&mut self.pending_nulls);
        match &mut self.values {
            Values::Boolean(values, nulls) => {
                values.append_n(count, false);
                nulls.append_n_nulls(count);
            }
            Values::Int(values) | Values::LongAsInt(values) => values.push_nulls(count),
            Values::Long(values) | Values::Millis(values) => values.push_nulls(count),
            Values::Float(values) => values.push_nulls(count),
            Values::Double(values) | Values::FloatAsDouble(values) => values.push_nulls(count),
            Values::Decimal(column) => column.push_nulls(count),
            Values::Bytes(column) => column.push_nulls(count),
            Values::Fixed(column) => column.push_nulls(count),
            Values::List(column) => column.push_nulls(count),
            Values::Map(column) => column.push_nulls(count),
            Values::AnyMap(column) => column.push_nulls(count),
            Values::Struct(column) => column.push_nulls(count),
            Values::Nulls(nulls) => *nulls += count,
        }
    }
}

impl Values {
    fn compile(wanted: PrimitiveType, written: Option<&AvroType>) -> Result<Self> {
        let wanted = match (wanted, written) {
            // The column was dropped from the table; the file still has its type.
            (PrimitiveType::Unknown, Some(written)) => written.primitive_type()?,
            (wanted, _) => wanted,
        };
        let data_type = primitive_to_arrow(&wanted);
        let kind = written.map(|written| &written.kind);
        let unit = written.and_then(|written| written.logical.as_ref());
        let refused = || {
            let found = kind.map_or_else(String::new, ToString::to_string);
            Error::corrupt(
                "Avro schema",
                format!("the written type does not fit; expected {wanted}, got {found}"),
            )
        };
        let integral = matches!(kind, None | Some(Kind::Int | Kind::Long));
        if matches!(unit, Some(Logical::TimeMillis | Logical::TimestampMillis { .. })) {
            return match wanted {
                PrimitiveType::Time | PrimitiveType::Timestamp | PrimitiveType::Timestamptz => {
                    Ok(Self::Millis(FlatColumn::new(data_type)))
                }
                _ => Err(refused()),
            };
        }
        Ok(match wanted {
            PrimitiveType::Boolean if matches!(kind, None | Some(Kind::Boolean)) => {
                Self::Boolean(BooleanBufferBuilder::new(0), NullBufferBuilder::new(0))
            }
            PrimitiveType::Int | PrimitiveType::Date if matches!(kind, Some(Kind::Long)) => {
                Self::LongAsInt(FlatColumn::new(data_type))
            }
            PrimitiveType::Int | PrimitiveType::Date if integral => {
                Self::Int(FlatColumn::new(data_type))
            }
            PrimitiveType::Long
            | PrimitiveType::Time
            | PrimitiveType::Timestamp
            | PrimitiveType::Timestamptz
            | PrimitiveType::TimestampNs
            | PrimitiveType::TimestamptzNs
                if integral =>
            {
                Self::Long(FlatColumn::new(data_type))
            }
            PrimitiveType::Float if matches!(kind, None | Some(Kind::Float)) => {
                Self::Float(FlatColumn::new(data_type))
            }
            PrimitiveType::Double if matches!(kind, None | Some(Kind::Double)) => {
                Self::Double(FlatColumn::new(data_type))
            }
            PrimitiveType::Double if matches!(kind, Some(Kind::Float)) => {
                Self::FloatAsDouble(FlatColumn::new(data_type))
            }
            PrimitiveType::Decimal { .. } => {
                Self::Decimal(DecimalColumn::compile(data_type, kind).ok_or_else(refused)?)
            }
            PrimitiveType::String | PrimitiveType::Binary => {
                Self::Bytes(BytesColumn::compile(data_type, kind).ok_or_else(refused)?)
            }
            PrimitiveType::Uuid => Self::Fixed(FixedColumn::compile(16, kind).ok_or_else(refused)?),
            PrimitiveType::Fixed(length) => {
                Self::Fixed(FixedColumn::compile(length, kind).ok_or_else(refused)?)
            }
            PrimitiveType::Unknown => Self::Nulls(0),
            _ => return Err(refused()),
        })
    }

    #[inline(always)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        match self {
            Self::Boolean(values, nulls) => {
                values.append(cursor.boolean()?);
                nulls.append_non_null();
            }
            Self::Int(values) => values.push(cursor.int()?),
            Self::LongAsInt(values) => values.push(cursor.long_as_int()?),
            Self::Long(values) => values.push(cursor.long()?),
            Self::Millis(values) => {
                let micros = cursor.long()?.checked_mul(1_000);
                values.push(micros.ok_or(Malformed::LogicalValue)?);
            }
            Self::Float(values) => values.push(cursor.float()?),
            Self::Double(values) => values.push(cursor.double()?),
            Self::FloatAsDouble(values) => values.push(f64::from(cursor.float()?)),
            Self::Decimal(column) => return column.read(cursor),
            Self::Bytes(column) => return column.read(cursor),
            Self::Fixed(column) => return column.read(cursor),
            Self::List(column) => return column.read(cursor),
            Self::Map(column) => return column.read(cursor),
            Self::AnyMap(column) => return column.read(cursor),
            Self::Struct(column) => return column.read(cursor),
            Self::Nulls(count) => *count += 1,
        }
        Ok(())
    }
}

/// Records of one writer, decoded into the columns that a reader requests.
pub type StructColumn = RecordColumn<Column>;

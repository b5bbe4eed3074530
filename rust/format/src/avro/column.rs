//! Columns that grow by one Avro value at a time.
//!
//! What to do with the writer's encoding of a field is decided once, when a column is compiled;
//! reading a value then moves bytes from the block straight into the Arrow buffers.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, NullArray, make_array};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::DataType;

use super::any_map_column::AnyMapColumn;
use super::bytes_column::{BytesColumn, DecimalColumn, FixedColumn};
use super::cursor::{Cursor, Malformed};
use super::forecast::Forecast;
use super::list_column::ListColumn;
use super::map_column::MapColumn;
use super::schema::{AvroType, Kind, Logical};
use super::struct_column::{Selection, StructColumn};
use crate::spec::arrow_schema::primitive_to_arrow;
use crate::spec::types::{PrimitiveType, Type};
use crate::{Error, Result};

/// A field's values so far.
#[derive(Debug)]
pub(super) struct Column {
    presence: Presence,
    values: Values,
    /// Nulls after the values; most columns are nearly all null or not at all.
    pending_nulls: usize,
}

/// Where the writer says whether a value is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Always,
    Never,
    /// A union; the indices of its two branches.
    Branch {
        null: i64,
        value: i64,
    },
}

#[derive(Debug)]
enum Values {
    Boolean(BooleanBufferBuilder, NullBufferBuilder),
    Int(Words<i32>),
    /// An int column of which the writer stored longs.
    LongAsInt(Words<i32>),
    Long(Words<i64>),
    /// Microseconds of which the writer stored milliseconds.
    Millis(Words<i64>),
    Float(Words<f32>),
    Double(Words<f64>),
    /// A double column of which the writer stored floats.
    FloatAsDouble(Words<f64>),
    Decimal(DecimalColumn),
    Bytes(BytesColumn),
    Fixed(FixedColumn),
    List(ListColumn),
    Map(MapColumn),
    AnyMap(AnyMapColumn),
    Struct(StructColumn),
    /// A type that neither side knows: so many nulls.
    Nulls(usize),
}

/// Values of one machine type and the Arrow type that they are handed out as.
#[derive(Debug)]
struct Words<T> {
    data_type: DataType,
    values: Vec<T>,
    nulls: NullBufferBuilder,
}

impl Column {
    /// A column of `wanted` for what `written` encodes; `None` if the writer has no such field.
    pub(super) fn compile(
        wanted: &Type,
        written: Option<&AvroType>,
        selection: &Selection,
    ) -> Result<Self> {
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
                Values::Struct(StructColumn::compile(fields, value, selection)?)
            }
        };
        Ok(Self { presence, values, pending_nulls: 0 })
    }

    #[inline(always)]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if self.presence.read(cursor)? {
            if self.pending_nulls > 0 {
                self.settle();
            }
            return self.values.read(cursor);
        }
        self.pending_nulls += 1;
        Ok(())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.pending_nulls += count;
    }

    #[inline(never)]
    fn settle(&mut self) {
        let count = std::mem::take(&mut self.pending_nulls);
        match &mut self.values {
            Values::Boolean(values, nulls) => {
                values.append_n(count, false);
                nulls.append_n_nulls(count);
            }
            Values::Int(words) | Values::LongAsInt(words) => words.push_nulls(count),
            Values::Long(words) | Values::Millis(words) => words.push_nulls(count),
            Values::Float(words) => words.push_nulls(count),
            Values::Double(words) | Values::FloatAsDouble(words) => words.push_nulls(count),
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

    /// Make room for values that are yet to come. Small columns do not need it.
    pub(super) fn reserve(&mut self, forecast: Forecast) {
        match &mut self.values {
            Values::Int(words) | Values::LongAsInt(words) => forecast.reserve(&mut words.values),
            Values::Long(words) => forecast.reserve(&mut words.values),
            Values::Bytes(column) => column.reserve(forecast),
            Values::List(column) => column.reserve(forecast),
            Values::Map(column) => column.reserve(forecast),
            Values::Struct(column) => column.reserve(forecast),
            _ => {}
        }
    }

    /// The values so far; the column is empty afterwards and can be read into again.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        self.settle();
        match &mut self.values {
            Values::Boolean(values, nulls) => {
                Ok(Arc::new(BooleanArray::new(values.finish(), nulls.finish())))
            }
            Values::Int(words) | Values::LongAsInt(words) => words.finish(),
            Values::Long(words) | Values::Millis(words) => words.finish(),
            Values::Float(words) => words.finish(),
            Values::Double(words) | Values::FloatAsDouble(words) => words.finish(),
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

impl Presence {
    /// How presence is encoded, and the type of what is there if it is.
    pub(super) fn of(written: &AvroType) -> Result<(Self, Option<&AvroType>)> {
        let Kind::Union(branches) = &written.kind else {
            let null = written.kind == Kind::Null;
            return Ok(if null { (Self::Never, None) } else { (Self::Always, Some(written)) });
        };
        match &**branches {
            [first, second] if first.kind == Kind::Null => {
                Ok((Self::Branch { null: 0, value: 1 }, Some(second)))
            }
            [first, second] if second.kind == Kind::Null => {
                Ok((Self::Branch { null: 1, value: 0 }, Some(first)))
            }
            [only] if only.kind == Kind::Null => Ok((Self::Branch { null: 0, value: -1 }, None)),
            [only] => Ok((Self::Branch { null: -1, value: 0 }, Some(only))),
            _ => Err(Error::unsupported("an Avro union other than of null and one type")),
        }
    }

    /// Whether a value follows.
    #[inline(always)]
    pub(super) fn read(self, cursor: &mut Cursor<'_>) -> Result<bool, Malformed> {
        match self {
            Self::Always => Ok(true),
            Self::Never => Ok(false),
            Self::Branch { null, value } => match cursor.long()? {
                branch if branch == value => Ok(true),
                branch if branch == null => Ok(false),
                _ => Err(Malformed::UnionBranch),
            },
        }
    }
}

impl Values {
    fn compile(wanted: PrimitiveType, written: Option<&AvroType>) -> Result<Self> {
        let wanted = match (wanted, written) {
            // The table no longer knows the type, the file does.
            (PrimitiveType::Unknown, Some(written)) => written.primitive_type()?,
            (wanted, _) => wanted,
        };
        let data_type = primitive_to_arrow(&wanted);
        let kind = written.map(|written| &written.kind);
        let unit = written.and_then(|written| written.logical.as_ref());
        let refused = || {
            let found = kind.map_or_else(String::new, ToString::to_string);
            Error::corrupt("Avro schema", format!("a field of type {wanted} is written as {found}"))
        };
        let integral = matches!(kind, None | Some(Kind::Int | Kind::Long));
        if matches!(unit, Some(Logical::TimeMillis | Logical::TimestampMillis { .. })) {
            return match wanted {
                PrimitiveType::Time | PrimitiveType::Timestamp | PrimitiveType::Timestamptz => {
                    Ok(Self::Millis(Words::new(data_type)))
                }
                _ => Err(refused()),
            };
        }
        Ok(match wanted {
            PrimitiveType::Boolean if matches!(kind, None | Some(Kind::Boolean)) => {
                Self::Boolean(BooleanBufferBuilder::new(0), NullBufferBuilder::new(0))
            }
            PrimitiveType::Int | PrimitiveType::Date if matches!(kind, Some(Kind::Long)) => {
                Self::LongAsInt(Words::new(data_type))
            }
            PrimitiveType::Int | PrimitiveType::Date if integral => {
                Self::Int(Words::new(data_type))
            }
            PrimitiveType::Long
            | PrimitiveType::Time
            | PrimitiveType::Timestamp
            | PrimitiveType::Timestamptz
            | PrimitiveType::TimestampNs
            | PrimitiveType::TimestamptzNs
                if integral =>
            {
                Self::Long(Words::new(data_type))
            }
            PrimitiveType::Float if matches!(kind, None | Some(Kind::Float)) => {
                Self::Float(Words::new(data_type))
            }
            PrimitiveType::Double if matches!(kind, None | Some(Kind::Double)) => {
                Self::Double(Words::new(data_type))
            }
            PrimitiveType::Double if matches!(kind, Some(Kind::Float)) => {
                Self::FloatAsDouble(Words::new(data_type))
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
            Self::Int(words) => words.push(cursor.int()?),
            Self::LongAsInt(words) => words.push(cursor.long_as_int()?),
            Self::Long(words) => words.push(cursor.long()?),
            Self::Millis(words) => {
                let micros = cursor.long()?.checked_mul(1_000);
                words.push(micros.ok_or(Malformed::LogicalValue)?);
            }
            Self::Float(words) => words.push(cursor.float()?),
            Self::Double(words) => words.push(cursor.double()?),
            Self::FloatAsDouble(words) => words.push(f64::from(cursor.float()?)),
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

impl<T: Default + Clone> Words<T> {
    fn new(data_type: DataType) -> Self {
        Self { data_type, values: Vec::new(), nulls: NullBufferBuilder::new(0) }
    }

    #[inline(always)]
    fn push(&mut self, value: T) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    fn push_nulls(&mut self, count: usize) {
        self.values.resize(self.values.len() + count, T::default());
        self.nulls.append_n_nulls(count);
    }
}

impl<T: arrow_buffer::ArrowNativeType> Words<T> {
    fn finish(&mut self) -> Result<ArrayRef> {
        let values = std::mem::take(&mut self.values);
        let (length, nulls) = (values.len(), self.nulls.finish());
        flat_array(self.data_type.clone(), length, Buffer::from_vec(values), nulls)
    }
}

/// An array of one buffer of fixed-width values.
pub(super) fn flat_array(
    data_type: DataType,
    length: usize,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let data = ArrayData::builder(data_type).len(length).add_buffer(values).nulls(nulls);
    Ok(make_array(data.build().map_err(|error| invalid_column(&error))?))
}

/// The error for values that form no valid array, such as text that is not UTF-8.
pub(super) fn invalid_column(error: &arrow_schema::ArrowError) -> Error {
    Error::corrupt("Avro column", error.to_string())
}

//! Encoding of the rows of Arrow columns as Avro records.
//!
//! The inverse of [`StructColumn`](super::StructColumn): the array of a field and the encoding of its values are
//! determined once per batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, StringArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_schema::DataType;

use super::encode::{put_boolean, put_branch, put_bytes, put_length, put_long};
use crate::spec::ArrowName;
use crate::spec::decimal::storage_bytes;
use crate::spec::types::{MapType, NestedField, PrimitiveType, StructType, Type};
use crate::{Error, Result};

/// Encodes rows of a struct's columns.
#[derive(Debug)]
pub struct RowEncoder {
    fields: Vec<FieldEncoder>,
}

#[derive(Debug)]
struct FieldEncoder {
    name: String,
    required: bool,
    nulls: Option<NullBuffer>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Boolean(BooleanArray),
    Int(Int32Array),
    Long(Int64Array),
    Float(Float32Array),
    Double(Float64Array),
    Text(StringArray),
    Binary(BinaryArray),
    Fixed(FixedSizeBinaryArray),
    Decimal(arrow_array::Decimal128Array, usize),
    List(OffsetBuffer<i32>, Box<FieldEncoder>),
    Map(OffsetBuffer<i32>, Box<FieldEncoder>, Box<FieldEncoder>),
    Struct(RowEncoder),
    Nothing,
}

impl RowEncoder {
    /// Compile `fields` against one array each, in the same order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if an array's type does not fit its field.
    pub fn compile(fields: &StructType, arrays: &[ArrayRef]) -> Result<Self> {
        if fields.fields.len() != arrays.len() {
            return Err(Error::invalid("columns", "their number differs from the fields"));
        }
        let fields = fields.fields.iter().zip(arrays).map(|(field, array)| {
            let NestedField { name, required, field_type, .. } = field;
            FieldEncoder::compile(name, *required, field_type, array)
        });
        Ok(Self { fields: fields.collect::<Result<_>>()? })
    }

    /// Append the record of a row, which must be less than the arrays' length.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a required field is null.
    pub fn encode(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        self.fields.iter().try_for_each(|field| field.encode(row, out))
    }
}

impl FieldEncoder {
    fn compile(name: &str, required: bool, any: &Type, array: &ArrayRef) -> Result<Self> {
        let values = match any {
            Type::Primitive(primitive) => Values::primitive(name, *primitive, array)?,
            Type::Struct(fields) => {
                let array = array.as_struct_opt().ok_or_else(|| misfit(name, any, array))?;
                Values::Struct(RowEncoder::compile(fields, array.columns())?)
            }
            Type::List(list) => {
                let array = array.as_list_opt::<i32>().ok_or_else(|| misfit(name, any, array))?;
                let (required, element) = (list.element_required, &list.element);
                let items = Self::compile(name, required, element, array.values())?;
                Values::List(array.offsets().clone(), Box::new(items))
            }
            Type::Map(map) => Values::map(name, map, array)?,
        };
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        Ok(Self { name: name.to_owned(), required, nulls, values })
    }

    fn encode(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let present = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        if matches!(self.values, Values::Nothing) {
            return Ok(());
        }
        if self.required {
            if !present {
                return Err(Error::invalid(
                    &self.name,
                    format!("the required field is null in row {row}"),
                ));
            }
        } else {
            put_branch(out, present);
        }
        if present { self.values.encode(row, out) } else { Ok(()) }
    }
}

impl Values {
    fn primitive(name: &str, primitive: PrimitiveType, array: &ArrayRef) -> Result<Self> {
        let misfit = || misfit(name, &Type::Primitive(primitive), array);
        // Dates, times and timestamps are encoded as integers; the cast shares the buffer.
        let integers = |to: &DataType| cast(array, to).map_err(|_| misfit());
        Ok(match primitive {
            PrimitiveType::Boolean => {
                Self::Boolean(array.as_boolean_opt().ok_or_else(misfit)?.clone())
            }
            PrimitiveType::Int | PrimitiveType::Date => {
                Self::Int(integers(&DataType::Int32)?.as_primitive::<Int32Type>().clone())
            }
            PrimitiveType::Long
            | PrimitiveType::Time
            | PrimitiveType::Timestamp
            | PrimitiveType::Timestamptz
            | PrimitiveType::TimestampNs
            | PrimitiveType::TimestamptzNs => {
                Self::Long(integers(&DataType::Int64)?.as_primitive::<Int64Type>().clone())
            }
            PrimitiveType::Float => {
                Self::Float(array.as_primitive_opt::<Float32Type>().ok_or_else(misfit)?.clone())
            }
            PrimitiveType::Double => {
                Self::Double(array.as_primitive_opt::<Float64Type>().ok_or_else(misfit)?.clone())
            }
            PrimitiveType::Decimal { precision, .. } => {
                let values = array.as_primitive_opt::<Decimal128Type>().ok_or_else(misfit)?;
                Self::Decimal(values.clone(), storage_bytes(precision))
            }
            PrimitiveType::String => {
                Self::Text(array.as_string_opt::<i32>().ok_or_else(misfit)?.clone())
            }
            PrimitiveType::Binary => {
                Self::Binary(array.as_binary_opt::<i32>().ok_or_else(misfit)?.clone())
            }
            PrimitiveType::Uuid | PrimitiveType::Fixed(_) => {
                let values = array.as_fixed_size_binary_opt().ok_or_else(misfit)?;
                let length = match primitive {
                    PrimitiveType::Fixed(length) => i32::try_from(length).unwrap_or(i32::MAX),
                    _ => 16,
                };
                if values.value_length() != length {
                    return Err(misfit());
                }
                Self::Fixed(values.clone())
            }
            PrimitiveType::Unknown => Self::Nothing,
        })
    }

    fn map(name: &str, map: &MapType, array: &ArrayRef) -> Result<Self> {
        let whole = Type::Map(Box::new(map.clone()));
        let array = array.as_map_opt().ok_or_else(|| misfit(name, &whole, array))?;
        // An Avro map and an array of key-value records have the same encoding.
        let keys = FieldEncoder::compile(name, true, &map.key, array.keys())?;
        let values = FieldEncoder::compile(name, map.value_required, &map.value, array.values())?;
        Ok(Self::Map(array.offsets().clone(), Box::new(keys), Box::new(values)))
    }

    fn encode(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Boolean(values) => put_boolean(out, values.value(row)),
            Self::Int(values) => put_long(out, i64::from(values.value(row))),
            Self::Long(values) => put_long(out, values.value(row)),
            Self::Float(values) => out.extend_from_slice(&values.value(row).to_le_bytes()),
            Self::Double(values) => out.extend_from_slice(&values.value(row).to_le_bytes()),
            Self::Text(values) => put_bytes(out, values.value(row).as_bytes()),
            Self::Binary(values) => put_bytes(out, values.value(row)),
            Self::Fixed(values) => out.extend_from_slice(values.value(row)),
            Self::Decimal(values, length) => put_decimal(out, values.value(row), *length)?,
            Self::List(offsets, items) => {
                return put_items(out, offsets, row, |item, out| items.encode(item, out));
            }
            Self::Map(offsets, keys, values) => {
                return put_items(out, offsets, row, |item, out| {
                    keys.encode(item, out)?;
                    values.encode(item, out)
                });
            }
            Self::Struct(fields) => return fields.encode(row, out),
            Self::Nothing => {}
        }
        Ok(())
    }
}

/// Append the items of a row as one block, then the end marker.
fn put_items(
    out: &mut Vec<u8>,
    offsets: &OffsetBuffer<i32>,
    row: usize,
    item: impl Fn(usize, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let bound = |index: usize| {
        offsets.get(index).and_then(|offset| usize::try_from(*offset).ok()).unwrap_or(0)
    };
    let range = bound(row)..bound(row + 1);
    if !range.is_empty() {
        put_length(out, range.len());
        for index in range {
            item(index, out)?;
        }
    }
    put_length(out, 0);
    Ok(())
}

/// Append a decimal in two's complement, big-endian, sign-extended to `length` bytes.
fn put_decimal(out: &mut Vec<u8>, unscaled: i128, length: usize) -> Result<()> {
    let bytes = unscaled.to_be_bytes();
    let (extension, value) = bytes.split_at(bytes.len() - length.min(bytes.len()));
    let negative = value.first().is_some_and(|byte| byte & 0x80 != 0);
    let fill = if negative { 0xff } else { 0 };
    if (unscaled < 0) != negative || extension.iter().any(|byte| *byte != fill) {
        return Err(Error::invalid(
            "decimal",
            format!(
                "the unscaled value is out of range; expected at most {length} bytes, got {unscaled}"
            ),
        ));
    }
    out.extend_from_slice(value);
    Ok(())
}

fn misfit(name: &str, any: &Type, array: &ArrayRef) -> Error {
    Error::invalid(
        name,
        format!("the array has another type; expected {any}, got {}", ArrowName(array.data_type())),
    )
}

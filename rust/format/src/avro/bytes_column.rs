//! Growing columns of string, binary, fixed and decimal values.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, StringArray};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use super::cursor::{Cursor, Malformed};
use super::flat_column::{flat_array, invalid_column};
use super::forecast::Forecast;
use super::keyed::ShortBytes;
use super::schema::Kind;
use crate::spec::decimal::from_bytes;
use crate::spec::nulls::MAX_NULL_BYTES;
use crate::{Error, Result};

/// The most bytes of `enum` symbols in a column of one batch or manifest.
const MAX_SYMBOL_BYTES: usize = 64 << 20;

/// Concatenated byte strings with their offsets.
#[derive(Debug)]
pub(super) struct VariableBytes {
    offsets: Vec<i32>,
    data: Vec<u8>,
}

impl VariableBytes {
    pub(super) fn new() -> Self {
        Self { offsets: vec![0], data: Vec::new() }
    }

    pub(super) fn reserve(&mut self, forecast: Forecast) {
        forecast.reserve(&mut self.offsets);
        forecast.reserve(&mut self.data);
    }

    /// Return the bytes of the values and of their offsets.
    pub(super) fn bytes(&self) -> usize {
        self.data.len() + size_of_val(self.offsets.as_slice())
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: &[u8]) -> Result<(), Malformed> {
        self.data.extend_from_slice(value);
        self.close()
    }

    /// Read one keyed value for each of `keys`.
    #[inline(always)]
    pub(super) fn read_keyed(
        &mut self,
        cursor: &mut Cursor<'_>,
        keys: &mut [i32],
    ) -> Result<(), Malformed> {
        let start = self.offsets.len();
        push_zeros(&mut self.offsets, keys.len());
        let data = &mut self.data;
        for (key, end) in keys.iter_mut().zip(self.offsets.get_mut(start..).unwrap_or_default()) {
            let (read, value) = cursor.int_and_bytes()?;
            *key = read;
            // Each arm copies a constant size; a merged copy of variable size would be a call of memcpy.
            match value {
                ShortBytes::Eight(value) => {
                    data.extend_from_slice(value);
                    *end = short_end(data)?;
                }
                ShortBytes::Sixteen(value) => {
                    data.extend_from_slice(value);
                    *end = short_end(data)?;
                }
                ShortBytes::Four(value) => {
                    data.extend_from_slice(value);
                    *end = short_end(data)?;
                }
                ShortBytes::Fewer(chunk, length) => {
                    let length = data.len() + length;
                    data.extend_from_slice(chunk);
                    data.truncate(length);
                    *end = short_end(data)?;
                }
                ShortBytes::Any(value) => {
                    data.extend_from_slice(value);
                    *end = short_end(data)?;
                }
            }
        }
        Ok(())
    }

    /// Keep the first `length` values.
    pub(super) fn truncate(&mut self, length: usize) {
        self.offsets.truncate(length + 1);
        let end = self.offsets.last().and_then(|end| usize::try_from(*end).ok());
        self.data.truncate(end.unwrap_or(0));
    }

    fn push_empty(&mut self, count: usize) {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.offsets.resize(self.offsets.len() + count, end);
    }

    #[inline(always)]
    fn close(&mut self) -> Result<(), Malformed> {
        let end = i32::try_from(self.data.len()).map_err(|_| Malformed::ColumnOverflow)?;
        self.offsets.push(end);
        Ok(())
    }

    /// Take the offsets and the bytes, leaving no values.
    pub(super) fn take(&mut self) -> (OffsetBuffer<i32>, Buffer) {
        let taken = std::mem::replace(self, Self::new());
        let offsets = OffsetBuffer::new(ScalarBuffer::from(taken.offsets));
        (offsets, Buffer::from_vec(taken.data))
    }
}

#[inline(always)]
fn short_end(data: &[u8]) -> Result<i32, Malformed> {
    i32::try_from(data.len()).map_err(|_| Malformed::ColumnOverflow)
}

/// Append `count` zeros, to be overwritten: 16 at a time, which avoids a call of memset.
#[inline(always)]
pub(super) fn push_zeros<T: Copy + Default>(values: &mut Vec<T>, count: usize) {
    let length = values.len() + count;
    values.reserve(count + 16);
    while values.len() < length {
        values.extend_from_slice(&[T::default(); 16]);
    }
    values.truncate(length);
}

/// A column of string or binary values.
#[derive(Debug)]
pub(super) struct BytesColumn {
    data_type: DataType,
    values: VariableBytes,
    nulls: NullBufferBuilder,
    written: Written,
}

/// The encoding of bytes by the writer.
#[derive(Debug)]
enum Written {
    /// Length-prefixed bytes.
    Prefixed,
    /// An Avro `fixed` of this many bytes.
    Fixed(usize),
    /// The index of an `enum` symbol.
    Symbols(Symbols),
}

/// The symbols of an `enum`. A value of one byte copies a whole symbol, so the total is bounded.
#[derive(Debug)]
struct Symbols {
    texts: Arc<[String]>,
    /// Bytes of symbols since the last batch.
    copied: usize,
}

impl Symbols {
    #[inline]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<&str, Malformed> {
        let index = usize::try_from(cursor.long()?).ok();
        let symbol =
            index.and_then(|index| self.texts.get(index)).ok_or(Malformed::LogicalValue)?;
        self.copied += symbol.len();
        if self.copied > MAX_SYMBOL_BYTES { Err(Malformed::Symbols) } else { Ok(symbol) }
    }
}

impl BytesColumn {
    pub(super) fn compile(data_type: DataType, written: Option<&Kind>) -> Option<Self> {
        let written = match written {
            None | Some(Kind::String | Kind::Bytes) => Written::Prefixed,
            Some(Kind::Fixed(length)) => Written::Fixed(*length),
            Some(Kind::Enum(symbols)) => {
                Written::Symbols(Symbols { texts: Arc::clone(symbols), copied: 0 })
            }
            Some(_) => return None,
        };
        let (values, nulls) = (VariableBytes::new(), NullBufferBuilder::new(0));
        Some(Self { data_type, values, nulls, written })
    }

    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        match &mut self.written {
            Written::Prefixed => self.values.push(cursor.bytes()?)?,
            Written::Fixed(length) => self.values.push(cursor.take(*length)?)?,
            Written::Symbols(symbols) => self.values.push(symbols.read(cursor)?.as_bytes())?,
        }
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.values.push_empty(count);
        self.nulls.append_n_nulls(count);
    }

    pub(super) fn reserve(&mut self, forecast: Forecast) {
        self.values.reserve(forecast);
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.bytes()
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        if let Written::Symbols(symbols) = &mut self.written {
            symbols.copied = 0;
        }
        let (offsets, data) = self.values.take();
        let nulls = self.nulls.finish();
        let array: Result<ArrayRef, _> = match self.data_type {
            DataType::Binary => {
                BinaryArray::try_new(offsets, data, nulls).map(|a| Arc::new(a) as _)
            }
            _ => StringArray::try_new(offsets, data, nulls).map(|a| Arc::new(a) as _),
        };
        array.map_err(|error| invalid_column(&error))
    }
}

/// A column of values of one length in bytes.
#[derive(Debug)]
pub(super) struct FixedColumn {
    length: usize,
    arrow_length: i32,
    /// Whether each value is length-prefixed.
    prefixed: bool,
    data: Vec<u8>,
    rows: usize,
    nulls: NullBufferBuilder,
    /// Bytes of `data` that stand for nulls. Values are bounded by the file, nulls are not.
    null_bytes: usize,
}

impl FixedColumn {
    pub(super) fn compile(length: u32, written: Option<&Kind>) -> Option<Self> {
        let arrow_length = i32::try_from(length).ok()?;
        let length = usize::try_from(length).ok()?;
        let prefixed = match written {
            None => false,
            Some(Kind::Fixed(found)) if *found == length => false,
            Some(Kind::Bytes) => true,
            Some(_) => return None,
        };
        let (data, nulls) = (Vec::new(), NullBufferBuilder::new(0));
        Some(Self { length, arrow_length, prefixed, data, rows: 0, nulls, null_bytes: 0 })
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let value = if self.prefixed { cursor.bytes()? } else { cursor.take(self.length)? };
        if value.len() != self.length {
            return Err(Malformed::LogicalValue);
        }
        self.data.extend_from_slice(value);
        self.rows += 1;
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.null_bytes = self.length.saturating_mul(count).saturating_add(self.null_bytes);
        if self.null_bytes <= MAX_NULL_BYTES {
            self.data.resize(self.data.len() + self.length * count, 0);
        }
        self.rows += count;
        self.nulls.append_n_nulls(count);
    }

    /// Return the bytes of the values and nulls, also of nulls beyond the limit, which are not allocated.
    pub(super) fn bytes(&self) -> usize {
        self.rows.saturating_mul(self.length)
    }

    /// Return the bytes of each value and null.
    pub(super) fn width(&self) -> usize {
        self.length
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let data = Buffer::from_vec(std::mem::take(&mut self.data));
        let rows = std::mem::take(&mut self.rows);
        let null_bytes = std::mem::take(&mut self.null_bytes);
        if null_bytes > MAX_NULL_BYTES {
            let reason = format!(
                "nulls of fixed[{}] take {null_bytes} bytes; expected at most {MAX_NULL_BYTES}",
                self.length
            );
            return Err(Error::corrupt("fixed column", reason));
        }
        let array = FixedSizeBinaryArray::try_new_with_len(
            self.arrow_length,
            data,
            self.nulls.finish(),
            rows,
        );
        Ok(Arc::new(array.map_err(|error| invalid_column(&error))?))
    }
}

/// A column of decimals, written as two's complement, big-endian.
#[derive(Debug)]
pub(super) struct DecimalColumn {
    data_type: DataType,
    length: Option<usize>,
    values: Vec<i128>,
    nulls: NullBufferBuilder,
}

impl DecimalColumn {
    pub(super) fn compile(data_type: DataType, written: Option<&Kind>) -> Option<Self> {
        let length = match written {
            None | Some(Kind::Bytes) => None,
            Some(Kind::Fixed(length)) => Some(*length),
            Some(_) => return None,
        };
        Some(Self { data_type, length, values: Vec::new(), nulls: NullBufferBuilder::new(0) })
    }

    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let value = match self.length {
            None => cursor.bytes()?,
            Some(length) => cursor.take(length)?,
        };
        self.values.push(from_bytes(value).ok_or(Malformed::LogicalValue)?);
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.values.resize(self.values.len() + count, 0);
        self.nulls.append_n_nulls(count);
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let values = std::mem::take(&mut self.values);
        let (length, nulls) = (values.len(), self.nulls.finish());
        flat_array(self.data_type.clone(), length, Buffer::from_vec(values), nulls)
    }
}

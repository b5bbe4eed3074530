//! Growing columns of text, binary, fixed and decimal values.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, FixedSizeBinaryArray, StringArray};
use arrow_buffer::{Buffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;

use super::column::{flat_array, invalid_column};
use super::cursor::{Cursor, Malformed};
use super::schema::Kind;
use crate::Result;
use crate::spec::decimal::from_bytes;

/// Bytes of any length, one after another, and where each ends.
#[derive(Debug)]
pub(super) struct VariableBytes {
    offsets: Vec<i32>,
    data: Vec<u8>,
}

impl VariableBytes {
    pub(super) fn new() -> Self {
        Self { offsets: vec![0], data: Vec::new() }
    }

    pub(super) fn reserve(&mut self, additional: usize) {
        self.offsets.reserve(additional);
    }

    #[inline]
    pub(super) fn push(&mut self, value: &[u8]) -> Result<(), Malformed> {
        self.data.extend_from_slice(value);
        let end = i32::try_from(self.data.len()).map_err(|_| Malformed::ColumnOverflow)?;
        self.offsets.push(end);
        Ok(())
    }

    /// As [`Self::push`] of the next bytes of `cursor`; short ones, as bounds are, are copied
    /// with what follows them, and what follows is cut off again.
    #[inline]
    pub(super) fn push_next(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        match cursor.bytes_and_chunk()? {
            (value, Some(chunk)) if value.len() <= chunk.len() => {
                let end = self.data.len() + value.len();
                self.data.extend_from_slice(chunk);
                self.data.truncate(end);
                self.offsets.push(i32::try_from(end).map_err(|_| Malformed::ColumnOverflow)?);
                Ok(())
            }
            (value, _) => self.push(value),
        }
    }

    /// The offsets and the bytes; nothing is left.
    pub(super) fn take(&mut self) -> (OffsetBuffer<i32>, Buffer) {
        let taken = std::mem::replace(self, Self::new());
        let offsets = OffsetBuffer::new(ScalarBuffer::from(taken.offsets));
        (offsets, Buffer::from_vec(taken.data))
    }
}

/// A column of text or binary values.
#[derive(Debug)]
pub(super) struct BytesColumn {
    data_type: DataType,
    values: VariableBytes,
    nulls: NullBufferBuilder,
    /// Set where the writer used a `fixed`.
    length: Option<usize>,
}

impl BytesColumn {
    pub(super) fn compile(data_type: DataType, written: Option<&Kind>) -> Option<Self> {
        let length = match written {
            None | Some(Kind::String | Kind::Bytes) => None,
            Some(Kind::Fixed(length)) => Some(*length),
            Some(_) => return None,
        };
        let (values, nulls) = (VariableBytes::new(), NullBufferBuilder::new(0));
        Some(Self { data_type, values, nulls, length })
    }

    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        let value = match self.length {
            None => cursor.bytes()?,
            Some(length) => cursor.take(length)?,
        };
        self.values.push(value)?;
        self.nulls.append_non_null();
        Ok(())
    }

    pub(super) fn push_null(&mut self) {
        let end = self.values.offsets.last().copied().unwrap_or(0);
        self.values.offsets.push(end);
        self.nulls.append_null();
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
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
    /// Whether each value is preceded by its length all the same.
    prefixed: bool,
    data: Vec<u8>,
    rows: usize,
    nulls: NullBufferBuilder,
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
        Some(Self { length, arrow_length, prefixed, data, rows: 0, nulls })
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

    pub(super) fn push_null(&mut self) {
        self.data.resize(self.data.len() + self.length, 0);
        self.rows += 1;
        self.nulls.append_null();
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let data = Buffer::from_vec(std::mem::take(&mut self.data));
        let rows = std::mem::take(&mut self.rows);
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

    pub(super) fn push_null(&mut self) {
        self.values.push(0);
        self.nulls.append_null();
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let values = std::mem::take(&mut self.values);
        let (length, nulls) = (values.len(), self.nulls.finish());
        flat_array(self.data_type.clone(), length, Buffer::from_vec(values), nulls)
    }
}

//! The wire format of Protocol Buffers.
//!
//! Not prost, which generates code for whole schemas: a footer needs a few fields, read without copies and with limits
//! on repeated ones.

use super::corrupt;
use crate::Result;
use crate::codec::varint::{self, VarintError};

/// The value of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A varint.
    Varint(u64),
    /// Length-delimited bytes: a string, a message or packed numbers.
    Bytes(&'a [u8]),
    /// Eight bytes: a double or a fixed 64-bit integer.
    Eight([u8; 8]),
    /// Four bytes, of which the footer has no fields.
    Four,
}

/// An iterator over the fields of a message, which ends after the first error.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn field(&mut self) -> Result<(u64, Value<'a>)> {
        let key = number(&mut self.rest)?;
        let value = match key & 7 {
            0 => Value::Varint(number(&mut self.rest)?),
            2 => {
                let length = number(&mut self.rest)?;
                Value::Bytes(take(&mut self.rest, length)?)
            }
            1 => {
                let eight = take(&mut self.rest, 8)?.first_chunk::<8>();
                Value::Eight(eight.copied().unwrap_or_default())
            }
            5 => take(&mut self.rest, 4).map(|_| Value::Four)?,
            other => {
                return Err(corrupt(format!(
                    "the metadata have a field of unknown wire type {other}"
                )));
            }
        };
        Ok((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Value<'a> {
    /// Return the value as an unsigned integer.
    pub(super) fn number(self, name: &str) -> Result<u64> {
        match self {
            Self::Varint(number) => Ok(number),
            _ => Err(corrupt(format!(
                "the metadata have a {name} of another type; expected an integer"
            ))),
        }
    }

    /// Return the value as a zigzag-encoded integer.
    pub(super) fn signed(self, name: &str) -> Result<i64> {
        self.number(name).map(varint::unzigzag)
    }

    /// Return the value as a double.
    pub(super) fn double(self, name: &str) -> Result<f64> {
        match self {
            Self::Eight(bytes) => Ok(f64::from_le_bytes(bytes)),
            _ => Err(corrupt(format!(
                "the metadata have a {name} of another type; expected a double"
            ))),
        }
    }

    /// Return the value as bytes.
    pub(super) fn bytes(self, name: &str) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => {
                Err(corrupt(format!("the metadata have a {name} of another type; expected bytes")))
            }
        }
    }

    /// Append the numbers of a repeated field, packed or not, up to `most` numbers in total.
    pub(super) fn numbers(self, into: &mut Vec<u64>, most: usize) -> Result<()> {
        let mut push = |number| {
            if into.len() == most {
                return Err(corrupt(format!(
                    "the metadata have too many numbers; expected at most {most}"
                )));
            }
            into.push(number);
            Ok(())
        };
        match self {
            Self::Varint(number) => push(number),
            Self::Bytes(mut packed) => {
                while !packed.is_empty() {
                    push(number(&mut packed)?)?;
                }
                Ok(())
            }
            Self::Eight(_) | Self::Four => Err(corrupt(
                "the metadata have a repeated field of another type; expected integers",
            )),
        }
    }
}

/// Read a varint of at most 64 bits.
fn number(rest: &mut &[u8]) -> Result<u64> {
    varint::read(rest).map_err(|error| match error {
        VarintError::EndOfData => corrupt("the metadata end within a field"),
        VarintError::TooLong => corrupt("the metadata have an integer of more than 64 bits"),
    })
}

fn take<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a [u8]> {
    let length = usize::try_from(length).ok();
    let Some((head, tail)) = length.and_then(|length| rest.split_at_checked(length)) else {
        return Err(corrupt("the metadata end within a field"));
    };
    *rest = tail;
    Ok(head)
}

//! Protocol Buffers as they are on the wire.

use super::corrupt;
use crate::Result;
use crate::codec::varint::{self, VarintError};

/// The value of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A number, however it is signed.
    Varint(u64),
    /// Text, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
    /// A double, or an integer of eight bytes.
    Eight([u8; 8]),
    /// Four bytes, which nothing here needs.
    Four,
}

/// The fields of a message, in order; ends after the first error.
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
                return Err(corrupt(format!("its metadata have a field of wire type {other}")));
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
    /// The number of a field that is one.
    pub(super) fn number(self, name: &str) -> Result<u64> {
        match self {
            Self::Varint(number) => Ok(number),
            _ => Err(corrupt(format!("its metadata have a {name} that is no number"))),
        }
    }

    /// The number of a field whose numbers have a sign.
    pub(super) fn signed(self, name: &str) -> Result<i64> {
        self.number(name).map(varint::unzigzag)
    }

    /// The number of a field that is a double.
    pub(super) fn double(self, name: &str) -> Result<f64> {
        match self {
            Self::Eight(bytes) => Ok(f64::from_le_bytes(bytes)),
            _ => Err(corrupt(format!("its metadata have a {name} that is no double"))),
        }
    }

    /// The bytes of a field that has some.
    pub(super) fn bytes(self, name: &str) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(corrupt(format!("its metadata have a {name} of another type"))),
        }
    }

    /// Append the numbers of a field that is repeated, packed or not, to at most `most` numbers.
    pub(super) fn numbers(self, into: &mut Vec<u64>, most: usize) -> Result<()> {
        let mut push = |number| {
            if into.len() == most {
                return Err(corrupt(format!("its metadata list more than {most} numbers")));
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
            Self::Eight(_) | Self::Four => {
                Err(corrupt("its metadata have numbers of another type"))
            }
        }
    }
}

/// Read a varint of at most 64 bits.
fn number(rest: &mut &[u8]) -> Result<u64> {
    varint::read(rest).map_err(|error| match error {
        VarintError::EndOfData => corrupt("its metadata end within a field"),
        VarintError::TooLong => corrupt("its metadata have a number of more than 64 bits"),
    })
}

fn take<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a [u8]> {
    let length = usize::try_from(length).ok();
    let Some((head, tail)) = length.and_then(|length| rest.split_at_checked(length)) else {
        return Err(corrupt("its metadata end within a field"));
    };
    *rest = tail;
    Ok(head)
}

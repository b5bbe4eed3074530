//! Fields of messages in Thrift's compact protocol, which footers of Parquet files use.
//!
//! Not the Parquet crate's reader: it is private, and it drops fields that the crate was built without.

use super::varint::{self, VarintError};

/// Nested values deeper than this are damage: a footer has fewer levels.
const MAX_DEPTH: usize = 16;

// Types of values.
const BOOLEANS: [u8; 2] = [1, 2];
const BYTE: u8 = 3;
const INTEGERS: std::ops::RangeInclusive<u8> = 4..=6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LISTS: [u8; 2] = [9, 10];
const STRUCT: u8 = 12;

/// Bytes that are no message of Thrift's compact protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThriftError;

impl From<VarintError> for ThriftError {
    fn from(_: VarintError) -> Self {
        Self
    }
}

/// Return whether the struct at the start of `bytes` has a field. Bytes after the field are not read.
///
/// # Errors
/// [`ThriftError`] for bytes that are damaged before the field.
///
/// ```
/// use icefloe_format::codec::thrift::struct_has_field;
/// // Field 1, an integer; field 3, a string of one byte; the end.
/// let message = [0x15, 0x02, 0x28, 0x01, b'a', 0x00];
/// assert_eq!(struct_has_field(&message, 3), Ok(true));
/// assert_eq!(struct_has_field(&message, 2), Ok(false));
/// ```
pub fn struct_has_field(mut bytes: &[u8], field: i64) -> Result<bool, ThriftError> {
    let mut found = 0;
    while let Some(kind) = next_field(&mut bytes, &mut found)? {
        if found == field {
            return Ok(true);
        }
        skip(&mut bytes, kind, 0)?;
    }
    Ok(false)
}

/// Read the header of the next field of a struct, and store its number in `field`. Return its type; `None` at the end.
fn next_field(rest: &mut &[u8], field: &mut i64) -> Result<Option<u8>, ThriftError> {
    let header = byte(rest)?;
    if header == 0 {
        return Ok(None);
    }
    *field = match header >> 4 {
        0 => varint::unzigzag(varint::read(rest)?),
        delta => field.checked_add(i64::from(delta)).ok_or(ThriftError)?,
    };
    Ok(Some(header & 0x0f))
}

fn skip(rest: &mut &[u8], kind: u8, depth: usize) -> Result<(), ThriftError> {
    if depth > MAX_DEPTH {
        return Err(ThriftError);
    }
    match kind {
        // The type of a boolean field is its value.
        kind if BOOLEANS.contains(&kind) => {}
        BYTE => take(rest, 1)?,
        kind if INTEGERS.contains(&kind) => drop(varint::read(rest)?),
        DOUBLE => take(rest, 8)?,
        BINARY => {
            let length = varint::read(rest)?;
            take(rest, length)?;
        }
        kind if LISTS.contains(&kind) => {
            let header = byte(rest)?;
            let count = match header >> 4 {
                15 => varint::read(rest)?,
                short => u64::from(short),
            };
            for _ in 0..count {
                match header & 0x0f {
                    // A boolean in a list takes a byte.
                    element if BOOLEANS.contains(&element) => take(rest, 1)?,
                    element => skip(rest, element, depth + 1)?,
                }
            }
        }
        STRUCT => {
            let mut field = 0;
            while let Some(kind) = next_field(rest, &mut field)? {
                skip(rest, kind, depth + 1)?;
            }
        }
        // Footers have no maps.
        _ => return Err(ThriftError),
    }
    Ok(())
}

fn byte(rest: &mut &[u8]) -> Result<u8, ThriftError> {
    let (first, after) = rest.split_first().ok_or(ThriftError)?;
    *rest = after;
    Ok(*first)
}

fn take(rest: &mut &[u8], length: u64) -> Result<(), ThriftError> {
    let length = usize::try_from(length).map_err(|_| ThriftError)?;
    *rest = rest.get(length..).ok_or(ThriftError)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct of one value of each type, fields 1 to 8: true, byte 7, -1, 1.0, "ab", [1, 2], [true], {1: 5}.
    const EVERY_TYPE: &[u8] = &[
        0x11, 0x13, 7, 0x16, 1, 0x17, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x18, 2, b'a', b'b', 0x19,
        0x25, 2, 4, 0x19, 0x11, 1, 0x1c, 0x15, 10, 0, 0,
    ];

    #[test]
    fn fields_after_values_of_every_type_are_found() {
        for field in 1..=8 {
            assert_eq!(struct_has_field(EVERY_TYPE, field), Ok(true), "{field}");
        }
        for field in [-1, 0, 9] {
            assert_eq!(struct_has_field(EVERY_TYPE, field), Ok(false), "{field}");
        }
    }

    #[test]
    fn field_numbers_may_be_written_in_full() {
        // Field 100 as a zigzag integer, then field 101 as a distance.
        let message = [0x05, 0xc8, 0x01, 2, 0x15, 2, 0];
        assert_eq!(
            [100, 101, 99].map(|it| struct_has_field(&message, it)),
            [Ok(true), Ok(true), Ok(false)]
        );
    }

    #[test]
    fn messages_cut_before_the_field_are_refused() {
        for end in 0..EVERY_TYPE.len() {
            assert_eq!(struct_has_field(&EVERY_TYPE[..end], 9), Err(ThriftError), "{end}");
        }
    }

    #[test]
    fn absurd_lengths_counts_and_depths_are_refused() {
        let length = [0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 0];
        let count = [0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f, 1];
        let map = [0x1b, 0, 0];
        let deep = [0x1c; 1_000];
        for message in [&length[..], &count, &map, &deep] {
            assert_eq!(struct_has_field(message, 9), Err(ThriftError));
        }
    }
}

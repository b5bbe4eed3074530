//! Avro's binary encoding.

use crate::codec::varint;

/// Append a zigzag `int` or `long`.
pub fn put_long(out: &mut Vec<u8>, value: i64) {
    varint::append(out, varint::zigzag(value));
}

/// Append a `bytes` or `string`: the length, then the contents.
pub fn put_bytes(out: &mut Vec<u8>, value: &[u8]) {
    put_length(out, value.len());
    out.extend_from_slice(value);
}

/// Append a `boolean`.
pub fn put_boolean(out: &mut Vec<u8>, value: bool) {
    out.push(u8::from(value));
}

/// Append the index of a branch of the union `["null", T]`.
pub fn put_branch(out: &mut Vec<u8>, present: bool) {
    out.push(if present { 2 } else { 0 });
}

/// Append the item count of an array or map in one block. A count of zero ends the array or map.
pub fn put_length(out: &mut Vec<u8>, length: usize) {
    // Slices have at most isize::MAX bytes, so the conversion does not saturate.
    put_long(out, i64::try_from(length).unwrap_or(i64::MAX));
}

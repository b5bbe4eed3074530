//! Avro's binary encoding, appended to a buffer.

use crate::codec::varint;

/// Append a zigzag `int` or `long`.
pub fn put_long(out: &mut Vec<u8>, value: i64) {
    varint::append(out, varint::zigzag(value));
}

/// Append a `bytes` or `string`: its length, then its contents.
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

/// Append the item count of an array or map that is written as one block; the end marker of a
/// block with items is another call with zero.
pub fn put_length(out: &mut Vec<u8>, length: usize) {
    // A slice in memory is never longer than isize::MAX, so this saturates for no real input.
    put_long(out, i64::try_from(length).unwrap_or(i64::MAX));
}

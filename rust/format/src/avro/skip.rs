//! Moves past values that nobody asked for.

use super::cursor::{Cursor, Malformed};
use super::schema::{AvroType, Kind};

/// Advance `cursor` past one value of `value_type`.
///
/// # Errors
/// [`Malformed`] if the bytes do not hold such a value.
pub fn skip(cursor: &mut Cursor<'_>, value_type: &AvroType) -> Result<(), Malformed> {
    match &value_type.kind {
        Kind::Null => {}
        Kind::Boolean => drop(cursor.take(1)?),
        Kind::Int | Kind::Long | Kind::Enum => drop(cursor.long()?),
        Kind::Float => drop(cursor.take(4)?),
        Kind::Double => drop(cursor.take(8)?),
        Kind::Bytes | Kind::String => drop(cursor.bytes()?),
        Kind::Fixed(size) => drop(cursor.take(*size)?),
        Kind::Array { items, .. } => return skip_blocks(cursor, items, false),
        Kind::Map { values, .. } => return skip_blocks(cursor, values, true),
        Kind::Union(branches) => {
            let branch = usize::try_from(cursor.long()?).map_err(|_| Malformed::UnionBranch)?;
            return skip(cursor, branches.get(branch).ok_or(Malformed::UnionBranch)?);
        }
        Kind::Record(record) => {
            for field in &record.fields {
                skip(cursor, &field.field_type)?;
            }
        }
    }
    Ok(())
}

fn skip_blocks(
    cursor: &mut Cursor<'_>,
    items: &AvroType,
    string_keys: bool,
) -> Result<(), Malformed> {
    loop {
        let (count, length) = cursor.block_header()?;
        if count == 0 {
            return Ok(());
        }
        if let Some(length) = length {
            cursor.take(length)?;
            continue;
        }
        let item_bytes = items.min_bytes().saturating_add(usize::from(string_keys));
        if item_bytes == 0 {
            // Items without any bytes, however many of them: there is nothing to move past.
            continue;
        }
        if count > cursor.remaining() / item_bytes {
            return Err(Malformed::Length);
        }
        if !string_keys && skip_pairs(cursor, items, count)? {
            continue;
        }
        for _ in 0..count {
            if string_keys {
                cursor.bytes()?;
            }
            skip(cursor, items)?;
        }
    }
}

/// Move past the key-value records of a map by integer, which are most of what is ever skipped;
/// false, and nothing done, if `items` are something else.
fn skip_pairs(cursor: &mut Cursor<'_>, items: &AvroType, count: usize) -> Result<bool, Malformed> {
    let fields = items.as_record().map_or(&[][..], |record| &record.fields);
    let [key, value] = fields else { return Ok(false) };
    match (&key.field_type.kind, &value.field_type.kind) {
        (Kind::Int | Kind::Long, Kind::Int | Kind::Long) => cursor.skip_varints(2 * count)?,
        (Kind::Int | Kind::Long, Kind::Bytes | Kind::String) => {
            for _ in 0..count {
                cursor.skip_varints(1)?;
                cursor.bytes()?;
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

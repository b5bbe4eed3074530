//! Skipping of values that are not requested.

use super::cursor::{Cursor, Malformed};
use super::presence::Presence;
use super::schema::{AvroType, Kind};

/// Advance `cursor` past one value of `value_type`.
///
/// # Errors
/// [`Malformed`] if the bytes do not hold such a value.
pub fn skip(cursor: &mut Cursor<'_>, value_type: &AvroType) -> Result<(), Malformed> {
    match &value_type.kind {
        Kind::Null => {}
        Kind::Boolean => drop(cursor.take(1)?),
        Kind::Int | Kind::Long | Kind::Enum(_) => drop(cursor.long()?),
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
            // Items without bytes need no skipping, whatever their count.
            continue;
        }
        if count > cursor.remaining() / item_bytes {
            return Err(Malformed::Length);
        }
        for _ in 0..count {
            if string_keys {
                cursor.bytes()?;
            }
            skip(cursor, items)?;
        }
    }
}

/// A compiled skip of one field: the layout of its values is determined once.
#[derive(Debug)]
pub(super) struct Skipper {
    presence: Presence,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Varint,
    Bytes,
    /// Blocks of items of this many varints: a list of integers, or a map from int to long.
    Integers(usize),
    /// A map from int to bytes: blocks of pairs of a varint and bytes.
    Binaries(Layout),
    Other(AvroType),
}

impl Skipper {
    pub(super) fn compile(skipped: &AvroType) -> Self {
        let whole = || Self { presence: Presence::Always, shape: Shape::Other(skipped.clone()) };
        match Presence::of(skipped) {
            Ok((presence, Some(value))) => Self { presence, shape: Shape::of(value) },
            // Unions of other branches are skipped by their type.
            _ => whole(),
        }
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if !self.presence.read(cursor)? {
            return Ok(());
        }
        match &mut self.shape {
            Shape::Varint => cursor.skip_varint(),
            Shape::Bytes => cursor.bytes().map(drop),
            Shape::Integers(varints) => skip_items(cursor, *varints),
            Shape::Binaries(layout) => layout.skip(cursor),
            Shape::Other(value) => skip(cursor, value),
        }
    }
}

impl Shape {
    fn of(value: &AvroType) -> Self {
        let integral = |kind: &Kind| matches!(kind, Kind::Int | Kind::Long);
        match &value.kind {
            Kind::Int | Kind::Long => return Self::Varint,
            Kind::Bytes | Kind::String => return Self::Bytes,
            Kind::Array { items, .. } if integral(&items.kind) => return Self::Integers(1),
            Kind::Array { items, .. } => {
                if let Some([key, value]) = items.as_record().map(|record| &record.fields[..])
                    && integral(&key.field_type.kind)
                {
                    match &value.field_type.kind {
                        kind if integral(kind) => return Self::Integers(2),
                        Kind::Bytes | Kind::String => {
                            return Self::Binaries(Layout::default());
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Self::Other(value.clone())
    }
}

#[inline(always)]
fn skip_items(cursor: &mut Cursor<'_>, varints: usize) -> Result<(), Malformed> {
    loop {
        let (count, length) = cursor.block_header()?;
        match length {
            _ if count == 0 => return Ok(()),
            Some(length) => drop(cursor.take(length)?),
            // A varint takes at least one byte.
            None if count > cursor.remaining() => return Err(Malformed::Length),
            None => cursor.skip_varints(varints * count)?,
        }
    }
}

/// The layout of the last map: the position of each pair, and its two bytes of key and length. A map with the same
/// bytes at the same positions has the same length. Comparing them is faster than parsing, where each length determines
/// the position of the next.
#[derive(Debug, Default)]
struct Layout {
    heads: Vec<(usize, [u8; 2])>,
    /// The encoded number of pairs, one byte.
    count: u8,
    /// The length of the whole map in bytes; 0 if there is no layout to compare with.
    length: usize,
    misses: u32,
}

/// Consecutive maps with a new layout after which layouts are no longer compared.
const MISSES: u32 = 64;

impl Layout {
    #[inline(always)]
    fn skip(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if self.length > 0 && self.fits(cursor.rest()) {
            self.misses = 0;
            return cursor.take(self.length).map(drop);
        }
        let before = *cursor;
        loop {
            let (count, length) = cursor.block_header()?;
            match length {
                _ if count == 0 => break,
                Some(length) => drop(cursor.take(length)?),
                // A pair takes at least two bytes.
                None if count > cursor.remaining() / 2 => return Err(Malformed::Length),
                None => cursor.skip_ints_and_bytes(count)?,
            }
        }
        if self.misses < MISSES {
            self.misses += 1;
            self.record_layout(before, before.remaining() - cursor.remaining());
        }
        Ok(())
    }

    #[inline(always)]
    fn fits(&self, bytes: &[u8]) -> bool {
        let Some([count, pairs @ .., end]) = bytes.get(..self.length) else { return false };
        let mut fits = *count == self.count && *end == 0;
        for (position, head) in &self.heads {
            let found = pairs.get(*position..).and_then(<[u8]>::first_chunk::<2>);
            fits &= found == Some(head);
        }
        fits
    }

    /// Record the layout of a map of `length` bytes, if it is one block of pairs with one byte each of key and length.
    fn record_layout(&mut self, map: Cursor<'_>, length: usize) {
        self.length = 0;
        self.heads.clear();
        let Some([count, pairs @ ..]) = map.rest().get(..length) else { return };
        if *count >= 0x80 || count & 1 == 1 {
            return;
        }
        let mut position = 0;
        for _ in 0..count >> 1 {
            let Some(head) = pairs.get(position..).and_then(<[u8]>::first_chunk::<2>) else {
                return;
            };
            if head[0] >= 0x80 || head[1] >= 0x80 {
                return;
            }
            self.heads.push((position, *head));
            position += 2 + usize::from(head[1] >> 1);
        }
        // The map ends after the pairs, without a second block.
        if pairs.get(position..) == Some(&[0]) && self.misses < MISSES {
            (self.count, self.length) = (*count, length);
        }
    }
}

//! Distinct keys as they are stored: one value per column, and the delete files that each key comes from.

use std::ops::Range;

use super::cells::Cell;
use crate::spec::{Datum, PrimitiveType};

/// The range of the keys in one column.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRange {
    /// Whether a key is null.
    pub has_null: bool,
    /// Whether a key is not null.
    pub has_values: bool,
    /// The least and the greatest non-null value; `None` for a type whose bounds are not ordered.
    pub values: Option<(Datum, Datum)>,
}

/// One column of distinct keys.
#[derive(Debug)]
pub(super) struct StoredColumn {
    values: StoredValues,
    nulls: Vec<bool>,
    has_null: bool,
}

#[derive(Debug)]
enum StoredValues {
    Words(Vec<u64>),
    Wide(Vec<u128>),
    /// The end of each value, and the bytes.
    Bytes(Vec<usize>, Vec<u8>),
}

impl StoredColumn {
    pub(super) fn new(field_type: &PrimitiveType) -> Self {
        use PrimitiveType as P;
        let values = match field_type {
            P::Decimal { .. } => StoredValues::Wide(Vec::new()),
            P::String | P::Binary | P::Fixed(_) | P::Uuid => {
                StoredValues::Bytes(Vec::new(), Vec::new())
            }
            _ => StoredValues::Words(Vec::new()),
        };
        Self { values, nulls: Vec::new(), has_null: false }
    }

    pub(super) fn push(&mut self, cell: Option<Cell<'_>>) {
        self.nulls.push(cell.is_none());
        self.has_null |= cell.is_none();
        match &mut self.values {
            StoredValues::Words(words) => words.push(word(cell) as u64),
            StoredValues::Wide(words) => words.push(word(cell)),
            StoredValues::Bytes(ends, bytes) => {
                if let Some(Cell::Bytes(value)) = cell {
                    bytes.extend_from_slice(value);
                }
                ends.push(bytes.len());
            }
        }
    }

    pub(super) fn get(&self, key: usize) -> Option<Cell<'_>> {
        if self.has_null && self.nulls.get(key).is_none_or(|null| *null) {
            return None;
        }
        match &self.values {
            StoredValues::Words(words) => words.get(key).map(|word| Cell::Word(u128::from(*word))),
            StoredValues::Wide(words) => words.get(key).map(|word| Cell::Word(*word)),
            StoredValues::Bytes(ends, bytes) => {
                let start = key.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
                bytes.get(start?..*ends.get(key)?).map(Cell::Bytes)
            }
        }
    }

    /// Return the values as words, if each is one word of at most 64 bits; the word of a null is 0.
    pub(super) fn words(&self) -> Option<&[u64]> {
        match &self.values {
            StoredValues::Words(words) => Some(words),
            _ => None,
        }
    }

    /// Return the range of all values of the column.
    pub(super) fn range(&self, field_type: &PrimitiveType) -> KeyRange {
        let has_null = self.has_null;
        let has_values = self.nulls.contains(&false);
        let cells = || (0..self.nulls.len()).filter_map(|key| self.get(key));
        let values = match field_type {
            PrimitiveType::String => {
                let texts = || cells().filter_map(bytes_of);
                let ends = texts().min().zip(texts().max());
                ends.and_then(|(least, most)| Some((text(least)?, text(most)?)))
            }
            _ => {
                let ordered = cells().filter_map(|cell| ordered(cell, field_type));
                let ends = ordered.fold(None, |ends: Option<(i128, i128)>, value| {
                    let (least, most) = ends.unwrap_or((value, value));
                    Some((least.min(value), most.max(value)))
                });
                ends.and_then(|(least, most)| {
                    Some((datum(least, field_type)?, datum(most, field_type)?))
                })
            }
        };
        KeyRange { has_null, has_values, values }
    }
}

fn word(cell: Option<Cell<'_>>) -> u128 {
    match cell {
        Some(Cell::Word(word)) => word,
        _ => 0,
    }
}

fn bytes_of(cell: Cell<'_>) -> Option<&[u8]> {
    match cell {
        Cell::Bytes(bytes) => Some(bytes),
        Cell::Word(_) => None,
    }
}

fn text(bytes: &[u8]) -> Option<Datum> {
    std::str::from_utf8(bytes).ok().map(|text| Datum::String(text.to_owned()))
}

/// Return a number with the order of the value.
fn ordered(cell: Cell<'_>, field_type: &PrimitiveType) -> Option<i128> {
    use PrimitiveType as P;
    let Cell::Word(word) = cell else { return None };
    match field_type {
        P::Int | P::Date => Some(i128::from((word as u32).cast_signed())),
        P::Boolean
        | P::Long
        | P::Time
        | P::Timestamp
        | P::Timestamptz
        | P::TimestampNs
        | P::TimestamptzNs => Some(i128::from((word as u64).cast_signed())),
        P::Decimal { .. } => Some(word.cast_signed()),
        _ => None,
    }
}

fn datum(value: i128, field_type: &PrimitiveType) -> Option<Datum> {
    use PrimitiveType as P;
    let int = i32::try_from(value).ok();
    let long = i64::try_from(value).ok();
    Some(match *field_type {
        P::Boolean => Datum::Boolean(value != 0),
        P::Int => Datum::Int(int?),
        P::Date => Datum::Date(int?),
        P::Long => Datum::Long(long?),
        P::Time => Datum::Time(long?),
        P::Timestamp => Datum::Timestamp(long?),
        P::Timestamptz => Datum::Timestamptz(long?),
        P::TimestampNs => Datum::TimestampNs(long?),
        P::TimestamptzNs => Datum::TimestamptzNs(long?),
        P::Decimal { precision, scale } => Datum::Decimal { unscaled: value, precision, scale },
        _ => return None,
    })
}

/// The end of a list of sources.
const NONE: u32 = u32::MAX;

/// The sources of each key: its newest source is in the key's slot, the others are a linked list.
#[derive(Debug, Default)]
pub(super) struct KeySources {
    /// The index in `older` of each key's previous source.
    previous: Vec<u32>,
    older: Vec<Link>,
    /// The source whose keys are being added.
    last: u32,
    /// A source was added after one with a greater number.
    unordered: bool,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    source: u32,
    /// Index in `older`.
    next: u32,
}

impl KeySources {
    /// Return the number of keys.
    pub(super) fn keys(&self) -> usize {
        self.previous.len()
    }

    /// Begin with the keys of a source.
    pub(super) fn begin(&mut self, source: u32) {
        self.unordered |= source < self.last;
        self.last = source;
    }

    /// Add the next key, which has one source.
    pub(super) fn push(&mut self) {
        self.previous.push(NONE);
    }

    /// Add a source to a key and return the key's newest source. All keys of a source are added before the next source.
    pub(super) fn add(&mut self, key: u32, newest: u32, source: u32) -> u32 {
        let Some(previous) = self.previous.get_mut(key as usize).filter(|_| newest != source)
        else {
            return newest;
        };
        let index = u32::try_from(self.older.len()).unwrap_or(NONE);
        self.older.push(Link { source: newest, next: *previous });
        *previous = index;
        source
    }

    /// Return the number from which all sources are wanted and below which none is, if a key's newest source alone decides
    /// whether the key has a wanted source: delete files newer than a data file.
    pub(super) fn first_of(&self, wanted: &[Range<u32>]) -> Option<u32> {
        let [range] = wanted else { return None };
        (range.end > self.last && !self.unordered).then_some(range.start)
    }

    /// Whether a key has a source in one of the ranges, which are ascending and disjoint.
    pub(super) fn any(&self, key: u32, newest: u32, wanted: &[Range<u32>]) -> bool {
        let has = |source: u32| {
            let at = wanted.partition_point(|range| range.end <= source);
            wanted.get(at).is_some_and(|range| range.start <= source)
        };
        if has(newest) {
            return true;
        }
        let mut link = self.previous.get(key as usize).and_then(|at| self.older.get(*at as usize));
        while let Some(Link { source, next }) = link {
            if has(*source) {
                return true;
            }
            link = self.older.get(*next as usize);
        }
        false
    }
}

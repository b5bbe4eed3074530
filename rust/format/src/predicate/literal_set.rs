//! Sorted literals of one type, and the loops that compare arrays with them.

use std::hash::Hash;

use arrow_buffer::BooleanBuffer;
use hashbrown::HashSet;

use super::mask::{pack, pack_pairs};
use super::tree::Operator;
use crate::spec::Datum;

/// The largest set whose members are compared one by one.
const FEW: usize = 8;
/// The most bits of a bitmap per member of the set.
const BITS_PER_MEMBER: u64 = 64;
/// A bitmap of at most this many bits is used for any set.
const SMALL_BITMAP: u64 = 4_096;

/// A native type whose values are compared directly.
pub(super) trait Native: PartialOrd + Copy {
    /// A hashable form, equal for equal values.
    type Key: Eq + Hash + Copy + std::fmt::Debug;
    fn key(self) -> Self::Key;
    fn of(datum: &Datum) -> Option<Self>;
    /// Return the distance from a least value, for integers of up to 64 bits; a value below wraps around to a
    /// great distance.
    fn above(self, _least: Self) -> Option<u64> {
        None
    }
}

impl Native for i32 {
    type Key = Self;
    fn key(self) -> Self {
        self
    }
    fn of(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Int(value) | Datum::Date(value) => Some(*value),
            _ => None,
        }
    }
    #[inline(always)]
    fn above(self, least: Self) -> Option<u64> {
        i64::from(self).above(i64::from(least))
    }
}

impl Native for i64 {
    type Key = Self;
    fn key(self) -> Self {
        self
    }
    fn of(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Long(value)
            | Datum::Time(value)
            | Datum::Timestamp(value)
            | Datum::Timestamptz(value)
            | Datum::TimestampNs(value)
            | Datum::TimestamptzNs(value) => Some(*value),
            _ => None,
        }
    }
    #[inline(always)]
    fn above(self, least: Self) -> Option<u64> {
        Some(self.wrapping_sub(least).cast_unsigned())
    }
}

impl Native for i128 {
    type Key = Self;
    fn key(self) -> Self {
        self
    }
    fn of(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Decimal { unscaled, .. } => Some(*unscaled),
            _ => None,
        }
    }
}

impl Native for f32 {
    type Key = u32;
    // Adding zero converts -0.0 to 0.0.
    fn key(self) -> u32 {
        (self + 0.0).to_bits()
    }
    fn of(datum: &Datum) -> Option<Self> {
        if let Datum::Float(value) = datum { Some(*value) } else { None }
    }
}

impl Native for f64 {
    type Key = u64;
    fn key(self) -> u64 {
        (self + 0.0).to_bits()
    }
    fn of(datum: &Datum) -> Option<Self> {
        if let Datum::Double(value) = datum { Some(*value) } else { None }
    }
}

/// Literals of one native type, ascending.
#[derive(Debug, Clone)]
pub(super) struct Members<T: Native> {
    sorted: Vec<T>,
    lookup: Lookup<T>,
}

#[derive(Debug, Clone)]
enum Lookup<T: Native> {
    Few,
    /// One bit per value from the least member on.
    Bits {
        least: T,
        words: Vec<u64>,
    },
    Keys(HashSet<T::Key>),
}

impl<T: Native> Members<T> {
    /// Create a set of sorted literals, with a lookup structure for [`Operator::In`]; `None` for no literals or for a
    /// literal of another type.
    pub(super) fn new(op: Operator, literals: &[Datum]) -> Option<Self> {
        let sorted = literals.iter().map(T::of).collect::<Option<Vec<T>>>()?;
        let lookup = if op == Operator::In { Self::lookup(&sorted)? } else { Lookup::Few };
        if sorted.is_empty() { None } else { Some(Self { sorted, lookup }) }
    }

    fn lookup(sorted: &[T]) -> Option<Lookup<T>> {
        let (least, greatest) = (*sorted.first()?, *sorted.last()?);
        let room = (BITS_PER_MEMBER * sorted.len() as u64).max(SMALL_BITMAP);
        match greatest.above(least) {
            _ if sorted.len() <= FEW => Some(Lookup::Few),
            Some(span) if span < room => {
                let mut words = vec![0_u64; usize::try_from(span / 64).ok()? + 1];
                for distance in sorted.iter().filter_map(|member| member.above(least)) {
                    if let Some(word) = words.get_mut(usize::try_from(distance / 64).ok()?) {
                        *word |= 1 << (distance % 64);
                    }
                }
                Some(Lookup::Bits { least, words })
            }
            _ => Some(Lookup::Keys(sorted.iter().map(|member| member.key()).collect())),
        }
    }

    /// Return which values satisfy a comparison with the first literal, or are in the set; unset for NaN. `None` for
    /// other operators.
    pub(super) fn test(&self, op: Operator, values: &[T]) -> Option<BooleanBuffer> {
        let first = *self.sorted.first()?;
        Some(match op {
            Operator::Lt => pack(values, |value| value < first),
            Operator::LtEq => pack(values, |value| value <= first),
            Operator::Gt => pack(values, |value| value > first),
            Operator::GtEq => pack(values, |value| value >= first),
            Operator::Eq => pack(values, |value| value == first),
            Operator::In => self.among(values),
            _ => return None,
        })
    }

    fn among(&self, values: &[T]) -> BooleanBuffer {
        match &self.lookup {
            Lookup::Few => {
                let equal = |member: &T| {
                    let member = *member;
                    pack(values, move |value| value == member)
                };
                let found = self.sorted.iter().map(equal).reduce(|any, one| &any | &one);
                found.unwrap_or_else(|| BooleanBuffer::new_unset(values.len()))
            }
            Lookup::Bits { least, words } => pack(values, |value: T| {
                let distance = value.above(*least).unwrap_or(u64::MAX);
                let word = usize::try_from(distance / 64).ok().and_then(|place| words.get(place));
                word.is_some_and(|word| word >> (distance % 64) & 1 == 1)
            }),
            Lookup::Keys(keys) => pack(values, |value: T| keys.contains(&value.key())),
        }
    }

    /// Return the slots without a literal between their bounds; slots with a null bound are arbitrary.
    pub(super) fn none_between(&self, lower: &[T], upper: &[T]) -> BooleanBuffer {
        pack_pairs(lower, upper, |lower, upper| {
            let next = self.sorted.partition_point(|literal| *literal < lower);
            self.sorted.get(next).is_none_or(|literal| *literal > upper)
        })
    }
}

/// Byte-string literals, ascending.
#[derive(Debug, Clone)]
pub(super) struct ByteMembers {
    pub(super) sorted: Vec<Vec<u8>>,
    keys: HashSet<Vec<u8>>,
    /// One bit per length of a member; the last bit stands for all lengths from 63 on.
    lengths: u64,
}

impl ByteMembers {
    /// See [`Members::new`].
    pub(super) fn new(op: Operator, literals: &[&[u8]]) -> Option<Self> {
        let sorted: Vec<Vec<u8>> = literals.iter().map(|literal| literal.to_vec()).collect();
        let keys =
            if op == Operator::In { sorted.iter().cloned().collect() } else { HashSet::new() };
        let lengths = sorted.iter().fold(0, |bits, member| bits | length_bit(member));
        if sorted.is_empty() { None } else { Some(Self { sorted, keys, lengths }) }
    }

    pub(super) fn first(&self) -> &[u8] {
        self.sorted.first().map_or(&[], Vec::as_slice)
    }

    /// Return whether a value is in the set, which was created for [`Operator::In`].
    #[inline]
    pub(super) fn contains(&self, value: &[u8]) -> bool {
        self.lengths & length_bit(value) != 0 && self.keys.contains(value)
    }

    /// Return whether no literal is between two bounds.
    pub(super) fn none_between(&self, lower: &[u8], upper: &[u8]) -> bool {
        let next = self.sorted.partition_point(|literal| literal.as_slice() < lower);
        self.sorted.get(next).is_none_or(|literal| literal.as_slice() > upper)
    }
}

fn length_bit(value: &[u8]) -> u64 {
    1 << value.len().min(63)
}

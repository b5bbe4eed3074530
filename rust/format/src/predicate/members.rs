//! Literals in the form that loops compare, and the loops.

use std::hash::Hash;

use arrow_buffer::{BooleanBuffer, Buffer};
use fearless_simd::{Level, dispatch};
use hashbrown::HashSet;

use super::tree::Operator;
use crate::spec::Datum;

/// Sets no greater than this are compared one by one.
const FEW: usize = 8;
/// A bitmap takes at most this many bits for each member, so that it stays small beside them.
const BITS_PER_MEMBER: u64 = 64;
/// One that is this small is worth it for any set.
const SMALL_BITMAP: u64 = 4_096;

/// Values that are compared without looking at bytes.
pub(super) trait Native: PartialOrd + Copy {
    /// Equal for equal values.
    type Key: Eq + Hash + Copy + std::fmt::Debug;
    fn key(self) -> Self::Key;
    fn of(datum: &Datum) -> Option<Self>;
    /// How far above another value this is, where values are whole numbers of 64 bits; what is
    /// below wraps around to a great distance.
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
    // Adding zero makes -0.0 the same key as 0.0.
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
    /// A bit for each value from the least member on.
    Bits {
        least: T,
        words: Vec<u64>,
    },
    Keys(HashSet<T::Key>),
}

impl<T: Native> Members<T> {
    /// Sorted literals, ready for membership where `op` asks for it; `None` where one is of another
    /// type or there is none.
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

    /// Which values satisfy a comparison with the first literal, or are among all of them. NaN is
    /// neither; `None` for an operator that asks something else.
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

    /// In which slots no literal is within the bounds; what it says where one is null is void.
    pub(super) fn none_between(&self, lower: &[T], upper: &[T]) -> BooleanBuffer {
        pack_pairs(lower, upper, |lower, upper| {
            let next = self.sorted.partition_point(|literal| *literal < lower);
            self.sorted.get(next).is_none_or(|literal| *literal > upper)
        })
    }
}

/// Literals that are byte strings, ascending.
#[derive(Debug, Clone)]
pub(super) struct ByteMembers {
    pub(super) sorted: Vec<Vec<u8>>,
    keys: HashSet<Vec<u8>>,
    /// A bit for each length that a member has, the last one for all longer ones.
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

    /// Whether a value is one of a set that was made for [`Operator::In`].
    #[inline]
    pub(super) fn contains(&self, value: &[u8]) -> bool {
        self.lengths & length_bit(value) != 0 && self.keys.contains(value)
    }

    /// Whether no literal is within two bounds.
    pub(super) fn none_between(&self, lower: &[u8], upper: &[u8]) -> bool {
        let next = self.sorted.partition_point(|literal| literal.as_slice() < lower);
        self.sorted.get(next).is_none_or(|literal| literal.as_slice() > upper)
    }
}

fn length_bit(value: &[u8]) -> u64 {
    1 << value.len().min(63)
}

/// One bit per value.
pub(super) fn pack<T: Copy>(values: &[T], test: impl Fn(T) -> bool + Copy) -> BooleanBuffer {
    let mut words = Vec::with_capacity(values.len().div_ceil(64));
    let level = Level::new();
    dispatch!(level, _simd => fill(values, &mut words, test));
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}

/// One bit per pair of values at the same place, as many as the shorter slice has.
pub(super) fn pack_pairs<T: Copy>(
    left: &[T],
    right: &[T],
    test: impl Fn(T, T) -> bool + Copy,
) -> BooleanBuffer {
    let count = left.len().min(right.len());
    let mut words = Vec::with_capacity(count.div_ceil(64));
    let level = Level::new();
    dispatch!(level, _simd => fill_pairs(left, right, &mut words, test));
    BooleanBuffer::new(Buffer::from_vec(words), 0, count)
}

#[inline(always)]
fn fill<T: Copy>(values: &[T], words: &mut Vec<u64>, test: impl Fn(T) -> bool) {
    let (blocks, rest) = values.as_chunks::<64>();
    for block in blocks {
        let mut flags = [0_u8; 64];
        for (flag, value) in flags.iter_mut().zip(block) {
            *flag = u8::from(test(*value));
        }
        words.push(bits(&flags));
    }
    if !rest.is_empty() {
        let mut flags = [0_u8; 64];
        for (flag, value) in flags.iter_mut().zip(rest) {
            *flag = u8::from(test(*value));
        }
        words.push(bits(&flags));
    }
}

#[inline(always)]
fn fill_pairs<T: Copy>(left: &[T], right: &[T], words: &mut Vec<u64>, test: impl Fn(T, T) -> bool) {
    for (left, right) in left.chunks(64).zip(right.chunks(64)) {
        let mut flags = [0_u8; 64];
        for ((flag, left), right) in flags.iter_mut().zip(left).zip(right) {
            *flag = u8::from(test(*left, *right));
        }
        words.push(bits(&flags));
    }
}

/// Flags of 0 or 1 as bits: a multiplication gathers those of eight bytes in the topmost byte.
#[inline(always)]
fn bits(flags: &[u8; 64]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, _) = flags.as_chunks::<8>();
    eights
        .iter()
        .rev()
        .fold(0, |word, eight| word << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}

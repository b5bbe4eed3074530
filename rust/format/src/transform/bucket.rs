//! The bucket rule: `(hash & 0x7fffffff) % N`.

use std::num::NonZeroU32;

use super::hash::hash;
use super::remainder::Remainder31;
use crate::spec::Datum;

/// A number of buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets {
    remainder: Remainder31,
}

impl Buckets {
    pub(super) fn new(count: NonZeroU32) -> Self {
        Self { remainder: Remainder31::new(count) }
    }

    /// The sign bit is masked, not negated, so that every hash has a bucket.
    #[inline(always)]
    pub(super) fn of_hash(self, hash: i32) -> i32 {
        self.remainder.of(hash.cast_unsigned() & 0x7fff_ffff).cast_signed()
    }

    /// The bucket of a value; `None` where its type has none.
    pub(super) fn of(self, value: &Datum) -> Option<i32> {
        match value {
            Datum::Boolean(_) | Datum::Float(_) | Datum::Double(_) => None,
            _ => Some(self.of_hash(hash(value))),
        }
    }
}

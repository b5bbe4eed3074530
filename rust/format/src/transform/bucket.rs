//! The bucket rule: `(hash & 0x7fffffff) % N`.

use std::num::NonZeroU32;

use super::hash::{hash_bytes, hash_decimal, hash_long};
use super::remainder::Remainder31;
use crate::spec::Datum;

const NANOS_PER_MICRO: i64 = 1_000;

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
    fn of_hash(self, hash: i32) -> i32 {
        self.remainder.of(hash.cast_unsigned() & 0x7fff_ffff).cast_signed()
    }

    #[inline(always)]
    pub(super) fn of_long(self, value: i64) -> i32 {
        self.of_hash(hash_long(value))
    }

    /// Nanoseconds hash as the microseconds that they are in, so that both types share buckets.
    #[inline(always)]
    pub(super) fn of_nanos(self, nanos: i64) -> i32 {
        self.of_long(nanos.div_euclid(NANOS_PER_MICRO))
    }

    #[inline]
    pub(super) fn of_decimal(self, unscaled: i128) -> i32 {
        self.of_hash(hash_decimal(unscaled))
    }

    #[inline]
    pub(super) fn of_bytes(self, bytes: &[u8]) -> i32 {
        self.of_hash(hash_bytes(bytes))
    }

    /// The bucket of a value; `None` where its type has none.
    pub(super) fn of(self, value: &Datum) -> Option<i32> {
        Some(match value {
            Datum::Int(value) | Datum::Date(value) => self.of_long(i64::from(*value)),
            Datum::Long(value)
            | Datum::Time(value)
            | Datum::Timestamp(value)
            | Datum::Timestamptz(value) => self.of_long(*value),
            Datum::TimestampNs(nanos) | Datum::TimestamptzNs(nanos) => self.of_nanos(*nanos),
            Datum::Decimal { unscaled, .. } => self.of_decimal(*unscaled),
            Datum::String(text) => self.of_bytes(text.as_bytes()),
            Datum::Uuid(bytes) => self.of_bytes(bytes),
            Datum::Fixed(bytes) | Datum::Binary(bytes) => self.of_bytes(bytes),
            Datum::Boolean(_) | Datum::Float(_) | Datum::Double(_) => return None,
        })
    }
}

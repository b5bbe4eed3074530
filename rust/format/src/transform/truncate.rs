//! The truncate rule: numbers down to a multiple of the width, text and bytes to their first ones.

use std::num::NonZeroU32;

use super::remainder::{Remainder31, Remainder63};
use crate::spec::Datum;

/// A width to truncate to.
///
/// The lowest multiple of a width may be below the least int or long; the difference then wraps around,
/// as it does in the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    units: NonZeroU32,
    /// The width as a length in memory.
    length: usize,
    remainder31: Remainder31,
    remainder63: Remainder63,
}

impl Width {
    pub(super) fn new(units: NonZeroU32) -> Self {
        Self {
            units,
            length: usize::try_from(units.get()).unwrap_or(usize::MAX),
            remainder31: Remainder31::new(units),
            remainder63: Remainder63::new(units),
        }
    }

    /// The width as a length in memory.
    pub(super) fn length(self) -> usize {
        self.length
    }

    #[inline(always)]
    pub(super) fn of_int(self, value: i32) -> i32 {
        value.wrapping_sub_unsigned(self.remainder31.floored(value))
    }

    #[inline(always)]
    pub(super) fn of_long(self, value: i64) -> i64 {
        value.wrapping_sub_unsigned(self.remainder63.floored(value))
    }

    /// The width counts in units of the unscaled value.
    #[inline]
    pub(super) fn of_decimal(self, unscaled: i128) -> i128 {
        let remainder = match i64::try_from(unscaled) {
            Ok(narrow) => i128::from(self.remainder63.floored(narrow)),
            Err(_) => unscaled.rem_euclid(i128::from(self.units.get())),
        };
        unscaled.wrapping_sub(remainder)
    }

    /// The first characters, counted as Unicode code points.
    #[inline]
    pub(super) fn of_str(self, text: &str) -> &str {
        if text.len() <= self.length {
            return text;
        }
        match text.split_at_checked(self.length) {
            // As many bytes as characters: no character among them is longer than a byte.
            Some((head, _)) if head.is_ascii() => head,
            _ => match text.char_indices().nth(self.length) {
                Some((end, _)) => text.get(..end).unwrap_or(text),
                None => text,
            },
        }
    }

    #[inline]
    pub(super) fn of_bytes(self, bytes: &[u8]) -> &[u8] {
        bytes.get(..self.length).unwrap_or(bytes)
    }

    /// The truncated value; `None` where its type is not truncated.
    pub(super) fn of(self, value: &Datum) -> Option<Datum> {
        Some(match value {
            Datum::Int(value) => Datum::Int(self.of_int(*value)),
            Datum::Long(value) => Datum::Long(self.of_long(*value)),
            Datum::Decimal { unscaled, precision, scale } => Datum::Decimal {
                unscaled: self.of_decimal(*unscaled),
                precision: *precision,
                scale: *scale,
            },
            Datum::String(text) => Datum::String(self.of_str(text).to_owned()),
            Datum::Binary(bytes) => Datum::Binary(self.of_bytes(bytes).to_vec()),
            _ => return None,
        })
    }
}

//! Remainders by a divisor that is constant over an array, computed by multiplication with its reciprocal.
//!
//! For a numerator of `n` bits and `2^(l-1) < divisor <= 2^l`, the multiplier `floor(2^(n+l) / divisor) + 1`
//! gives the exact quotient after a shift by `n + l` (Granlund and Montgomery, 1994, theorem 4.2).

use std::num::NonZeroU32;

/// Remainders of 31-bit numbers; a loop over them compiles to SIMD instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remainder31 {
    divisor: u32,
    /// The greatest remainder.
    greatest: u32,
    multiplier: u64,
    shift: u32,
}

impl Remainder31 {
    pub(super) fn new(divisor: NonZeroU32) -> Self {
        let divisor = divisor.get();
        let shift = 31 + ceil_log2(divisor);
        let multiplier = (1_u64 << shift) / u64::from(divisor) + 1;
        Self { divisor, greatest: divisor - 1, multiplier, shift }
    }

    /// Return `number % divisor` for a number below 2^31.
    #[inline(always)]
    pub(super) fn of(self, number: u32) -> u32 {
        // Both factors are below 2^32 and the product below 2^63; the quotient is at most the number.
        let product = u64::from(number).wrapping_mul(self.multiplier);
        let quotient = product.wrapping_shr(self.shift) as u32;
        number.wrapping_sub(quotient.wrapping_mul(self.divisor))
    }

    /// Return `number.rem_euclid(divisor)`, which is never negative.
    #[inline(always)]
    pub(super) fn floored(self, number: i32) -> u32 {
        let sign = number >> 31;
        let remainder = self.of((number ^ sign).cast_unsigned());
        // !number = -number - 1, whose remainders are in reverse order.
        if sign == 0 { remainder } else { self.greatest.wrapping_sub(remainder) }
    }
}

/// Remainders of 63-bit numbers; a loop over them compiles to SIMD instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remainder63 {
    divisor: u32,
    /// The greatest remainder.
    greatest: u32,
    multiplier: u64,
    shift: u32,
}

impl Remainder63 {
    pub(super) fn new(divisor: NonZeroU32) -> Self {
        let shift = ceil_log2(divisor.get());
        let divisor = divisor.get();
        let multiplier = (1_u128 << (63 + shift)) / u128::from(divisor) + 1;
        // The multiplier is below 2^64: at most 2^63 + 1 for a power of two, and less than 2^64 for other divisors,
        // which exceed the next lower power of two.
        Self { divisor, greatest: divisor - 1, multiplier: multiplier as u64, shift }
    }

    /// Return `number.rem_euclid(divisor)`, which is never negative.
    #[inline(always)]
    pub(super) fn floored(self, number: i64) -> u64 {
        let sign = number >> 63;
        let magnitude = (number ^ sign).cast_unsigned();
        let quotient = upper_half(magnitude, self.multiplier).wrapping_shr(self.shift);
        let remainder = magnitude.wrapping_sub(quotient.wrapping_mul(u64::from(self.divisor)));
        if sign == 0 { remainder } else { u64::from(self.greatest).wrapping_sub(remainder) }
    }
}

/// Return `number * multiplier / 2^63` for a number of 63 bits, by products of 32-bit factors, which SIMD instructions
/// have.
#[inline(always)]
fn upper_half(number: u64, multiplier: u64) -> u64 {
    const LOW: u64 = 0xffff_ffff;
    let (high, low) = (number >> 32, number & LOW);
    let cross = (high * (multiplier & LOW)).wrapping_add((low * (multiplier & LOW)) >> 32);
    let middle = (low * (multiplier >> 32)).wrapping_add(cross & LOW);
    let upper = (high * (multiplier >> 32)).wrapping_add((cross >> 32) + (middle >> 32));
    upper << 1 | (middle >> 31) & 1
}

fn ceil_log2(number: u32) -> u32 {
    u32::BITS - (number - 1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVISORS: [u32; 16] = [
        1,
        2,
        3,
        4,
        5,
        7,
        10,
        16,
        100,
        641,
        1_000,
        65_535,
        65_537,
        1_000_000_007,
        2_147_483_647,
        u32::MAX,
    ];

    /// Return numbers around multiples of the divisor, where a quotient that is off by one changes the remainder.
    fn numbers_around(divisor: u32) -> impl Iterator<Item = i64> {
        let divisor = i64::from(divisor);
        let quotients = [0, 1, 2, 3, 1_000, i64::from(i32::MAX) / divisor, i64::MAX / divisor];
        quotients.into_iter().flat_map(move |quotient| {
            let multiple = quotient * divisor;
            [-1, 0, 1].into_iter().map(move |step| multiple.saturating_add(step))
        })
    }

    #[test]
    fn remainders_equal_integer_division() {
        for divisor in DIVISORS {
            let given = NonZeroU32::new(divisor).unwrap();
            let numbers = numbers_around(divisor).chain([i64::MAX, i64::from(i32::MAX)]);
            for number in numbers.flat_map(|number| [number, -number, !number]) {
                let expected = number.rem_euclid(i64::from(divisor)).unsigned_abs();
                assert_eq!(
                    Remainder63::new(given).floored(number),
                    expected,
                    "{number} % {divisor}"
                );
                if let Ok(narrow) = i32::try_from(number) {
                    let found = Remainder31::new(given).floored(narrow);
                    assert_eq!(u64::from(found), expected, "{number} % {divisor}");
                }
            }
        }
    }
}

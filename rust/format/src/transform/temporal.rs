//! The year, month, day and hour transforms of values and arrays: whole units since 1970, rounded down before 1970 too.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, PrimitiveArray};

use super::blocks::{ints, map, map_twice, map_where};
use crate::spec::{Datum, Transform};

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;
const MICROS_PER_HOUR: i64 = 3_600_000_000;
const NANOS_PER_HOUR: i64 = 3_600_000_000_000;

const EPOCH_YEAR: i64 = 1970;
/// Days in the calendar's cycle of 400 years.
const DAYS_PER_ERA: i64 = 146_097;
/// Cycles added to make the days of every date positive.
const ERA_SHIFT: i64 = 14_700;
/// Days from 0000-03-01 to 1970-01-01.
const MARCH_0000_TO_EPOCH: i64 = 719_468;
/// 2^32 * 4 / 1461, rounded up: the factor from days to years of a century.
const YEARS_PER_DAY: u32 = 2_939_745;
/// Days from 1 March to 1 January.
const MARCH_TO_JANUARY: u32 = 306;

/// Return the year and the month (0 to 11) of a day since 1970-01-01, after Neri and Schneider's "Euclidean affine
/// functions" (2022): years start in March, and multiplications replace divisions.
#[inline(always)]
fn year_and_month(days: i32) -> (i64, u32) {
    let shifted = i64::from(days) + (MARCH_0000_TO_EPOCH + DAYS_PER_ERA * ERA_SHIFT);
    let quarter_days = shifted.cast_unsigned() * 4 + 3;
    let century = quarter_days / DAYS_PER_ERA.cast_unsigned();
    // A remainder below 146097 fits in 32 bits.
    let day_of_century = (quarter_days % DAYS_PER_ERA.cast_unsigned()) as u32 / 4;
    let product = u64::from(YEARS_PER_DAY) * u64::from(4 * day_of_century + 3);
    let year_of_century = product >> 32;
    let day_of_year = (product as u32) / YEARS_PER_DAY / 4;
    let month_from_march = (2_141 * day_of_year + 197_913) >> 16;
    let next_year = day_of_year >= MARCH_TO_JANUARY;
    let year = (100 * century + year_of_century + u64::from(next_year)).cast_signed();
    (year - 400 * ERA_SHIFT, month_from_march - 1 - if next_year { 12 } else { 0 })
}

/// Cycles added to make near days positive.
const NEAR_ERA_SHIFT: u32 = 3_424;
const NEAR_DAYS: i32 = 500_000_000;

/// Return whether a day is within 1.3 million years of 1970, so that its year is computed in 32 bits.
#[inline(always)]
fn is_near(days: i32) -> bool {
    (-NEAR_DAYS..=NEAR_DAYS).contains(&days)
}

/// Return the [`year_and_month`] of a near day, with the year counted from the first added cycle. A loop over it
/// compiles to SIMD instructions.
#[inline(always)]
fn near_year_and_month(days: i32) -> (u32, u32) {
    let epoch = MARCH_0000_TO_EPOCH as u32 + DAYS_PER_ERA as u32 * NEAR_ERA_SHIFT;
    let quarter_days = days.cast_unsigned().wrapping_add(epoch).wrapping_mul(4).wrapping_add(3);
    let century = quarter_days / DAYS_PER_ERA as u32;
    let day_of_century = (quarter_days % DAYS_PER_ERA as u32) / 4;
    let product = u64::from(YEARS_PER_DAY) * u64::from(4 * day_of_century + 3);
    let year_of_century = (product >> 32) as u32;
    let day_of_year = (product as u32) / YEARS_PER_DAY / 4;
    let month_from_march = (2_141 * day_of_year + 197_913) >> 16;
    let next_year = u32::from(day_of_year >= MARCH_TO_JANUARY);
    (100 * century + year_of_century + next_year, month_from_march - 1 - 12 * next_year)
}

/// Return the [`years_of_day`] of a near day.
#[inline(always)]
fn years_of_near_day(days: i32) -> i32 {
    let epoch = EPOCH_YEAR as u32 + 400 * NEAR_ERA_SHIFT;
    near_year_and_month(days).0.wrapping_sub(epoch).cast_signed()
}

/// Return the [`months_of_day`] of a near day.
#[inline(always)]
fn months_of_near_day(days: i32) -> i32 {
    let epoch = EPOCH_YEAR as u32 + 400 * NEAR_ERA_SHIFT;
    let (year, month) = near_year_and_month(days);
    year.wrapping_sub(epoch).wrapping_mul(12).wrapping_add(month).cast_signed()
}

/// Return the whole years from 1970 to a day.
#[inline(always)]
fn years_of_day(days: i32) -> i32 {
    // Years of 32-bit days need 24 bits.
    (year_and_month(days).0 - EPOCH_YEAR) as i32
}

/// Return the whole months from 1970-01 to a day.
#[inline(always)]
fn months_of_day(days: i32) -> i32 {
    let (year, month) = year_and_month(days);
    // Months of 32-bit days need 28 bits.
    ((year - EPOCH_YEAR) * 12 + i64::from(month)) as i32
}

/// 1.5 * 2^52. Doubles between 2^52 and 2^53 are whole numbers: adding this constant to an integer of 51 bits and a sign
/// stores the integer in the low bits of the double, and subtracting the constant extracts it.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// Return `value / (divisor * 2^shift)`, rounded down, where `value / 2^shift` has at most 50 bits and a sign: adding a
/// half outweighs the two roundings of the product. A loop over it compiles to SIMD instructions, unlike integer
/// division and the conversions of the language.
#[inline(always)]
fn floored_quotient(value: i64, shift: u32, divisor: f64) -> i32 {
    let whole = (value >> shift).cast_unsigned().wrapping_add(WHOLE.to_bits());
    let number = f64::from_bits(whole) - WHOLE;
    let quotient = ((number + 0.5) * divisor.recip()).floor();
    // The quotient is a number of days or hours, which fits in 32 bits.
    (quotient + WHOLE).to_bits() as i32
}

/// Return the days since 1970 of 64-bit microseconds, which fit into 28 bits.
#[inline(always)]
fn days_of_micros(micros: i64) -> i32 {
    floored_quotient(micros, 13, MICROS_PER_DAY as f64 / 8_192.0)
}

#[inline(always)]
fn days_of_nanos(nanos: i64) -> i32 {
    floored_quotient(nanos, 16, NANOS_PER_DAY as f64 / 65_536.0)
}

/// Return the whole hours of microseconds. Hours outside 32 bits, 245,000 years away, are clamped.
#[inline(always)]
fn hours_of_micros(micros: i64) -> i32 {
    let hours = micros.div_euclid(MICROS_PER_HOUR);
    hours.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// Microseconds of 36,000 years.
const NEAR_MICROS: i64 = 1 << 60;

/// Return whether [`hours_of_near_micros`] applies to a timestamp.
#[inline(always)]
fn are_near_micros(micros: i64) -> bool {
    (-NEAR_MICROS..=NEAR_MICROS).contains(&micros)
}

/// Return the [`hours_of_micros`] of near microseconds; a loop over it compiles to SIMD instructions.
#[inline(always)]
fn hours_of_near_micros(micros: i64) -> i32 {
    floored_quotient(micros, 10, MICROS_PER_HOUR as f64 / 1_024.0)
}

#[inline(always)]
fn hours_of_nanos(nanos: i64) -> i32 {
    floored_quotient(nanos, 13, NANOS_PER_HOUR as f64 / 8_192.0)
}

/// Apply a time transform to a value; `None` where the transform does not apply to its type.
pub(super) fn apply(transform: &Transform, value: &Datum) -> Option<Datum> {
    let days = match value {
        Datum::Date(days) => *days,
        Datum::Timestamp(micros) | Datum::Timestamptz(micros) => days_of_micros(*micros),
        Datum::TimestampNs(nanos) | Datum::TimestamptzNs(nanos) => days_of_nanos(*nanos),
        _ => return None,
    };
    Some(match (transform, value) {
        (Transform::Year, _) => Datum::Int(years_of_day(days)),
        (Transform::Month, _) => Datum::Int(months_of_day(days)),
        (Transform::Day, _) => Datum::Date(days),
        (Transform::Hour, Datum::Timestamp(micros) | Datum::Timestamptz(micros)) => {
            Datum::Int(hours_of_micros(*micros))
        }
        (Transform::Hour, Datum::TimestampNs(nanos) | Datum::TimestamptzNs(nanos)) => {
            Datum::Int(hours_of_nanos(*nanos))
        }
        _ => return None,
    })
}

/// Apply a time transform to an array in canonical layout; `None` where the transform does not apply to its type.
pub(super) fn apply_array(transform: &Transform, array: &ArrayRef) -> Option<ArrayRef> {
    if let Some(days) = array.as_primitive_opt::<Date32Type>() {
        let results = match transform {
            Transform::Year => map_where(days.values(), is_near, years_of_near_day, years_of_day),
            Transform::Month => {
                map_where(days.values(), is_near, months_of_near_day, months_of_day)
            }
            Transform::Day => return Some(Arc::clone(array)),
            _ => return None,
        };
        return Some(ints(results, days.nulls()));
    }
    let results = if let Some(micros) = array.as_primitive_opt::<TimestampMicrosecondType>() {
        match transform {
            Transform::Hour => {
                map_where(micros.values(), are_near_micros, hours_of_near_micros, hours_of_micros)
            }
            _ => of_timestamps(transform, micros.values(), days_of_micros),
        }
    } else {
        let nanos = array.as_primitive_opt::<TimestampNanosecondType>()?;
        match transform {
            Transform::Hour => map(nanos.values(), hours_of_nanos),
            _ => of_timestamps(transform, nanos.values(), days_of_nanos),
        }
    };
    if *transform == Transform::Day {
        let nulls = array.nulls().cloned();
        Some(Arc::new(PrimitiveArray::<Date32Type>::new(results.into(), nulls)))
    } else {
        Some(ints(results, array.nulls()))
    }
}

/// Return the years, months or days of timestamps, whose days are all near.
fn of_timestamps(
    transform: &Transform,
    units: &[i64],
    days: impl Fn(i64) -> i32 + Copy,
) -> Vec<i32> {
    match transform {
        Transform::Year => map_twice(units, days, years_of_near_day),
        Transform::Month => map_twice(units, days, months_of_near_day),
        _ => map(units, days),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::civil::date_of_day;

    /// Timestamps around multiples of a unit, where rounding errors change the quotient.
    fn timestamps_around(unit: i64) -> impl Iterator<Item = i64> {
        let far = (0..63).flat_map(move |bits| [1_i64 << bits, (1 << bits) / unit * unit]);
        let near = (-50_000..50_000).map(move |units| units * unit);
        let ends = [i64::MIN, i64::MAX, i64::MAX / unit * unit, i64::MIN / unit * unit];
        let around = near.chain(far).chain(ends).chain([-NEAR_MICROS, NEAR_MICROS]);
        around
            .flat_map(|n| [n, n.saturating_neg()])
            .flat_map(|n| [n, n.saturating_sub(1), n.saturating_add(1)])
    }

    #[test]
    fn days_and_hours_equal_integer_division() {
        for unit in [MICROS_PER_DAY, NANOS_PER_DAY, MICROS_PER_HOUR, NANOS_PER_HOUR] {
            for value in timestamps_around(unit) {
                let of = |unit: i64| value.div_euclid(unit);
                assert_eq!(i64::from(days_of_micros(value)), of(MICROS_PER_DAY), "{value}");
                assert_eq!(i64::from(days_of_nanos(value)), of(NANOS_PER_DAY), "{value}");
                assert_eq!(i64::from(hours_of_nanos(value)), of(NANOS_PER_HOUR), "{value}");
                if are_near_micros(value) {
                    assert_eq!(i64::from(hours_of_near_micros(value)), of(MICROS_PER_HOUR));
                }
            }
        }
    }

    #[test]
    fn years_and_months_equal_the_calendar() {
        let every_day = -800_000..800_000;
        let far_days = (i32::MIN..=i32::MAX).step_by(9_999_991).chain([i32::MIN, i32::MAX]);
        let near_ends = [-NEAR_DAYS, NEAR_DAYS].into_iter();
        for days in every_day.chain(far_days).chain(near_ends) {
            if is_near(days) {
                assert_eq!(years_of_near_day(days), years_of_day(days), "day {days}");
                assert_eq!(months_of_near_day(days), months_of_day(days), "day {days}");
            }
            let (year, month, _) = date_of_day(i64::from(days));
            assert_eq!(i64::from(years_of_day(days)), year - 1970, "day {days}");
            assert_eq!(
                i64::from(months_of_day(days)),
                (year - 1970) * 12 + month - 1,
                "day {days}"
            );
        }
    }
}

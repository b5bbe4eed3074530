//! The time rules: whole years, months, days and hours since 1970, rounded down before it too.

use super::Transform;
use crate::spec::Datum;

const MICROS_PER_DAY: i64 = 86_400_000_000;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;
const MICROS_PER_HOUR: i64 = 3_600_000_000;
const NANOS_PER_HOUR: i64 = 3_600_000_000_000;

const EPOCH_YEAR: i64 = 1970;
/// Days of a 400-year cycle of the calendar.
const DAYS_PER_ERA: i64 = 146_097;
/// Cycles that are added so that the days of every date are positive.
const ERA_SHIFT: i64 = 14_700;
/// Days from 0000-03-01 to 1970-01-01.
const MARCH_0000_TO_EPOCH: i64 = 719_468;
/// 2^32 * 4 / 1461, rounded up: years of a century by a multiplication with days.
const YEARS_PER_DAY: u32 = 2_939_745;
/// Days of a year that starts on 1 March until 1 January.
const MARCH_TO_JANUARY: u32 = 306;

/// Year counted from 0 and month counted from 0 of a day since 1970-01-01, by Neri and Schneider's "Euclidean
/// affine functions" (2022): years start in March, divisions are multiplications.
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

/// Whole years since 1970 of a day.
#[inline(always)]
pub(super) fn years_of_day(days: i32) -> i32 {
    // Years of 32-bit days need 24 bits.
    (year_and_month(days).0 - EPOCH_YEAR) as i32
}

/// Whole months since 1970-01 of a day.
#[inline(always)]
pub(super) fn months_of_day(days: i32) -> i32 {
    let (year, month) = year_and_month(days);
    // Months of 32-bit days need 28 bits.
    ((year - EPOCH_YEAR) * 12 + i64::from(month)) as i32
}

#[inline(always)]
pub(super) fn days_of_micros(micros: i64) -> i32 {
    // Days of 64-bit microseconds need 28 bits.
    micros.div_euclid(MICROS_PER_DAY) as i32
}

#[inline(always)]
pub(super) fn days_of_nanos(nanos: i64) -> i32 {
    nanos.div_euclid(NANOS_PER_DAY) as i32
}

/// Hours beyond 32 bits, 245,000 years away, are the last that there are.
#[inline(always)]
pub(super) fn hours_of_micros(micros: i64) -> i32 {
    let hours = micros.div_euclid(MICROS_PER_HOUR);
    hours.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

#[inline(always)]
pub(super) fn hours_of_nanos(nanos: i64) -> i32 {
    nanos.div_euclid(NANOS_PER_HOUR) as i32
}

/// The result of a time transform; `None` where the value's type has none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::civil::date_of_day;

    #[test]
    fn test_years_and_months_are_those_of_the_calendar() {
        let every_day = -800_000..800_000;
        let far_days = (i32::MIN..=i32::MAX).step_by(9_999_991).chain([i32::MIN, i32::MAX]);
        for days in every_day.chain(far_days) {
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

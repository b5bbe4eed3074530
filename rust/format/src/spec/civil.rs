//! The proleptic Gregorian calendar and ISO 8601 texts of dates and times.
//!
//! Not chrono: its dates end in the year 262142, while the days of an Iceberg date reach the year 5881580 and
//! microsecond timestamps the year 294247.

/// Seconds of a day.
pub const SECONDS_PER_DAY: i64 = 86_400;
pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;
pub(crate) const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Days in the calendar's cycle of 400 years.
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 0000-03-01, the start of a cycle, to 1970-01-01.
const ERA_START_TO_EPOCH: i64 = 719_468;

/// Return the year, month (1 to 12) and day (1 to 31) of a number of days since 1970-01-01.
///
/// The calculation starts years in March: the leap day is then the last of a year, and the first day of a month is a
/// linear function of the month.
pub fn date_of_day(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(ERA_START_TO_EPOCH);
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Return the days since 1970-01-01 of a date; `None` where the date does not exist.
pub fn day_of_date(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let march_year = year.checked_sub(i64::from(month <= 2))?;
    let era = march_year.div_euclid(400);
    let year_of_era = march_year.rem_euclid(400);
    let march_month = (month + 9) % 12;
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era.checked_mul(DAYS_PER_ERA)?.checked_add(day_of_era - ERA_START_TO_EPOCH)?;
    (date_of_day(days) == (year, month, day)).then_some(days)
}

/// The parts of a time to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeStyle {
    /// Seconds; a non-zero fraction in six or nine digits. Appendix D's JSON.
    Full,
    /// Seconds; a non-zero fraction without trailing zeros. Timestamps in partition paths.
    Trimmed,
    /// Seconds unless they and the fraction are zero; a fraction in three, six or nine digits. Times in partition paths.
    Short,
}

/// Format a date as `2017-12-01`; a year beyond 9999 has a sign.
pub(crate) fn format_date(days: i64) -> String {
    let (year, month, day) = date_of_day(days);
    format!("{}-{month:02}-{day:02}", format_year(year))
}

pub(crate) fn format_year(year: i64) -> String {
    match year {
        10_000.. => format!("+{year}"),
        0..10_000 => format!("{year:04}"),
        _ => format!("{year:05}"),
    }
}

/// Format nanoseconds since midnight as `10:12:55.038194`.
pub(crate) fn format_time(nanos_of_day: i64, style: TimeStyle) -> String {
    let seconds = nanos_of_day.div_euclid(NANOS_PER_SECOND);
    let fraction = nanos_of_day.rem_euclid(NANOS_PER_SECOND);
    let mut text = format!("{:02}:{:02}", seconds / 3_600, seconds / 60 % 60);
    if style != TimeStyle::Short || seconds % 60 != 0 || fraction != 0 {
        text.push_str(&format!(":{:02}", seconds % 60));
    }
    if fraction == 0 {
        return text;
    }
    if style == TimeStyle::Trimmed {
        let digits = format!("{fraction:09}");
        text.push_str(&format!(".{}", digits.trim_end_matches('0')));
    } else if style == TimeStyle::Short && fraction % 1_000_000 == 0 {
        text.push_str(&format!(".{:03}", fraction / 1_000_000));
    } else if fraction % 1_000 == 0 {
        text.push_str(&format!(".{:06}", fraction / 1_000));
    } else {
        text.push_str(&format!(".{fraction:09}"));
    }
    text
}

/// Format a number of units since 1970 as `2017-12-01T10:12:55.038194`.
pub(crate) fn format_timestamp(units: i64, units_per_second: i64, style: TimeStyle) -> String {
    let units_per_day = units_per_second * SECONDS_PER_DAY;
    let nanos_of_day = units.rem_euclid(units_per_day) * (NANOS_PER_SECOND / units_per_second);
    let date = format_date(units.div_euclid(units_per_day));
    format!("{date}T{}", format_time(nanos_of_day, style))
}

/// Parse `2017-12-01` to days since 1970-01-01.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let mut parts = digits.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !(4..=9).contains(&year.len()) {
        return None;
    }
    let year = number(year)?;
    let year = if negative { -year } else { year };
    day_of_date(year, two_digits(month)?, two_digits(day)?)
}

/// Parse `10:12`, `10:12:55` or `10:12:55.038194` to nanoseconds since midnight.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, parse_fraction(fraction)?),
        None => (text, 0),
    };
    let mut parts = clock.split(':');
    let hours = two_digits(parts.next()?)?;
    let minutes = two_digits(parts.next()?)?;
    let seconds = match parts.next() {
        Some(seconds) => two_digits(seconds)?,
        None if fraction == 0 => 0,
        None => return None,
    };
    if parts.next().is_some() || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    Some(((hours * 60 + minutes) * 60 + seconds) * NANOS_PER_SECOND + fraction)
}

/// A date and time of day, with an offset from UTC if the text has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    days: i64,
    nanos_of_day: i64,
    /// Seconds east of UTC, if the text has an offset.
    pub(crate) offset_seconds: Option<i64>,
}

impl Moment {
    /// Return nanoseconds since 1970 in UTC.
    pub(crate) fn nanos(self) -> i128 {
        let seconds = self.days * SECONDS_PER_DAY - self.offset_seconds.unwrap_or(0);
        i128::from(seconds) * i128::from(NANOS_PER_SECOND) + i128::from(self.nanos_of_day)
    }

    /// Return units since 1970 in UTC; `None` on overflow or where the time is not a whole number of units.
    pub(crate) fn to_units(self, units_per_second: i64) -> Option<i64> {
        let nanos_per_unit = NANOS_PER_SECOND / units_per_second;
        if self.nanos_of_day % nanos_per_unit != 0 {
            return None;
        }
        let units = i128::from(self.days * SECONDS_PER_DAY - self.offset_seconds.unwrap_or(0))
            * i128::from(units_per_second)
            + i128::from(self.nanos_of_day / nanos_per_unit);
        i64::try_from(units).ok()
    }
}

/// Parse `2017-12-01` or `2017-12-01T10:12:55.038194`, with an optional offset `Z` or `+00:00`; a space may replace
/// the `T`.
pub(crate) fn parse_moment(text: &str) -> Option<Moment> {
    let Some((date, rest)) = text.split_once(['T', 't', ' ']) else {
        return Some(Moment { days: parse_date(text)?, nanos_of_day: 0, offset_seconds: None });
    };
    let (time, offset_seconds) = split_offset(rest)?;
    Some(Moment { days: parse_date(date)?, nanos_of_day: parse_time(time)?, offset_seconds })
}

fn split_offset(text: &str) -> Option<(&str, Option<i64>)> {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return Some((time, Some(0)));
    }
    let Some(at) = text.find(['+', '-']) else {
        return Some((text, None));
    };
    let (time, offset) = text.split_at(at);
    let digits = offset.get(1..)?.replace(':', "");
    let hours = two_digits(digits.get(..2)?)?;
    let minutes = if digits.len() == 2 { 0 } else { two_digits(digits.get(2..)?)? };
    if hours > 18 || minutes > 59 {
        return None;
    }
    let seconds = (hours * 60 + minutes) * 60;
    Some((time, Some(if offset.starts_with('-') { -seconds } else { seconds })))
}

fn parse_fraction(digits: &str) -> Option<i64> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let mut nanos = number(digits)?;
    for _ in digits.len()..9 {
        nanos *= 10;
    }
    Some(nanos)
}

fn two_digits(text: &str) -> Option<i64> {
    if text.len() == 2 { number(text) } else { None }
}

/// Parse an unsigned number; `str::parse` would accept a sign.
fn number(text: &str) -> Option<i64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

//! Results of time transforms as people write them: a year, a month or an hour as text.

use serde_json::Value;

use crate::spec::Datum;
use crate::spec::civil::parse_date;
use crate::transform::Transform;

/// The ordinal of `"2026"` for year, `"2026-01"` for month and `"2026-01-31-10"` for hour, as a
/// number; `None` where the literal is of no such form, which leaves it what it is.
pub(super) fn calendar(transform: &Transform, literal: &Value) -> Option<Value> {
    let text = literal.as_str()?.trim();
    let (date, hour) = match transform {
        Transform::Year if text.len() >= 4 => (format!("{text}-01-01"), 0),
        Transform::Month => (format!("{text}-01"), 0),
        Transform::Hour => {
            let (date, hour) = text.rsplit_once('-')?;
            (date.to_owned(), hour.parse().ok().filter(|hour| (0..24).contains(hour))?)
        }
        _ => return None,
    };
    let day = parse_date(&date)?;
    if *transform == Transform::Hour {
        return Some(Value::from(day * 24 + hour));
    }
    match transform.apply(&Datum::Date(i32::try_from(day).ok()?)) {
        Ok(Some(Datum::Int(ordinal))) => Some(Value::from(ordinal)),
        _ => None,
    }
}

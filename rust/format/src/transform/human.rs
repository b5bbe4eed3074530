//! Transform results as people read them.

use super::Transform;
use crate::spec::civil::{date_of_day, format_date, format_year};
use crate::spec::{Datum, PrimitiveType};

const EPOCH_YEAR: i64 = 1970;

impl Transform {
    /// A result as text for partition paths: `2017`, `2017-12`, `2017-12-01`, `2017-12-01-10` of the time
    /// transforms, otherwise the value's own text, `null` for null. `source` is the type of the column.
    pub fn human_string(&self, _source: &PrimitiveType, value: Option<&Datum>) -> String {
        match (self, value) {
            (Self::Void, _) | (_, None) => "null".to_owned(),
            (Self::Year, Some(Datum::Int(years))) => format_year(EPOCH_YEAR + i64::from(*years)),
            (Self::Month, Some(Datum::Int(months))) => human_month(i64::from(*months)),
            (Self::Day, Some(Datum::Int(days) | Datum::Date(days))) => {
                format_date(i64::from(*days))
            }
            (Self::Hour, Some(Datum::Int(hours))) => human_hour(i64::from(*hours)),
            (_, Some(value)) => value.human_string(),
        }
    }
}

fn human_month(months: i64) -> String {
    let year = EPOCH_YEAR + months.div_euclid(12);
    format!("{}-{:02}", format_year(year), months.rem_euclid(12) + 1)
}

fn human_hour(hours: i64) -> String {
    let (year, month, day) = date_of_day(hours.div_euclid(24));
    format!("{}-{month:02}-{day:02}-{:02}", format_year(year), hours.rem_euclid(24))
}

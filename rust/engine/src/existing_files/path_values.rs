//! Partition values in `name=value` directories of a location, as Hive and Iceberg write them.

use icefloe_format::spec::{Datum, PartitionField, PrimitiveType, Schema, Transform, single_value};
use icefloe_format::{Error, Result};
use serde_json::Value;

/// The directory value of Hive for null.
const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";
const EPOCH_YEAR: i32 = 1970;
const MONTHS: i32 = 12;
const HOURS: i32 = 24;

/// The `name=value` directories of a location, decoded, the last one first.
#[derive(Debug)]
pub(super) struct Directories(Vec<(String, String)>);

impl Directories {
    pub(super) fn of(location: &str) -> Self {
        let (directories, _) = location.rsplit_once('/').unwrap_or_default();
        let pairs = directories.rsplit('/').filter_map(|directory| directory.split_once('='));
        Self(pairs.map(|(name, value)| (decode(name), decode(value))).collect())
    }

    /// Return the value of the last directory that is named like a partition field, or like the source column of an identity
    /// field.
    pub(super) fn value_of(
        &self,
        field: &PartitionField,
        source: &str,
        schema: &Schema,
    ) -> Option<String> {
        let source = if field.transform == Transform::Identity { source } else { &field.name };
        self.value(&[&field.name, source], schema).map(|(_, value)| value.to_owned())
    }

    /// Return the directory of a column whose value is not null.
    pub(super) fn not_null(&self, column: &str, schema: &Schema) -> Option<String> {
        let (name, value) = self.value(&[column], schema)?;
        (value != HIVE_NULL).then(|| format!("{name}={value}"))
    }

    /// Return the last directory that has one of the names. Spark resolves names in any case, so that a directory of another case
    /// counts where none has the name itself, unless it has the name of another column.
    fn value(&self, names: &[&str], schema: &Schema) -> Option<(&str, &str)> {
        let find = |is_named: &dyn Fn(&str) -> bool| self.0.iter().find(|(name, _)| is_named(name));
        let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let is_like = |name: &str| {
            lower.contains(&name.to_lowercase()) && schema.field_by_name(name, true).is_none()
        };
        let found = find(&|name| names.contains(&name)).or_else(|| find(&is_like));
        found.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Return the partition value that a directory names.
///
/// # Errors
/// `InvalidArgument` naming the directory if its value is not of the partition field's type.
pub(super) fn parse_value(
    text: &str,
    field: &PartitionField,
    source: &PrimitiveType,
) -> Result<Option<Datum>> {
    let result = field.transform.result_type(source)?;
    let is_null = text == HIVE_NULL || (text == "null" && result != PrimitiveType::String);
    if is_null {
        return Ok(None);
    }
    let value = match &field.transform {
        Transform::Year => text.parse::<i32>().ok().map(|year| Datum::Int(year - EPOCH_YEAR)),
        Transform::Month => month(text).map(Datum::Int),
        Transform::Hour => hour(text).map(Datum::Int),
        _ => plain(text, &result),
    };
    value.map(Some).ok_or_else(|| {
        let subject = format!("directory {}={text}", field.name);
        let transform = &field.transform;
        let reason = format!("expected a {result}, the result of {transform} of a {source}");
        Error::invalid(subject, format!("{reason}, got {text:?}"))
    })
}

fn plain(text: &str, result: &PrimitiveType) -> Option<Datum> {
    let string = || Value::String(text.to_owned());
    let json = match result {
        // Directories have leading zeros and booleans of any case: month=01, active=TRUE.
        PrimitiveType::Boolean => Value::Bool(text.to_ascii_lowercase().parse().ok()?),
        PrimitiveType::Int | PrimitiveType::Long => Value::from(text.parse::<i64>().ok()?),
        PrimitiveType::Float | PrimitiveType::Double => {
            serde_json::from_str(text).unwrap_or_else(|_| string())
        }
        PrimitiveType::Timestamp | PrimitiveType::Timestamptz => {
            // Hive separates date and time by a space.
            Value::String(text.replacen(' ', "T", 1))
        }
        _ => string(),
    };
    single_value::from_json(result, &json).ok()
}

/// Return the months from 1970-01 to a text such as `2017-12`.
fn month(text: &str) -> Option<i32> {
    let (year, month) = text.rsplit_once('-')?;
    let (year, month) = (year.parse::<i32>().ok()?, month.parse::<i32>().ok()?);
    let months = year.checked_sub(EPOCH_YEAR)?.checked_mul(MONTHS)?.checked_add(month - 1)?;
    (1..=MONTHS).contains(&month).then_some(months)
}

/// Return the hours from 1970-01-01 to a text such as `2017-12-01-10`.
fn hour(text: &str) -> Option<i32> {
    let (date, hour) = text.rsplit_once('-')?;
    let hour = hour.parse::<i32>().ok().filter(|hour| (0..HOURS).contains(hour))?;
    let date = single_value::from_json(&PrimitiveType::Date, &Value::String(date.to_owned()));
    let Ok(Datum::Date(days)) = date else { return None };
    days.checked_mul(HOURS)?.checked_add(hour)
}

/// Percent-decode one part of a directory name. A `+` stays: Hive does not write it for a space.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use icefloe_format::spec::{NestedField, Type};

    use super::*;

    fn field(name: &str, transform: &str) -> PartitionField {
        PartitionField {
            source_id: 1,
            field_id: 1000,
            name: name.to_owned(),
            transform: transform.parse().unwrap(),
        }
    }

    fn schema(names: &[&str]) -> Schema {
        let long = Type::Primitive(PrimitiveType::Long);
        let fields =
            (1..).zip(names).map(|(id, name)| NestedField::optional(id, *name, long.clone()));
        Schema::new(0, fields.collect(), vec![])
    }

    fn value_of(location: &str, field: &PartitionField, names: &[&str]) -> Option<String> {
        Directories::of(location).value_of(field, names[0], &schema(names))
    }

    #[test]
    fn last_directory_of_a_name_is_decoded() {
        let location = "s3://lake/name=a%20b/country=f%2Fr/name=c%3Dd/part-0.parquet";
        let found = value_of(location, &field("name", "identity"), &["source"]);
        assert_eq!(found.as_deref(), Some("c=d"));
        let found = value_of(location, &field("place", "identity"), &["country"]);
        assert_eq!(found.as_deref(), Some("f/r"));
        assert_eq!(value_of(location, &field("place", "bucket[4]"), &["country"]), None);
    }

    #[test]
    fn directories_of_another_case_count_without_one_of_the_name() {
        let p = field("p", "identity");
        assert_eq!(value_of("d/P=1/f", &p, &["p"]).as_deref(), Some("1"));
        assert_eq!(value_of("d/p=2/P=1/f", &p, &["p"]).as_deref(), Some("2"));
        assert_eq!(value_of("d/P=1/f", &p, &["p", "P"]), None);
    }

    #[test]
    fn numbers_may_have_leading_zeros_and_booleans_any_case() {
        let parse = |text: &str, source: &PrimitiveType| {
            parse_value(text, &field("p", "identity"), source).ok().flatten()
        };
        assert_eq!(parse("01", &PrimitiveType::Int), Some(Datum::Int(1)));
        assert_eq!(parse("-007", &PrimitiveType::Long), Some(Datum::Long(-7)));
        assert_eq!(parse("+2", &PrimitiveType::Long), Some(Datum::Long(2)));
        assert_eq!(parse("TRUE", &PrimitiveType::Boolean), Some(Datum::Boolean(true)));
        assert_eq!(parse("2147483648", &PrimitiveType::Int), None);
        assert_eq!(parse("1.0", &PrimitiveType::Int), None);
        assert_eq!(parse("yes", &PrimitiveType::Boolean), None);
    }

    #[test]
    fn texts_of_time_transforms_are_ordinals() {
        let parse = |transform: &str, text: &str| {
            parse_value(text, &field("p", transform), &PrimitiveType::Timestamp).ok().flatten()
        };
        assert_eq!(parse("year", "2017"), Some(Datum::Int(47)));
        assert_eq!(parse("month", "2017-12"), Some(Datum::Int(575)));
        assert_eq!(parse("month", "1969-12"), Some(Datum::Int(-1)));
        assert_eq!(parse("month", "2017-13"), None);
        assert_eq!(parse("day", "2017-12-01"), Some(Datum::Date(17501)));
        assert_eq!(parse("hour", "2017-12-01-10"), Some(Datum::Int(420_034)));
        assert_eq!(parse("hour", "2017-12-01-24"), None);
        assert_eq!(parse("year", HIVE_NULL), None);
        assert!(parse_value("x", &field("p", "year"), &PrimitiveType::Timestamp).is_err());
    }
}

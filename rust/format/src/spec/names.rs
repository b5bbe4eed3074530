//! Field names that are legal in Avro and Parquet.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// Return a name that is legal in Avro and Parquet: letters (the general categories `L*`), decimal digits (`Nd`) and `_`,
/// not starting with a digit. A leading digit is prefixed with `_`; any other character becomes `_x` and its UTF-16 units in hexadecimal. Writers store the
/// original name in the property `iceberg-field-name`.
///
/// ```
/// use icefloe_format::spec::sanitize_name;
/// assert_eq!(sanitize_name("incompatible-name"), "incompatible_x2Dname");
/// assert_eq!(sanitize_name("9x"), "_9x");
/// assert_eq!(sanitize_name("plain"), "plain");
/// ```
pub fn sanitize_name(name: &str) -> Cow<'_, str> {
    let is_legal = |(index, c): (usize, char)| is_letter(c) || (index > 0 && is_digit(c));
    if name.char_indices().all(is_legal) {
        return Cow::Borrowed(name);
    }
    let mut sanitized = String::with_capacity(name.len() + 8);
    for (index, c) in name.char_indices() {
        if is_legal((index, c)) {
            sanitized.push(c);
        } else if is_digit(c) {
            sanitized.push('_');
            sanitized.push(c);
        } else {
            escape(c, &mut sanitized);
        }
    }
    Cow::Owned(sanitized)
}

/// Return the first two of `names` that [`sanitize_name`] makes equal, and the legal name of both.
pub fn same_legal_name<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> Option<(&'a str, &'a str, Cow<'a, str>)> {
    let mut known = HashMap::new();
    names.into_iter().find_map(|name| {
        let legal = sanitize_name(name);
        known.insert(legal.clone(), name).map(|other| (other, name, legal))
    })
}

/// Return whether [`sanitize_name`] returns the name unchanged.
pub fn is_legal_name(name: &str) -> bool {
    matches!(sanitize_name(name), Cow::Borrowed(_))
}

/// Return whether a character is a letter or `_`.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
        || c == '_'
        || category(c).is_some_and(|found| GeneralCategoryGroup::Letter.contains(found))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || category(c) == Some(GeneralCategory::DecimalNumber)
}

/// Return the general category of a character other than ASCII; `None` outside the basic multilingual plane, since the
/// reference implementation tests single UTF-16 units, and a surrogate is neither a letter nor a digit.
fn category(c: char) -> Option<GeneralCategory> {
    let is_single = !c.is_ascii() && c.len_utf16() == 1;
    is_single.then(|| CodePointMapData::<GeneralCategory>::new().get(c))
}

fn escape(c: char, sanitized: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a String cannot fail.
        let _ = write!(sanitized, "_x{unit:X}");
    }
}

//! Truncation of bounds: a truncated lower bound is not greater, a truncated upper bound is not less.

use std::borrow::Cow;

use crate::spec::Datum;

/// Truncate a lower bound to `width` code points (string) or bytes (binary). Other types are unchanged.
pub fn truncate_lower(bound: &Datum, width: usize) -> Datum {
    match bound {
        Datum::String(text) => Datum::String(lower_text(text, width).to_owned()),
        Datum::Binary(bytes) => Datum::Binary(lower_bytes(bytes, width).to_vec()),
        other => other.clone(),
    }
}

/// Truncate an upper bound to `width` code points (string) or bytes (binary) and increment the last one. `None` where no
/// unit of the prefix can be incremented: the bound is then omitted. Other types are unchanged.
pub fn truncate_upper(bound: &Datum, width: usize) -> Option<Datum> {
    match bound {
        Datum::String(text) => upper_text(text, width).map(|text| Datum::String(text.into_owned())),
        Datum::Binary(bytes) => {
            upper_bytes(bytes, width).map(|bytes| Datum::Binary(bytes.into_owned()))
        }
        other => Some(other.clone()),
    }
}

/// Return the first `width` code points.
pub fn lower_text(text: &str, width: usize) -> &str {
    match text.char_indices().nth(width) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Return the first `width` bytes.
pub fn lower_bytes(bytes: &[u8], width: usize) -> &[u8] {
    &bytes[..width.min(bytes.len())]
}

/// Return a string of at most `width` code points unchanged; otherwise the least string of at most `width` code points
/// that is greater than every string with the same prefix.
pub fn upper_text(text: &str, width: usize) -> Option<Cow<'_, str>> {
    let prefix = lower_text(text, width);
    if prefix.len() == text.len() {
        return Some(Cow::Borrowed(text));
    }
    prefix.char_indices().rev().find_map(|(start, last)| {
        let next = next_code_point(last)?;
        let mut bound = prefix[..start].to_owned();
        bound.push(next);
        Some(Cow::Owned(bound))
    })
}

/// Return at most `width` bytes unchanged; otherwise the least byte string of at most `width` bytes that is greater than
/// every byte string with the same prefix.
pub fn upper_bytes(bytes: &[u8], width: usize) -> Option<Cow<'_, [u8]>> {
    let prefix = lower_bytes(bytes, width);
    if prefix.len() == bytes.len() {
        return Some(Cow::Borrowed(bytes));
    }
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut bound = prefix[..=last].to_vec();
    bound[last] += 1;
    Some(Cow::Owned(bound))
}

/// Return the next code point of a string: U+E000 follows U+D7FF, as strings have no surrogates.
fn next_code_point(unit: char) -> Option<char> {
    match unit {
        '\u{D7FF}' => Some('\u{E000}'),
        other => char::from_u32(u32::from(other) + 1),
    }
}

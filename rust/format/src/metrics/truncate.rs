//! Bounds cut to a width: a lower bound stays below, an upper bound stays above.

use std::borrow::Cow;

use crate::spec::Datum;

/// The lower bound cut to `width` code points (string) or bytes (binary). Other types keep their
/// whole value.
pub fn truncate_lower(bound: &Datum, width: usize) -> Datum {
    match bound {
        Datum::String(text) => Datum::String(lower_text(text, width).to_owned()),
        Datum::Binary(bytes) => Datum::Binary(lower_bytes(bytes, width).to_vec()),
        other => other.clone(),
    }
}

/// The upper bound cut to `width` code points (string) or bytes (binary), its last unit
/// incremented. `None` where nothing of the prefix can be incremented: the bound must then be
/// left out. Other types keep their whole value.
pub fn truncate_upper(bound: &Datum, width: usize) -> Option<Datum> {
    match bound {
        Datum::String(text) => upper_text(text, width).map(|text| Datum::String(text.into_owned())),
        Datum::Binary(bytes) => {
            upper_bytes(bytes, width).map(|bytes| Datum::Binary(bytes.into_owned()))
        }
        other => Some(other.clone()),
    }
}

/// The first `width` code points.
pub fn lower_text(text: &str, width: usize) -> &str {
    match text.char_indices().nth(width) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The first `width` bytes.
pub fn lower_bytes(bytes: &[u8], width: usize) -> &[u8] {
    &bytes[..width.min(bytes.len())]
}

/// The text itself where it has at most `width` code points; else the least prefix-sized text
/// above every text that starts with the prefix.
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

/// The bytes themselves where there are at most `width`; else the least prefix-sized bytes above
/// everything that starts with the prefix.
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

/// Surrogates are no code points of a string: U+D7FF is followed by U+E000.
fn next_code_point(unit: char) -> Option<char> {
    match unit {
        '\u{D7FF}' => Some('\u{E000}'),
        other => char::from_u32(u32::from(other) + 1),
    }
}

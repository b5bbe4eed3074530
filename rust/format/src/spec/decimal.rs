//! Decimals as text and as two's-complement bytes.

use super::types::MAX_DECIMAL_PRECISION;

/// Return the least number of bytes that holds every unscaled value of a precision from 1 to 38.
pub fn storage_bytes(precision: u8) -> usize {
    // The greatest unscaled value is 10^precision - 1; one more bit holds the sign.
    let digits = u32::from(precision.min(MAX_DECIMAL_PRECISION));
    let bits = 129 - (10_i128.pow(digits) - 1).leading_zeros();
    usize::try_from(bits.div_ceil(8)).unwrap_or(16)
}

/// Return the start of the shortest two's-complement form within the 16 big-endian bytes of a value.
#[inline]
pub(crate) fn minimal_start(unscaled: i128) -> usize {
    let magnitude = if unscaled < 0 { !unscaled } else { unscaled };
    // A leading byte is redundant when it and the next byte's first bit only repeat the sign.
    let redundant = magnitude.leading_zeros().saturating_sub(1) / 8;
    usize::try_from(redundant.min(15)).unwrap_or(15)
}

/// Return the shortest two's-complement big-endian form, which bounds and hashes use.
pub fn to_minimal_bytes(unscaled: i128) -> Vec<u8> {
    unscaled.to_be_bytes().into_iter().skip(minimal_start(unscaled)).collect()
}

/// Parse two's-complement big-endian bytes; `None` for no bytes and for values that exceed 128 bits.
pub fn from_bytes(bytes: &[u8]) -> Option<i128> {
    let first = bytes.first()?;
    let sign = if first & 0x80 == 0 { 0x00 } else { 0xff };
    let mut buffer = [sign; 16];
    let excess = bytes.len().saturating_sub(16);
    let (extension, digits) = bytes.split_at_checked(excess)?;
    if extension.iter().any(|byte| *byte != sign) {
        return None;
    }
    buffer.get_mut(16 - digits.len()..)?.copy_from_slice(digits);
    let unscaled = i128::from_be_bytes(buffer);
    ((unscaled < 0) == (sign == 0xff)).then_some(unscaled)
}

/// Return whether an unscaled value has at most `precision` digits.
pub fn fits(unscaled: i128, precision: u8) -> bool {
    match 10_u128.checked_pow(u32::from(precision)) {
        Some(limit) => unscaled.unsigned_abs() < limit,
        None => true,
    }
}

/// Format a decimal with `scale` digits after the point, or with an exponent if the scale is negative. Spec: Appendix D.
pub fn format(unscaled: i128, scale: i8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let Ok(scale) = usize::try_from(scale) else {
        return format!("{unscaled}E+{}", scale.unsigned_abs());
    };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    match digits.split_at_checked(digits.len().saturating_sub(scale)) {
        Some((whole, fraction)) if scale > 0 => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{digits}"),
    }
}

/// Return the unscaled value of a decimal text at a scale, such as `14.2` or `1.42E+1`; `None` where the text is not a
/// number, has non-zero digits beyond the scale, or exceeds 38 digits.
pub fn parse(text: &str, scale: i8) -> Option<i128> {
    match parse_scaled(text, scale)? {
        Scaled::Exact(unscaled) => fits(unscaled, MAX_DECIMAL_PRECISION).then_some(unscaled),
        _ => None,
    }
}

/// A number between the integers of 128 bits: itself, or the greatest integer below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaled {
    /// The number is this integer.
    Exact(i128),
    /// The number lies between this integer and the next one up.
    JustAbove(i128),
    /// The number is greater than every integer of 128 bits.
    AboveAll,
    /// The number is less than every integer of 128 bits.
    BelowAll,
}

/// Return the number of a decimal text, `[+-]digits[.digits][e[+-]digits]`, times ten to the power of `scale`; `None`
/// where the text is not a number.
pub fn parse_scaled(text: &str, scale: i8) -> Option<Scaled> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let point = i64::try_from(whole.len()).ok()? + i64::from(exponent) + i64::from(scale);
    Some(signed(magnitude(&digits, point), negative))
}

/// Return the number of the first `point` digits, which zeros extend, and whether a digit other than zero follows them.
/// The number is `None` where it exceeds 128 bits.
fn magnitude(digits: &[u8], point: i64) -> (Option<i128>, bool) {
    let kept = usize::try_from(point.max(0)).unwrap_or(usize::MAX);
    let inexact = digits.iter().skip(kept).any(|digit| *digit != b'0');
    let mut value: i128 = 0;
    for position in 0..kept {
        if value == 0 && position >= digits.len() {
            break;
        }
        let digit = digits.get(position).map_or(0, |digit| i128::from(digit - b'0'));
        match value.checked_mul(10).and_then(|tens| tens.checked_add(digit)) {
            Some(next) => value = next,
            None => return (None, inexact),
        }
    }
    (Some(value), inexact)
}

fn signed((value, inexact): (Option<i128>, bool), negative: bool) -> Scaled {
    match (value, negative, inexact) {
        (None, false, _) => Scaled::AboveAll,
        (None, true, _) => Scaled::BelowAll,
        (Some(value), false, true) => Scaled::JustAbove(value),
        (Some(value), true, true) => Scaled::JustAbove(-value - 1),
        (Some(value), false, false) => Scaled::Exact(value),
        (Some(value), true, false) => Scaled::Exact(-value),
    }
}

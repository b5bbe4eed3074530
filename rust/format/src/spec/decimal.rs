//! Decimals as text and as two's-complement bytes.

/// The least number of bytes that holds every unscaled value of a precision, 1 to 38.
pub fn storage_bytes(precision: u8) -> usize {
    // The greatest unscaled value is 10^precision - 1; one more bit is its sign.
    let digits = u32::from(precision.min(super::types::MAX_DECIMAL_PRECISION));
    let bits = 129 - (10_i128.pow(digits) - 1).leading_zeros();
    usize::try_from(bits.div_ceil(8)).unwrap_or(16)
}

/// Where the shortest two's-complement form begins in the 16 big-endian bytes of a value.
#[inline]
pub(crate) fn minimal_start(unscaled: i128) -> usize {
    let magnitude = if unscaled < 0 { !unscaled } else { unscaled };
    // A leading byte is redundant when it and the next byte's first bit only repeat the sign.
    let redundant = magnitude.leading_zeros().saturating_sub(1) / 8;
    usize::try_from(redundant.min(15)).unwrap_or(15)
}

/// The shortest two's-complement big-endian form, as bounds and hashes have it.
pub fn to_minimal_bytes(unscaled: i128) -> Vec<u8> {
    unscaled.to_be_bytes().into_iter().skip(minimal_start(unscaled)).collect()
}

/// Reads two's-complement big-endian bytes of any length; `None` where there are none or the value
/// needs more than 16.
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

/// Whether an unscaled value has no more digits than a precision.
pub fn fits(unscaled: i128, precision: u8) -> bool {
    match 10_u128.checked_pow(u32::from(precision)) {
        Some(limit) => unscaled.unsigned_abs() < limit,
        None => true,
    }
}

/// Plain digits with `scale` of them after the point; with a negative scale, digits and an exponent of the
/// negated scale. Spec: Appendix D.
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

/// The unscaled value of a decimal text at a scale, such as `14.2` or `1.42E+1`; `None` where the text
/// is not a number, has non-zero digits beyond the scale, or is beyond 38 digits.
pub fn parse(text: &str, scale: i8) -> Option<i128> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, number) = match number.as_bytes().first()? {
        b'-' => (true, number.get(1..)?),
        b'+' => (false, number.get(1..)?),
        _ => (false, number),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction_digits = i64::try_from(fraction.len()).ok()?;
    let shift = i64::from(exponent) + i64::from(scale) - fraction_digits;
    let magnitude = shift_digits(digits.trim_start_matches('0'), shift)?;
    if !fits(magnitude, super::types::MAX_DECIMAL_PRECISION) {
        return None;
    }
    Some(if negative { -magnitude } else { magnitude })
}

/// The number that digits form, times ten to the power of `shift`, where that is exact.
fn shift_digits(digits: &str, shift: i64) -> Option<i128> {
    if digits.is_empty() {
        return Some(0);
    }
    if shift < 0 {
        let dropped = usize::try_from(shift.checked_neg()?).ok()?;
        let (kept, rest) = digits.split_at_checked(digits.len().saturating_sub(dropped))?;
        if dropped > digits.len() || rest.bytes().any(|byte| byte != b'0') {
            return None;
        }
        return if kept.is_empty() { Some(0) } else { kept.parse().ok() };
    }
    let power = 10_i128.checked_pow(u32::try_from(shift).ok()?)?;
    digits.parse::<i128>().ok()?.checked_mul(power)
}

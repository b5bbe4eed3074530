//! The first bytes of a row in Arrow's row format as a number.

/// Bytes of a row that are compared as one number.
pub const PREFIX_BYTES: usize = 16;

/// Return the first 16 bytes of a row as a number that orders as the bytes do, padded with zeros.
///
/// ```
/// use icefloe_format::curve::row_prefix;
/// assert!(row_prefix(b"ab") < row_prefix(b"b"));
/// assert_eq!(row_prefix(&[1; 16]), row_prefix(&[1; 20]));
/// ```
#[inline]
pub fn row_prefix(row: &[u8]) -> u128 {
    if let Some(first) = row.first_chunk::<PREFIX_BYTES>() {
        return u128::from_be_bytes(*first);
    }
    // Rows of fixed width are read in whole numbers: a copy of a few bytes takes longer.
    if let (Some(first), Some(last)) = (row.first_chunk::<8>(), row.last_chunk::<8>()) {
        let unused = 8 * (PREFIX_BYTES - row.len()) as u32;
        let low = u64::from_be_bytes(*last).checked_shl(unused).unwrap_or(0);
        return (u128::from(u64::from_be_bytes(*first)) << 64) | u128::from(low);
    }
    let high = row.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
    u128::from(high).checked_shl(8 * (PREFIX_BYTES - row.len()) as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{PREFIX_BYTES, row_prefix};

    #[test]
    fn prefix_is_the_first_bytes_padded_with_zeros() {
        let bytes: Vec<u8> = (1..=24_u8).map(|byte| byte.wrapping_mul(59)).collect();
        for length in 0..=bytes.len() {
            let row = &bytes[..length];
            let mut expected = [0; PREFIX_BYTES];
            let known = length.min(PREFIX_BYTES);
            expected[..known].copy_from_slice(&row[..known]);
            assert_eq!(row_prefix(row), u128::from_be_bytes(expected), "{length} bytes");
        }
    }
}

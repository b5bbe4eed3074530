//! The bits of several numbers in turn.

const BYTE_VALUES: usize = 256;

/// Return the lowest `bits` bits of each axis, interleaved: the highest bit of the first axis, of the second axis and so
/// on, then the second highest bits. `axes.len() * bits` is at most 128; higher results lose their upper bits.
pub fn interleave(axes: &[u32], bits: u32) -> u128 {
    let mut key = 0_u128;
    for bit in (0..bits.min(u32::BITS)).rev() {
        for axis in axes {
            key = (key << 1) | u128::from((axis >> bit) & 1);
        }
    }
    key
}

/// Interleaves numbers of at most 16 bits, a byte at a time.
///
/// ```
/// use icefloe_format::curve::{Interleaving, interleave};
/// let axes = [0b1011, 0b0110];
/// assert_eq!(Interleaving::new(2).of(&axes), interleave(&axes, 16));
/// ```
#[derive(Debug)]
pub struct Interleaving {
    axes: u32,
    /// The bits of each byte, as far apart as axes are many.
    spread: Vec<u128>,
}

impl Interleaving {
    /// Return the interleaving of `axes` numbers, 1 to 16.
    pub fn new(axes: u32) -> Self {
        let spread = (0..BYTE_VALUES).map(|byte| {
            (0..8_u32)
                .filter(|bit| byte >> bit & 1 == 1)
                .fold(0, |spread, bit| spread | 1_u128.checked_shl(bit * axes).unwrap_or(0))
        });
        Self { axes, spread: spread.collect() }
    }

    /// Return the bits of one axis at their places in a key. Bits beyond the key's 128 are lost.
    #[inline]
    pub fn place(&self, axis: u32, number: u32) -> u128 {
        let [low, high, ..] = number.to_le_bytes();
        let byte = |byte: u8| self.spread.get(usize::from(byte)).copied().unwrap_or(0);
        let spread = byte(low) | byte(high).checked_shl(8 * self.axes).unwrap_or(0);
        spread << (self.axes - 1).saturating_sub(axis)
    }

    /// Return the bits of all axes: [`interleave`] of 16 bits.
    #[inline]
    pub fn of(&self, axes: &[u32]) -> u128 {
        (0_u32..).zip(axes).fold(0, |key, (axis, number)| key | self.place(axis, *number))
    }
}

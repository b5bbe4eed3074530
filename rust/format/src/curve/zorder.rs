//! The bits of several numbers in turn.

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

//! The Hilbert curve by Skilling's transform (AIP Conference Proceedings 707, 381, 2004).

/// Replace coordinates by the transposed Hilbert index: [`interleave`](super::interleave) of the result is the position of
/// the point on the curve. Every coordinate has `bits` bits, 1 to 32.
pub fn hilbert_axes(axes: &mut [u32], bits: u32) {
    let Some(shift) = bits.checked_sub(1).filter(|shift| *shift < u32::BITS) else { return };
    let highest = 1_u32 << shift;
    undo_rotations(axes, highest);
    gray_code(axes, highest);
}

fn undo_rotations(axes: &mut [u32], highest: u32) {
    let Some(mut first) = axes.first().copied() else { return };
    let mut bit = highest;
    while bit > 1 {
        let lower = bit - 1;
        for (position, axis) in axes.iter_mut().enumerate() {
            // The first axis exchanges bits with itself, which changes nothing.
            let value = if position == 0 { first } else { *axis };
            if value & bit != 0 {
                first ^= lower;
            } else if position > 0 {
                let exchanged = (first ^ value) & lower;
                first ^= exchanged;
                *axis = value ^ exchanged;
            }
        }
        bit >>= 1;
    }
    if let Some(axis) = axes.first_mut() {
        *axis = first;
    }
}

fn gray_code(axes: &mut [u32], highest: u32) {
    let mut previous = 0;
    for axis in axes.iter_mut() {
        *axis ^= previous;
        previous = *axis;
    }
    let mut flips = 0;
    let mut bit = highest;
    while bit > 1 {
        if previous & bit != 0 {
            flips ^= bit - 1;
        }
        bit >>= 1;
    }
    for axis in axes.iter_mut() {
        *axis ^= flips;
    }
}

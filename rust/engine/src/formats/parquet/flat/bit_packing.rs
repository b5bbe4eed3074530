//! Unpacking of bit-packed integers, least significant bit first.

/// Values that are unpacked together.
pub(crate) const BLOCK: usize = 32;

/// Maximum packed bytes of a block of values.
const BLOCK_BYTES: usize = BLOCK * 4;

/// Unpack blocks of values of `width` bits, at most 32. Missing bytes are read as zero.
pub(crate) fn unpack_blocks(width: usize, bytes: &[u8], blocks: &mut [[u32; BLOCK]]) {
    macro_rules! dispatch {
        ($($width:literal)*) => {
            match width {
                $($width => unpack::<$width>(bytes, blocks),)*
                _ => blocks.fill([0; BLOCK]),
            }
        };
    }
    dispatch!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

fn unpack<const WIDTH: usize>(bytes: &[u8], blocks: &mut [[u32; BLOCK]]) {
    let whole = blocks.len().min(bytes.len() / (WIDTH * 4));
    let (front, back) = blocks.split_at_mut(whole);
    for (bytes, block) in bytes.chunks_exact(WIDTH * 4).zip(front) {
        unpack_block::<WIDTH>(bytes, block);
    }
    let mut rest = bytes.get(whole * WIDTH * 4..).unwrap_or_default();
    for block in back {
        let mut padded = [0_u8; BLOCK_BYTES];
        let length = rest.len().min(WIDTH * 4);
        padded[..length].copy_from_slice(&rest[..length]);
        rest = &rest[length..];
        unpack_block::<WIDTH>(&padded[..WIDTH * 4], block);
    }
}

#[inline(always)]
fn unpack_block<const WIDTH: usize>(bytes: &[u8], block: &mut [u32; BLOCK]) {
    // The additional word keeps `words[word + 1]` in bounds; no value uses its bits.
    let mut words = [0_u32; BLOCK + 1];
    for (word, bytes) in words[..WIDTH].iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mask = u32::MAX >> (32 - WIDTH);
    // The macro makes every shift a constant; the compiler does not unroll a loop over 32 values.
    macro_rules! values {
        ($($index:literal)*) => {
            $({
                let (word, shift) = ($index * WIDTH / 32, $index * WIDTH % 32);
                let low = words[word] >> shift;
                let high = if shift + WIDTH > 32 { words[word + 1] << (32 - shift) } else { 0 };
                block[$index] = (low | high) & mask;
            })*
        };
    }
    values!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}

/// Return the value of `width` bits, at most 64, that starts at bit `bit`. Missing bytes are read as zero.
pub(crate) fn wide_value(width: usize, bytes: &[u8], bit: usize) -> u64 {
    let mut window = [0_u8; 16];
    let from = bytes.get(bit / 8..).unwrap_or_default();
    let count = from.len().min(9);
    window[..count].copy_from_slice(&from[..count]);
    let value = (u128::from_le_bytes(window) >> (bit % 8)) as u64;
    match width {
        0 => 0,
        width => value & (u64::MAX >> (64 - width.min(64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_every_width_hold_the_values_that_were_packed() {
        for width in 0..=32_usize {
            let values: Vec<u64> = (0..BLOCK as u64)
                .map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ((1_u64 << width) - 1))
                .collect();
            let mut bytes = vec![0_u8; width * 4];
            for (index, value) in values.iter().enumerate() {
                for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
                    let at = index * width + bit;
                    bytes[at / 8] |= 1 << (at % 8);
                }
            }
            let mut blocks = [[7; BLOCK]; 2];
            unpack_blocks(width, &bytes, &mut blocks);
            let [block, absent] = blocks;
            assert_eq!(absent, [0; BLOCK]);
            assert!(block.iter().zip(&values).all(|(found, value)| u64::from(*found) == *value));
            for (index, value) in values.iter().enumerate() {
                assert_eq!(wide_value(width, &bytes, index * width), *value);
            }
            // A block whose bytes end after 8 values.
            let mut blocks = [[7; BLOCK]];
            unpack_blocks(width, &bytes[..width], &mut blocks);
            let [block] = blocks;
            assert!(
                block.iter().zip(&values).take(8).all(|(found, value)| u64::from(*found) == *value)
            );
        }
    }
}

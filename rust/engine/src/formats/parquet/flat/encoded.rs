//! Positions in the encoded values of a page.

use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::errors::{ParquetError, Result};

use super::delta::Delta;
use super::hybrid::Hybrid;
use super::page::{PageData, damaged};

/// Encodings that this decoder supports. Writers often list BIT_PACKED for the levels of columns without levels.
#[allow(deprecated)]
const ENCODINGS: [Encoding; 9] = [
    Encoding::PLAIN,
    Encoding::PLAIN_DICTIONARY,
    Encoding::RLE_DICTIONARY,
    Encoding::RLE,
    Encoding::BIT_PACKED,
    Encoding::DELTA_BINARY_PACKED,
    Encoding::DELTA_LENGTH_BYTE_ARRAY,
    Encoding::DELTA_BYTE_ARRAY,
    Encoding::BYTE_STREAM_SPLIT,
];

/// Dictionary keys that are decoded at once.
const KEY_BLOCK: usize = 2_048;

/// A position in the encoded values of a page. Offsets are relative to the page's start.
#[derive(Debug, Clone)]
pub(crate) enum Encoded {
    /// PLAIN values; byte arrays are prefixed by their length.
    Plain {
        at: usize,
    },
    /// PLAIN booleans of one bit; `next` is the ordinal of the next boolean.
    Bits {
        at: usize,
        next: usize,
    },
    /// RLE booleans, whose runs start at `at`.
    Runs {
        at: usize,
        runs: Hybrid,
    },
    /// Dictionary keys, whose runs start at `at`.
    Keys {
        at: usize,
        runs: Hybrid,
    },
    Delta(Delta),
    /// DELTA_LENGTH_BYTE_ARRAY values: all lengths, then the bytes from `at` on.
    Lengths {
        lengths: Delta,
        at: usize,
    },
    /// DELTA_BYTE_ARRAY values: all prefix lengths, all suffix lengths, then the suffixes from `at` on.
    Prefixes {
        prefixes: Delta,
        suffixes: Delta,
        at: usize,
        last: Vec<u8>,
    },
    /// BYTE_STREAM_SPLIT values: the first byte of all `count` values, then the second byte of all, and so on; `next`
    /// is the ordinal of the next value.
    Split {
        at: usize,
        count: usize,
        next: usize,
    },
}

impl Encoded {
    /// Return whether all encodings of a column chunk are supported.
    pub(crate) fn reads(encodings: impl IntoIterator<Item = Encoding>) -> bool {
        encodings.into_iter().all(|encoding| ENCODINGS.contains(&encoding))
    }

    /// Return the position of a page's first value. Values have `width` bytes, 0 for a variable length.
    ///
    /// # Errors
    /// `General` for a damaged page, `NYI` for an encoding that is invalid for the type.
    #[allow(deprecated)]
    pub(crate) fn first(page: &PageData, physical: PhysicalType, width: usize) -> Result<Self> {
        use PhysicalType as P;
        let (bytes, at) = (page.bytes.as_ref(), page.values);
        Ok(match (page.encoding, physical) {
            (Encoding::PLAIN, P::BOOLEAN) => Self::Bits { at, next: 0 },
            (Encoding::PLAIN, _) => Self::Plain { at },
            (Encoding::RLE, P::BOOLEAN) => {
                // The length of the runs precedes them in 4 bytes.
                Self::Runs { at: at + 4, runs: Hybrid::new(1, 0)? }
            }
            (Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY, _) => {
                // A page of nulls may end before the bit width of its keys.
                let width = bytes.get(at).copied().unwrap_or(0);
                Self::Keys { at: at + 1, runs: Hybrid::new(usize::from(width), 0)? }
            }
            (Encoding::DELTA_BINARY_PACKED, P::INT32 | P::INT64) => {
                Self::Delta(Delta::new(bytes, at)?)
            }
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, P::BYTE_ARRAY) => {
                let lengths = Delta::new(bytes, at)?;
                Self::Lengths { at: lengths.end(bytes)?, lengths }
            }
            (Encoding::DELTA_BYTE_ARRAY, P::BYTE_ARRAY | P::FIXED_LEN_BYTE_ARRAY) => {
                let prefixes = Delta::new(bytes, at)?;
                let suffixes = Delta::new(bytes, prefixes.end(bytes)?)?;
                let at = suffixes.end(bytes)?;
                Self::Prefixes { prefixes, suffixes, at, last: Vec::new() }
            }
            (
                Encoding::BYTE_STREAM_SPLIT,
                P::INT32 | P::INT64 | P::FLOAT | P::DOUBLE | P::FIXED_LEN_BYTE_ARRAY,
            ) if width > 0 => Self::Split { at, count: (bytes.len() - at) / width, next: 0 },
            (encoding, physical) => {
                return Err(ParquetError::NYI(format!("{encoding} values of type {physical}")));
            }
        })
    }

    /// Decode `count` values of `width` bytes, and pass their bytes to `take` in one or more calls.
    ///
    /// # Errors
    /// `General` if the page ends before the last of these values.
    pub(crate) fn fixed(
        &mut self,
        bytes: &[u8],
        (width, count): (usize, usize),
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        match self {
            Self::Plain { at } => {
                let size = count.checked_mul(width).ok_or_else(ended)?;
                let end = at.checked_add(size).ok_or_else(ended)?;
                take(bytes.get(*at..end).ok_or_else(ended)?);
                *at = end;
                Ok(())
            }
            Self::Split { at, count: all, next } => {
                if count > *all - *next {
                    return Err(ended());
                }
                let mut values = vec![0; count * width];
                for (byte, stream) in bytes[*at..].chunks_exact(*all).take(width).enumerate() {
                    let stream = &stream[*next..*next + count];
                    for (value, stored) in values.chunks_exact_mut(width).zip(stream) {
                        value[byte] = *stored;
                    }
                }
                take(&values);
                *next += count;
                Ok(())
            }
            _ => self.byte_arrays(bytes, count, &mut |value| take(value)),
        }
    }

    /// Decode `count` byte arrays, and pass each of them to `take`.
    ///
    /// # Errors
    /// `General` if the page ends before the last of these values.
    pub(crate) fn byte_arrays(
        &mut self,
        bytes: &[u8],
        count: usize,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        match self {
            Self::Lengths { lengths, at } => {
                let mut is_whole = true;
                lengths.each(bytes, count, |length| {
                    let end =
                        usize::try_from(length).ok().and_then(|length| at.checked_add(length));
                    match end.and_then(|end| Some((bytes.get(*at..end)?, end))) {
                        Some((value, end)) => {
                            take(value);
                            *at = end;
                        }
                        None => is_whole = false,
                    }
                })?;
                is_whole.then_some(()).ok_or_else(ended)
            }
            Self::Prefixes { prefixes, suffixes, at, last } => {
                for _ in 0..count {
                    let (mut shared, mut length) = (0, 0);
                    prefixes.each(bytes, 1, |value| shared = value)?;
                    suffixes.each(bytes, 1, |value| length = value)?;
                    let shared = usize::try_from(shared).ok().filter(|it| *it <= last.len());
                    let end =
                        usize::try_from(length).ok().and_then(|length| at.checked_add(length));
                    let end = end.ok_or_else(ended)?;
                    last.truncate(shared.ok_or_else(ended)?);
                    last.extend_from_slice(bytes.get(*at..end).ok_or_else(ended)?);
                    *at = end;
                    take(last);
                }
                Ok(())
            }
            Self::Plain { at } => {
                for _ in 0..count {
                    let (value, end) = byte_array(bytes, *at).ok_or_else(ended)?;
                    take(value);
                    *at = end;
                }
                Ok(())
            }
            _ => Err(unexpected()),
        }
    }

    /// Append the next `count` keys of a dictionary of `entries` entries.
    ///
    /// # Errors
    /// `General` if the page ends before the last of these keys, and for a key beyond the dictionary's entries.
    pub(crate) fn keys(
        &mut self,
        bytes: &[u8],
        (count, entries): (usize, usize),
        keys: &mut Vec<u32>,
    ) -> Result<()> {
        let Self::Keys { at, runs } = self else { return Err(unexpected()) };
        let start = keys.len();
        runs.read(bytes.get(*at..).unwrap_or_default(), count, keys)?;
        // The top bit of `last - key | key` is set for a key above `last`: the baseline vector
        // instructions of x86-64 have no comparison of unsigned integers.
        let last = i32::try_from(entries).ok().and_then(|entries| entries.checked_sub(1));
        let beyond = match last {
            Some(last) => {
                let last = last.cast_unsigned();
                let bits =
                    keys[start..].iter().fold(0, |bits, key| bits | last.wrapping_sub(*key) | key);
                bits >> 31 == 1
            }
            None => keys[start..].iter().any(|key| *key as usize >= entries),
        };
        match beyond {
            false => Ok(()),
            true => {
                Err(damaged(format!("a key is beyond the {entries} entries of its dictionary")))
            }
        }
    }

    /// Decode the next `count` keys of a dictionary of `entries` entries, and pass them to `take` in blocks that fit
    /// the first-level cache. `keys` is the buffer of a block.
    ///
    /// # Errors
    /// The errors of [`Encoded::keys`].
    pub(crate) fn key_blocks(
        &mut self,
        bytes: &[u8],
        (mut count, entries): (usize, usize),
        keys: &mut Vec<u32>,
        mut take: impl FnMut(&[u32]),
    ) -> Result<()> {
        while count > 0 {
            let block = count.min(KEY_BLOCK);
            keys.clear();
            self.keys(bytes, (block, entries), keys)?;
            take(keys);
            count -= block;
        }
        Ok(())
    }

    /// Skip `count` values of `width` bytes, 0 for a variable length.
    ///
    /// # Errors
    /// `General` if the page ends before the last of these values.
    pub(crate) fn skip(&mut self, bytes: &[u8], width: usize, count: usize) -> Result<()> {
        match self {
            Self::Plain { at } if width > 0 => {
                let size = count.checked_mul(width).ok_or_else(ended)?;
                *at = at.checked_add(size).filter(|at| *at <= bytes.len()).ok_or_else(ended)?;
            }
            Self::Bits { next, .. } => *next = next.saturating_add(count),
            Self::Runs { at, runs } | Self::Keys { at, runs } => {
                runs.skip(bytes.get(*at..).unwrap_or_default(), count)?;
            }
            Self::Delta(delta) => delta.each(bytes, count, |_| {})?,
            Self::Split { count: all, next, .. } => {
                *next = next.checked_add(count).filter(|next| next <= all).ok_or_else(ended)?;
            }
            Self::Plain { .. } | Self::Lengths { .. } | Self::Prefixes { .. } => {
                self.byte_arrays(bytes, count, &mut |_| {})?;
            }
        }
        Ok(())
    }
}

/// Return the length-prefixed byte array at an offset, and the offset after its last byte.
pub(crate) fn byte_array(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let length = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    let start = at + 4;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    Some((bytes.get(start..end)?, end))
}

pub(crate) fn ended() -> ParquetError {
    damaged("it ends before its last value".into())
}

pub(crate) fn unexpected() -> ParquetError {
    ParquetError::NYI("an encoding that the type of the column has not".into())
}

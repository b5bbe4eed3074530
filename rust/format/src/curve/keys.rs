//! The keys of rows on a curve.

use arrow_array::{ArrayRef, FixedSizeBinaryArray};

use super::hilbert::hilbert_axes;
use super::ranks::Ranks;
use super::zorder::Interleaving;
use crate::{Error, Result};

/// The most columns of a curve.
pub const MAX_COLUMNS: usize = 16;
/// Bits of a key.
const KEY_BITS: usize = 128;
/// The most bits of a rank.
const RANK_BITS: usize = 16;
/// Bytes of a key.
const KEY_BYTES: i32 = 16;

/// A space-filling curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// The bits of all columns in turn.
    ZOrder,
    /// The Hilbert curve: consecutive points are neighbours.
    Hilbert,
}

impl std::str::FromStr for Curve {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "zorder" => Ok(Self::ZOrder),
            "hilbert" => Ok(Self::Hilbert),
            other => {
                Err(Error::invalid("curve", format!("expected zorder or hilbert, got {other}")))
            }
        }
    }
}

/// A curve over columns whose quantiles are known.
#[derive(Debug)]
pub struct CurveKeys {
    curve: Curve,
    columns: Vec<Ranks>,
    bits: u32,
    interleaving: Interleaving,
}

impl CurveKeys {
    /// Create a curve over columns, from a sample of each.
    ///
    /// # Errors
    /// `InvalidArgument` for no column or more than [`MAX_COLUMNS`]; `Unsupported` for a nested column.
    pub fn new(curve: Curve, samples: &[ArrayRef]) -> Result<Self> {
        let count = samples.len();
        if !(1..=MAX_COLUMNS).contains(&count) {
            let reason = format!("expected 1 to {MAX_COLUMNS} columns, got {count}");
            return Err(Error::invalid("curve", reason));
        }
        let most = u32::try_from(RANK_BITS.min(KEY_BITS / count)).unwrap_or(1);
        let columns = samples.iter().map(|sample| Ranks::new(sample, most));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let bits = columns.iter().map(Ranks::bits).max().unwrap_or(1).min(most);
        let interleaving = Interleaving::new(u32::try_from(count).unwrap_or(1));
        Ok(Self { curve, columns, bits, interleaving })
    }

    /// Return the bytes that hold every key, 1 to 16: the upper bytes of all keys are zero.
    pub fn key_bytes(&self) -> usize {
        (self.columns.len() * self.bits as usize).div_ceil(8).clamp(1, KEY_BYTES as usize)
    }

    /// Return the key of each row.
    ///
    /// # Errors
    /// `InvalidArgument` for another number of columns; `Mismatch` for a column of another type than its sample's.
    pub fn keys(&self, columns: &[ArrayRef]) -> Result<Vec<u128>> {
        if columns.len() != self.columns.len() {
            let reason = format!("expected {} columns, got {}", self.columns.len(), columns.len());
            return Err(Error::invalid("curve", reason));
        }
        let ranks = self.columns.iter().zip(columns).map(|(ranks, column)| ranks.of(column));
        let ranks = ranks.collect::<Result<Vec<_>>>()?;
        // A column of few values decides the upper bits of its axis, so that all axes have the same range.
        let shifts: Vec<u32> =
            self.columns.iter().map(|ranks| self.bits.saturating_sub(ranks.bits())).collect();
        let rows = ranks.first().map_or(0, Vec::len);
        let mut keys = vec![0; rows];
        if self.curve == Curve::Hilbert {
            let mut axes = vec![0; ranks.len()];
            for (row, key) in keys.iter_mut().enumerate() {
                for ((axis, ranks), shift) in axes.iter_mut().zip(&ranks).zip(&shifts) {
                    *axis = ranks[row] << shift;
                }
                hilbert_axes(&mut axes, self.bits);
                *key = self.interleaving.of(&axes);
            }
            return Ok(keys);
        }
        for ((axis, ranks), shift) in (0_u32..).zip(&ranks).zip(&shifts) {
            for (key, rank) in keys.iter_mut().zip(ranks) {
                *key |= self.interleaving.place(axis, rank << shift);
            }
        }
        Ok(keys)
    }

    /// Return the key of each row as 16 bytes, which order as the keys do.
    ///
    /// # Errors
    /// As for [`CurveKeys::keys`].
    pub fn column(&self, columns: &[ArrayRef]) -> Result<FixedSizeBinaryArray> {
        let bytes: Vec<u8> = self.keys(columns)?.iter().flat_map(|key| key.to_be_bytes()).collect();
        FixedSizeBinaryArray::try_new(KEY_BYTES, bytes.into(), None)
            .map_err(|error| Error::invalid("curve", error.to_string()))
    }
}

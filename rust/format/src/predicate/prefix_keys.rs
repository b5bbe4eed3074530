//! Prefixes of byte strings as integers, for bounds that are compared with many literals.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};

use super::mask::pack;
use super::tree::Operator;

/// Byte strings with a key each: the eight bytes after the prefix that all of them share. Values with different keys
/// are ordered as their keys; values with equal keys are compared in full.
#[derive(Debug)]
pub(super) struct PrefixKeys {
    values: BinaryArray,
    common: Vec<u8>,
    keys: Vec<u64>,
}

impl PrefixKeys {
    /// Compute the keys of a binary array; `None` for other arrays.
    pub(super) fn of(bounds: &ArrayRef) -> Option<Self> {
        let values = bounds.as_binary_opt::<i32>()?.clone();
        let mut present = values.iter().flatten();
        let mut common = present.next().unwrap_or_default();
        for value in present {
            let same = common.iter().zip(value).take_while(|(one, other)| one == other).count();
            common = common.get(..same).unwrap_or_default();
        }
        let (common, skipped) = (common.to_vec(), common.len());
        let keys = (0..values.len()).map(|place| key(values.value(place), skipped)).collect();
        Some(Self { values, common, keys })
    }

    /// Return which values satisfy a comparison with a literal, unset for null. `None` for an operator that is not a
    /// comparison.
    pub(super) fn test(&self, op: Operator, literal: &[u8]) -> Option<BooleanBuffer> {
        use Operator::{Eq, Gt, GtEq, Lt, LtEq};
        if !matches!(op, Lt | LtEq | Gt | GtEq | Eq) {
            return None;
        }
        let mask = match literal.strip_prefix(self.common.as_slice()) {
            Some(_) => self.compare_keys(op, literal),
            // The literal differs from the common prefix, so all values compare alike.
            None => match (self.common.as_slice().cmp(literal), op) {
                (Ordering::Less, Lt | LtEq) | (Ordering::Greater, Gt | GtEq) => {
                    BooleanBuffer::new_set(self.keys.len())
                }
                _ => BooleanBuffer::new_unset(self.keys.len()),
            },
        };
        Some(match self.values.nulls() {
            Some(nulls) => &mask & nulls.inner(),
            None => mask,
        })
    }

    fn compare_keys(&self, op: Operator, literal: &[u8]) -> BooleanBuffer {
        let wanted = key(literal, self.common.len());
        let apart = match op {
            Operator::Lt | Operator::LtEq => pack(&self.keys, move |key| key < wanted),
            Operator::Gt | Operator::GtEq => pack(&self.keys, move |key| key > wanted),
            _ => BooleanBuffer::new_unset(self.keys.len()),
        };
        let same = pack(&self.keys, move |key| key == wanted);
        if same.count_set_bits() == 0 {
            return apart;
        }
        let mut mask = BooleanBufferBuilder::new(apart.len());
        mask.append_buffer(&apart);
        for place in same.set_indices() {
            let order = self.values.value(place).cmp(literal);
            let holds = match op {
                Operator::Lt => order.is_lt(),
                Operator::LtEq => order.is_le(),
                Operator::Gt => order.is_gt(),
                Operator::GtEq => order.is_ge(),
                _ => order.is_eq(),
            };
            mask.set_bit(place, holds);
        }
        mask.finish()
    }
}

/// Return up to eight bytes after `skipped` bytes, the first one most significant.
fn key(value: &[u8], skipped: usize) -> u64 {
    let rest = value.get(skipped..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => {
            let mut eight = [0; 8];
            eight.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            u64::from_be_bytes(eight)
        }
    }
}

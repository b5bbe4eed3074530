//! Byte strings as numbers of the same order, for a column that is compared with many literals.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};

use super::mask::pack;
use super::tree::Operator;

/// The eight bytes of each value that follow what all values begin with. Values whose keys differ
/// are ordered as their keys; those with the same key have to be looked at.
#[derive(Debug)]
pub(super) struct PrefixKeys {
    values: BinaryArray,
    common: Vec<u8>,
    keys: Vec<u64>,
}

impl PrefixKeys {
    /// `None` where the array is not binary.
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

    /// Which values satisfy a comparison with a literal; null satisfies none. `None` for an
    /// operator that is no comparison.
    pub(super) fn test(&self, op: Operator, literal: &[u8]) -> Option<BooleanBuffer> {
        use Operator::{Eq, Gt, GtEq, Lt, LtEq};
        if !matches!(op, Lt | LtEq | Gt | GtEq | Eq) {
            return None;
        }
        let mask = match literal.strip_prefix(self.common.as_slice()) {
            Some(_) => self.beside(op, literal),
            // The literal leaves what all values begin with, and so do they all to one side.
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

    fn beside(&self, op: Operator, literal: &[u8]) -> BooleanBuffer {
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

/// Up to eight bytes from a place on, the first the most significant.
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

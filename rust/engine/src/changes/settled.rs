//! What is left of changes.

use std::collections::HashMap;

use arrow_array::{BooleanArray, Int32Array};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use icefloe_format::Error as FormatError;
use icefloe_format::changelog::Left;

use crate::error::Result;

/// Which changes are left and as what they are told: one bit for each change, and one more where updates are told.
#[derive(Debug)]
pub struct Settled {
    kept: BooleanBuffer,
    halves: Option<BooleanBuffer>,
    /// Parts that changes are told as which are of another part.
    moved: HashMap<u64, i32>,
    parts: Vec<u64>,
}

/// What is left of some changes.
#[derive(Debug)]
pub struct Told {
    /// Which of them are left.
    pub kept: BooleanArray,
    /// Of those that are left, which are halves of an update.
    pub halves: BooleanArray,
    /// Of those that are left, the part that they are told as.
    pub parts: Int32Array,
}

pub(super) struct Unsettled {
    kept: BooleanBufferBuilder,
    halves: Option<BooleanBufferBuilder>,
    moved: HashMap<u64, i32>,
    parts: Vec<u64>,
}

impl Settled {
    #[expect(clippy::new_ret_no_self, reason = "it is built bit by bit")]
    pub(super) fn new(count: u64, keyed: bool, parts: Vec<u64>) -> Result<Unsettled> {
        let count = usize::try_from(count)
            .map_err(|_| FormatError::invalid("changes", "too many for this machine"))?;
        let bits = || {
            let mut bits = BooleanBufferBuilder::new(count);
            bits.append_n(count, false);
            bits
        };
        let halves = keyed.then(bits);
        Ok(Unsettled { kept: bits(), halves, moved: HashMap::new(), parts })
    }

    /// How many changes are left of `count` from number `first` on.
    ///
    /// # Errors
    /// `InvalidArgument` where there are not so many.
    pub fn count(&self, first: usize, count: usize) -> Result<usize> {
        self.check(first, count)?;
        Ok(self.kept.slice(first, count).count_set_bits())
    }

    /// What is left of `count` changes from number `first` on.
    ///
    /// # Errors
    /// As [`Settled::count`].
    pub fn told(&self, first: usize, count: usize) -> Result<Told> {
        self.check(first, count)?;
        let kept = self.kept.slice(first, count);
        let numbers = || kept.set_indices().map(|index| first + index);
        let half = |number| self.halves.as_ref().is_some_and(|halves| halves.value(number));
        let halves = numbers().map(half).collect::<BooleanBuffer>();
        let parts = numbers().map(|number| {
            let number = number as u64;
            let moved = if self.moved.is_empty() { None } else { self.moved.get(&number) };
            moved.copied().unwrap_or_else(|| part_of(&self.parts, number))
        });
        let parts = parts.collect::<Vec<_>>();
        Ok(Told {
            kept: BooleanArray::new(kept.clone(), None),
            halves: BooleanArray::new(halves, None),
            parts: Int32Array::from(parts),
        })
    }

    fn check(&self, first: usize, count: usize) -> Result<()> {
        if first.checked_add(count).is_none_or(|end| end > self.kept.len()) {
            let reason = format!("{count} from number {first} on, of {}", self.kept.len());
            return Err(FormatError::invalid("changes", reason).into());
        }
        Ok(())
    }
}

impl Unsettled {
    pub(super) fn keep(&mut self, left: Left) {
        let Ok(number) = usize::try_from(left.number) else { return };
        self.kept.set_bit(number, true);
        if let Some(halves) = self.halves.as_mut().filter(|_| left.half) {
            halves.set_bit(number, true);
        }
        if left.told_as != left.number {
            let [own, told] = [left.number, left.told_as].map(|each| part_of(&self.parts, each));
            if own != told {
                self.moved.insert(left.number, told);
            }
        }
    }

    pub(super) fn finish(mut self) -> Settled {
        Settled {
            kept: self.kept.finish(),
            halves: self.halves.as_mut().map(BooleanBufferBuilder::finish),
            moved: self.moved,
            parts: self.parts,
        }
    }
}

fn part_of(starts: &[u64], number: u64) -> i32 {
    let after = starts.partition_point(|start| *start <= number);
    i32::try_from(after.saturating_sub(1)).unwrap_or(i32::MAX)
}

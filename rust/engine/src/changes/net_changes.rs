//! The changes that remain after deletes and inserts of equal rows cancel.

use std::collections::HashMap;

use arrow_array::{BooleanArray, Int32Array};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use icefloe_format::Error as FormatError;
use icefloe_format::changelog::NetChange;

use crate::error::Result;

/// The net changes: one bit for each change, and a second one where updates are paired.
#[derive(Debug)]
pub struct NetChanges {
    remaining: BooleanBuffer,
    halves: Option<BooleanBuffer>,
    /// Changes reported as part of another part than the one that they were added to.
    moved: HashMap<u64, i32>,
    parts: Vec<u64>,
}

/// The net rows among some changes.
#[derive(Debug)]
pub struct NetRows {
    /// The changes that remain.
    pub remaining: BooleanArray,
    /// For each remaining change, whether it is half of an update.
    pub halves: BooleanArray,
    /// For each remaining change, the part that it is reported as.
    pub parts: Int32Array,
}

pub(super) struct NetChangesBuilder {
    remaining: BooleanBufferBuilder,
    halves: Option<BooleanBufferBuilder>,
    moved: HashMap<u64, i32>,
    parts: Vec<u64>,
}

impl NetChanges {
    /// Return a builder over `count` changes that start in `parts`.
    pub(super) fn builder(count: u64, keyed: bool, parts: Vec<u64>) -> Result<NetChangesBuilder> {
        let count = usize::try_from(count).map_err(|_| {
            FormatError::invalid("changes", "more of them than this machine can address")
        })?;
        let bits = || {
            let mut bits = BooleanBufferBuilder::new(count);
            bits.append_n(count, false);
            bits
        };
        let halves = keyed.then(bits);
        Ok(NetChangesBuilder { remaining: bits(), halves, moved: HashMap::new(), parts })
    }

    /// Return the number of net changes among `count` changes from number `first` on.
    ///
    /// # Errors
    /// `InvalidArgument` for a range beyond the last change.
    pub fn count(&self, first: usize, count: usize) -> Result<usize> {
        self.check(first, count)?;
        Ok(self.remaining.slice(first, count).count_set_bits())
    }

    /// Return the net rows among `count` changes from number `first` on.
    ///
    /// # Errors
    /// The errors of [`NetChanges::count`].
    pub fn rows(&self, first: usize, count: usize) -> Result<NetRows> {
        self.check(first, count)?;
        let remaining = self.remaining.slice(first, count);
        let numbers = || remaining.set_indices().map(|index| first + index);
        let half = |number| self.halves.as_ref().is_some_and(|halves| halves.value(number));
        let halves = numbers().map(half).collect::<BooleanBuffer>();
        let parts = numbers().map(|number| {
            let number = number as u64;
            let moved = if self.moved.is_empty() { None } else { self.moved.get(&number) };
            moved.copied().unwrap_or_else(|| part_of(&self.parts, number))
        });
        let parts = parts.collect::<Vec<_>>();
        Ok(NetRows {
            remaining: BooleanArray::new(remaining.clone(), None),
            halves: BooleanArray::new(halves, None),
            parts: Int32Array::from(parts),
        })
    }

    fn check(&self, first: usize, count: usize) -> Result<()> {
        if first.checked_add(count).is_none_or(|end| end > self.remaining.len()) {
            let reason = format!(
                "expected a range of the {}, got {count} from number {first} on",
                self.remaining.len()
            );
            return Err(FormatError::invalid("changes", reason).into());
        }
        Ok(())
    }
}

impl NetChangesBuilder {
    pub(super) fn add(&mut self, change: NetChange) {
        let Ok(number) = usize::try_from(change.number) else { return };
        self.remaining.set_bit(number, true);
        if let Some(halves) = self.halves.as_mut().filter(|_| change.half) {
            halves.set_bit(number, true);
        }
        if change.reported_as != change.number {
            let [own, reported] =
                [change.number, change.reported_as].map(|each| part_of(&self.parts, each));
            if own != reported {
                self.moved.insert(change.number, reported);
            }
        }
    }

    pub(super) fn finish(mut self) -> NetChanges {
        NetChanges {
            remaining: self.remaining.finish(),
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

//! Which rows of a changelog are left: changes are taken one batch after the other, and only hashes of rows are kept.

mod hashes;
mod settled;
mod spill;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use icefloe_format::changelog::{RowHasher, left_of};

use self::hashes::Hashes;
pub use self::settled::{Settled, Told};
use crate::error::Result;

/// Changes whose rows may undo each other, or be halves of updates. It holds a hash or two of each row, in memory up to
/// a number of bytes and beyond it in a temporary file.
#[derive(Debug)]
pub struct ChangePairs {
    hasher: RowHasher,
    hashes: Hashes,
    /// Number of the first change of each part.
    parts: Vec<u64>,
}

impl ChangePairs {
    /// No changes yet. `keyed` if updates are to be told, `budget` is the memory for hashes, in bytes.
    pub fn new(keyed: bool, budget: usize) -> Self {
        Self { hasher: RowHasher::new(), hashes: Hashes::new(keyed, budget), parts: vec![] }
    }

    /// Begin the next part of the changes; parts are numbered from 0, and those before the first belong to it.
    pub fn begin_part(&mut self) {
        self.parts.push(self.hashes.count());
    }

    /// Add changes, in the order in which they were made: all columns of the rows, and those that tell which row it is.
    /// Those that are not `wanted` take part and are not told; if `None` all are.
    ///
    /// # Errors
    /// `InvalidArgument` where a column cannot be compared, `Storage` where the temporary file cannot be written.
    pub fn add(
        &mut self,
        rows: &RecordBatch,
        keys: &[ArrayRef],
        deleted: bool,
        wanted: Option<&BooleanArray>,
    ) -> Result<()> {
        let count = rows.num_rows();
        let row_hashes = self.hasher.hash(rows.columns(), count)?;
        let key_hashes = match self.hashes.keyed() {
            true => self.hasher.hash(keys, count)?,
            false => vec![],
        };
        self.hashes.add(&row_hashes, &key_hashes, deleted, wanted.map(BooleanArray::values))
    }

    /// Find out what is left. Takes one share of the hashes after the other into memory.
    ///
    /// # Errors
    /// As [`left_of`], and `Storage` where the temporary file cannot be read.
    pub fn settle(mut self) -> Result<Settled> {
        let mut settled = Settled::new(self.hashes.count(), self.hashes.keyed(), self.parts)?;
        for share in 0..hashes::SHARES {
            let mut changes = self.hashes.take(share)?;
            for left in left_of(&mut changes, self.hashes.keyed())? {
                settled.keep(left);
            }
        }
        Ok(settled.finish())
    }
}

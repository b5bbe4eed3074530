//! Net changes of a changelog: changes are added batch by batch, and only hashes of their rows stay in memory.

mod hashes;
mod net_changes;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use icefloe_format::changelog::{RowHasher, net_changes};

use self::hashes::Hashes;
pub use self::net_changes::{NetChanges, NetRows};
use crate::error::Result;
use crate::runtime::environment;

/// Changes of which deletes and inserts of equal rows cancel and others pair up as updates. A row is one or two hashes,
/// in memory up to a number of bytes and beyond it in a temporary file.
#[derive(Debug)]
pub struct ChangePairs {
    hasher: RowHasher,
    hashes: Hashes,
    /// The number of each part's first change.
    parts: Vec<u64>,
}

impl ChangePairs {
    /// Create an empty set. `keyed` pairs deletes and inserts of one key as updates; `budget` is the memory for hashes
    /// in bytes.
    pub fn new(keyed: bool, budget: usize) -> Self {
        Self {
            hasher: RowHasher::new(environment::random_key()),
            hashes: Hashes::new(keyed, budget),
            parts: vec![],
        }
    }

    /// Begin the next part of the changes. Parts are numbered from 0; changes added before the first call are of part 0.
    pub fn begin_part(&mut self) {
        self.parts.push(self.hashes.count());
    }

    /// Add changes in commit order: all columns of the rows, and their key columns. Rows that are not `wanted` cancel and
    /// pair like the others but are not reported; `None` reports all.
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

    /// Cancel deletes and inserts of equal rows. One share of the hashes after the other is read into memory.
    ///
    /// # Errors
    /// As for [`net_changes`], and `Storage` where the temporary file cannot be read.
    pub fn cancel(mut self) -> Result<NetChanges> {
        let mut net = NetChanges::builder(self.hashes.count(), self.hashes.keyed(), self.parts)?;
        for share in 0..hashes::SHARES {
            let mut changes = self.hashes.take(share)?;
            for change in net_changes(&mut changes, self.hashes.keyed())? {
                net.add(change);
            }
        }
        Ok(net.finish())
    }
}

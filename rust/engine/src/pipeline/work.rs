//! The work that a pipeline does, and its limits.

use crate::bytes::data_file::Opening;
use crate::error::Result;

/// What is worked on.
pub(crate) trait Work: Send + Sync + 'static {
    /// A part of a task that is decoded on one thread.
    type Unit: Send;
    /// What decoding makes.
    type Item: Send;

    /// Whether all items are needed before the first is used, so that reading ahead begins at its full extent.
    const NEEDED_WHOLE: bool = false;

    /// How many tasks there are.
    fn tasks(&self) -> usize;

    /// Send for what preparing a task reads first, where a network is between.
    fn expect(&self, task: usize) -> Option<Opening>;

    /// Cut a task into units.
    fn prepare(&self, task: usize, opening: Option<Opening>) -> Result<Vec<Self::Unit>>;

    /// Send for what decoding a unit reads first, unless it is more than `most` bytes; how many it is.
    fn begin(&self, unit: &Self::Unit, most: usize) -> Option<usize>;

    /// Decode a unit, giving each item to `emit` until it returns false.
    fn decode(&self, unit: Self::Unit, emit: &mut dyn FnMut(Self::Item) -> bool) -> Result<()>;

    /// The memory that an item holds.
    fn bytes(item: &Self::Item) -> usize;
}

/// How much work is in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    /// Threads that work at once.
    pub(crate) threads: usize,
    /// Bytes of items that may wait.
    pub(crate) bytes: usize,
    /// Bytes that may be read ahead of the threads; 0 for nothing.
    pub(crate) ahead: usize,
}

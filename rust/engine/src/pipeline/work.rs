//! The work that a pipeline does, and its limits.

use crate::bytes::data_file::TailFetch;
use crate::error::Result;

/// Tasks that are cut into units, and units that are decoded to items.
pub(crate) trait Work: Send + Sync + 'static {
    /// A part of a task that is decoded on one thread.
    type Unit: Send;
    /// An item that decoding a unit produces.
    type Item: Send;

    /// Whether the consumer needs all items; reading ahead then starts with the full window.
    const NEEDED_WHOLE: bool = false;

    /// Return the number of tasks.
    fn tasks(&self) -> usize;

    /// Request the tail of the file that preparing a task opens, if the file is remote.
    fn fetch_tail(&self, task: usize) -> Option<TailFetch>;

    /// Cut a task into units.
    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<Self::Unit>>;

    /// Request the first bytes that decoding a unit reads, unless they are more than `most`. Return their number.
    fn prefetch(&self, unit: &Self::Unit, most: usize) -> Option<usize>;

    /// Decode a unit and pass each item to `emit`, until it returns false.
    fn decode(&self, unit: Self::Unit, emit: &mut dyn FnMut(Self::Item) -> bool) -> Result<()>;

    /// Return the memory of an item in bytes.
    fn bytes(item: &Self::Item) -> usize;
}

/// The limits of the work in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    /// Threads that work at once.
    pub(crate) threads: usize,
    /// Bytes of items that may wait.
    pub(crate) bytes: usize,
    /// Bytes that may be read ahead of the threads; 0 for nothing.
    pub(crate) ahead: usize,
}

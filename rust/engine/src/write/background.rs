//! One piece of work on the executor's threads, whose result is awaited later.

use tokio::task::JoinHandle;

use crate::error::Result;
use crate::runtime::executor::compute;
use crate::runtime::{block_on, joined, runtime};

/// Work that runs while its caller does other work. Dropping it lets the work end without a receiver.
pub(super) struct Background<T> {
    task: &'static str,
    handle: JoinHandle<Result<T>>,
}

impl<T: Send + 'static> Background<T> {
    /// Start work; `task` names it in errors.
    ///
    /// # Errors
    /// [`Error::Internal`](crate::Error::Internal) if the operating system starts no threads.
    pub(super) fn start(
        task: &'static str,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<Self> {
        Ok(Self { task, handle: runtime()?.spawn(compute(task, work)) })
    }

    /// Wait for the result.
    ///
    /// # Errors
    /// The errors of the work, and [`Error::Internal`](crate::Error::Internal) if it panics.
    pub(super) fn finish(self) -> Result<T> {
        let Self { task, handle } = self;
        block_on(async move { joined(task, handle.await) })
    }
}

//! Bytes that are on their way while threads do something else.

use std::future::Future;

use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use crate::runtime::{block_on, joined, runtime};

/// A request under way. Dropping it ends the request.
#[derive(Debug)]
pub(crate) struct Fetch<T> {
    /// `None` while it is waited for.
    task: Option<JoinHandle<Result<T>>>,
    process_id: u32,
}

impl<T: Send + 'static> Fetch<T> {
    /// Send the request.
    ///
    /// # Errors
    /// Where there is no runtime. What the request meets is told by [`Fetch::wait`].
    pub(crate) fn start(request: impl Future<Output = Result<T>> + Send + 'static) -> Result<Self> {
        let task = runtime()?.spawn(request);
        Ok(Self { task: Some(task), process_id: std::process::id() })
    }

    /// Whether waiting takes no time.
    pub(crate) fn has_come(&self) -> bool {
        self.task.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// What was asked for.
    ///
    /// # Errors
    /// Those of the request.
    pub(crate) fn wait(mut self) -> Result<T> {
        const TASK: &str = "fetch a part of a data file";
        let Some(task) = self.task.take() else {
            return Err(Error::internal(TASK, "it has been waited for"));
        };
        block_on(async { joined(TASK, task.await) })
    }
}

impl<T> Drop for Fetch<T> {
    fn drop(&mut self) {
        let Some(task) = self.task.take() else { return };
        if self.process_id == std::process::id() {
            task.abort();
        } else {
            // In a forked child locks of the parent's runtime may be held for ever.
            std::mem::forget(task);
        }
    }
}

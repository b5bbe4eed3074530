//! Requests under way while threads do other work.

use std::future::Future;

use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use crate::runtime::{block_on, joined, runtime};

/// A request under way; dropping cancels it.
#[derive(Debug)]
pub(crate) struct Fetch<T> {
    /// `None` once a thread waits for it.
    task: Option<JoinHandle<Result<T>>>,
    process_id: u32,
}

impl<T: Send + 'static> Fetch<T> {
    /// Start the request.
    ///
    /// # Errors
    /// [`Error::Internal`] without a runtime. [`Fetch::wait`] returns the errors of the request.
    pub(crate) fn start(request: impl Future<Output = Result<T>> + Send + 'static) -> Result<Self> {
        let task = runtime()?.spawn(request);
        Ok(Self { task: Some(task), process_id: std::process::id() })
    }

    /// Return whether the request has finished.
    pub(crate) fn is_ready(&self) -> bool {
        self.task.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Wait for the result.
    ///
    /// # Errors
    /// Errors of the request.
    pub(crate) fn wait(mut self) -> Result<T> {
        const TASK: &str = "fetch a part of a data file";
        let Some(task) = self.task.take() else {
            return Err(Error::internal(TASK, "another thread waited for the result"));
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
            // In a forked child, locks of the parent's runtime may never be released.
            std::mem::forget(task);
        }
    }
}

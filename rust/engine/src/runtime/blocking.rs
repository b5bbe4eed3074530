//! The tokio runtime of this process, and blocking on its futures.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinError;

use super::executor::waiting;
use super::per_process::PerProcess;
use super::threads::{CHECK_EVERY, call_start_hook, catch_panic, default_threads};
use crate::error::{Error, Result};

/// Threads for blocking file operations, which never wait for each other.
const BLOCKING_THREADS: usize = 64;

static RUNTIME: PerProcess<Runtime> = PerProcess::new();

/// Return the runtime of this process.
///
/// # Errors
/// [`Error::Internal`] if the operating system starts no threads.
pub fn runtime() -> Result<&'static Runtime> {
    const TASK: &str = "start the thread pool";
    RUNTIME.get(|| {
        let build = || {
            Builder::new_multi_thread()
                .worker_threads(default_threads())
                .max_blocking_threads(BLOCKING_THREADS)
                .enable_all()
                .thread_name("icefloe")
                .build()
        };
        // Where no thread can be started, the builder panics.
        let built = catch_panic(build).map_err(|text| Error::internal(TASK, text))?;
        let runtime = built.map_err(|error| Error::internal(TASK, error))?;
        call_start_hook();
        Ok(runtime)
    })
}

/// Run a future to completion on this thread, in the context of this process's runtime.
///
/// Not for use inside asynchronous code.
///
/// # Errors
/// The future's, and [`Error::Internal`] if there is no runtime.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = runtime()?;
    waiting(|| runtime.block_on(future))
}

/// As [`block_on`], calling `check` every 100 ms; its error ends the wait and drops the
/// future.
///
/// # Errors
/// The outer error is of `check`, the inner one of [`block_on`].
pub fn block_on_checking<T, E>(
    future: impl Future<Output = Result<T>>,
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<Result<T>, E> {
    let waiting = async {
        let mut future = std::pin::pin!(future);
        loop {
            match tokio::time::timeout(CHECK_EVERY, future.as_mut()).await {
                Ok(outcome) => return Ok(outcome),
                Err(_) => check()?,
            }
        }
    };
    match runtime() {
        Ok(runtime) => runtime.block_on(waiting),
        Err(error) => Ok(Err(error)),
    }
}

/// Run blocking file operations on the runtime's blocking threads; a panic becomes an error.
///
/// # Errors
/// The errors of `work`, and [`Error::Internal`] if it panics.
pub(crate) async fn wait_for_file<T: Send + 'static>(
    task: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let work = Arc::new(Mutex::new(Some(work)));
    let claim = {
        let work = Arc::clone(&work);
        move || work.lock().unwrap_or_else(PoisonError::into_inner).take()
    };
    let claimed = claim.clone();
    let mut started = runtime()?.spawn_blocking(move || claimed().map(|work| work()));
    loop {
        match tokio::time::timeout(CHECK_EVERY, &mut started).await {
            Ok(Ok(Some(outcome))) => return outcome,
            Ok(Ok(None)) => return Err(Error::internal(task, "it was started twice")),
            Ok(Err(error)) => return Err(Error::internal(task, panic_text(error))),
            // The pool queues work even where the operating system starts no thread for it.
            Err(_) => {
                if let Some(work) = claim() {
                    return catch_panic(work)
                        .unwrap_or_else(|text| Err(Error::internal(task, text)));
                }
            }
        }
    }
}

/// Return the result of a finished task; a panic becomes an error.
pub(crate) fn joined<T>(task: &str, outcome: Result<Result<T>, JoinError>) -> Result<T> {
    outcome.unwrap_or_else(|error| Err(Error::internal(task, panic_text(error))))
}

fn panic_text(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else { return "the task was cancelled".into() };
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "panic without a message".into())
}

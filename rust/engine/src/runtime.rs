//! The thread pool, one per process id.
//!
//! A forked child inherits memory but no threads, so whatever owns threads or sockets lives in a
//! [`PerProcess`] slot: the child finds a stale process id, leaks the parent's value and builds its
//! own. Nothing here runs before the first use.

use std::future::Future;
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinError;

use crate::error::{Error, Result};

/// Longest wait for a slot's lock, which is only ever held for a pointer copy. A fork can copy it
/// in the locked state; the child then does without the shared slot.
const SLOT_PATIENCE: Duration = Duration::from_millis(200);

/// A scan whose consumer pauses holds the threads that wait for it; many may be open at once.
const BLOCKING_THREADS: usize = 8_192;

/// How long an interrupt may go unnoticed.
pub(crate) const CHECK_EVERY: Duration = Duration::from_millis(100);

/// A value of which each process has its own; made on first use, never dropped.
#[derive(Debug)]
pub struct PerProcess<T: 'static> {
    slot: Mutex<Option<(u32, &'static T)>>,
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    /// An empty slot.
    pub const fn new() -> Self {
        Self { slot: Mutex::new(None) }
    }

    /// This process's value, made by `make` if the slot is empty or holds another process's.
    ///
    /// # Errors
    /// What `make` returns.
    pub fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&'static T> {
        let process_id = std::process::id();
        if let Some(value) = self.with_slot(|slot| current(slot, process_id)).flatten() {
            return Ok(value);
        }
        let made: &'static T = Box::leak(Box::new(make()?));
        let kept = self.with_slot(|slot| {
            *current(slot, process_id).get_or_insert_with(|| {
                *slot = Some((process_id, made));
                made
            })
        });
        Ok(kept.unwrap_or(made))
    }

    /// Run `read` under the lock; `None` if the lock cannot be had.
    fn with_slot<R>(&self, read: impl FnOnce(&mut Option<(u32, &'static T)>) -> R) -> Option<R> {
        let started = Instant::now();
        loop {
            match self.slot.try_lock() {
                Ok(mut slot) => return Some(read(&mut slot)),
                Err(TryLockError::Poisoned(poisoned)) => {
                    return Some(read(&mut poisoned.into_inner()));
                }
                Err(TryLockError::WouldBlock) if started.elapsed() < SLOT_PATIENCE => {
                    std::thread::yield_now();
                }
                Err(TryLockError::WouldBlock) => return None,
            }
        }
    }
}

impl<T: Send + Sync + 'static> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

fn current<T>(slot: &Option<(u32, &'static T)>, process_id: u32) -> Option<&'static T> {
    slot.as_ref().filter(|(owner, _)| *owner == process_id).map(|(_, value)| *value)
}

static RUNTIME: PerProcess<Runtime> = PerProcess::new();

/// This process's runtime.
///
/// # Errors
/// [`Error::Internal`] if the operating system starts no threads.
pub fn runtime() -> Result<&'static Runtime> {
    RUNTIME.get(|| {
        Builder::new_multi_thread()
            .worker_threads(default_threads())
            .max_blocking_threads(BLOCKING_THREADS)
            .enable_all()
            .thread_name("icefloe")
            .build()
            .map_err(|error| Error::internal("start the thread pool", error))
    })
}

/// Threads to use unless a caller says otherwise: `OMP_NUM_THREADS` (Spark sets it to the cores of
/// a task), else the cores this process may use.
pub fn default_threads() -> usize {
    let from_environment = std::env::var("OMP_NUM_THREADS")
        .ok()
        .and_then(|text| text.trim().parse::<usize>().ok())
        .filter(|threads| *threads > 0);
    from_environment.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Run a future to its end on this thread, with this process's runtime behind it.
///
/// Not for use inside asynchronous code.
///
/// # Errors
/// The future's, and [`Error::Internal`] if there is no runtime.
pub fn block_on<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(future)
}

/// As [`block_on`], asking `check` now and then whether to go on; its error ends the wait and drops
/// the future.
///
/// # Errors
/// Outside those of `check`, inside those of [`block_on`].
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

/// Run blocking or computing work on the runtime's blocking threads; a panic in it becomes an
/// error.
///
/// # Errors
/// What `work` returns, and [`Error::Internal`] if it panics.
pub async fn compute<T: Send + 'static>(
    task: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    joined(task, runtime()?.spawn_blocking(work).await)
}

/// The result of a finished task, its panic made an error.
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

//! The runtime for what waits, one per process id.
//!
//! A forked child inherits memory but no threads, so whatever owns threads or sockets lives in a
//! [`PerProcess`] slot: the child finds a stale process id, leaks the parent's value and builds its
//! own. Nothing here runs before the first use.

pub(crate) mod executor;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinError;

use crate::error::{Error, Result};
use executor::waiting;

/// Longest wait for a slot's lock, which is only ever held for a pointer copy. A fork can copy it
/// in the locked state; the child then uses the next slot.
const SLOT_PATIENCE: Duration = Duration::from_millis(200);

/// Slots of a value: generations of processes that may be forked while the slot of the one before is locked.
const SLOTS: usize = 8;

/// Threads that wait for files. Nothing that runs on them waits for another.
const BLOCKING_THREADS: usize = 64;

/// How long an interrupt may go unnoticed.
pub(crate) const CHECK_EVERY: Duration = Duration::from_millis(100);

type Slot<T> = Mutex<Option<(u32, &'static T)>>;

/// A value of which each process has its own; made on first use, never dropped.
#[derive(Debug)]
pub struct PerProcess<T: 'static> {
    slots: [Slot<T>; SLOTS],
    /// A process id in the upper half, the first slot that is not locked for ever in the lower.
    usable: AtomicU64,
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    /// Empty slots.
    pub const fn new() -> Self {
        Self { slots: [const { Mutex::new(None) }; SLOTS], usable: AtomicU64::new(0) }
    }

    /// This process's value, made by `make` if there is none or it is another process's.
    ///
    /// # Errors
    /// What `make` returns, and [`Error::Internal`] where every slot was locked when a process was forked.
    pub fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&'static T> {
        let process_id = std::process::id();
        if let Some(value) = self.with_slot(process_id, |slot| current(slot, process_id))? {
            return Ok(value);
        }
        // Made without the lock: it takes long. Of two that are made at once one is dropped.
        let mut made = Some(make()?);
        let kept = self.with_slot(process_id, |slot| {
            current(slot, process_id).or_else(|| {
                let value: &'static T = Box::leak(Box::new(made.take()?));
                *slot = Some((process_id, value));
                Some(value)
            })
        })?;
        kept.ok_or_else(|| Error::internal("make a value of this process", "it is gone"))
    }

    /// Run `read` under the lock of the first slot that can be had.
    fn with_slot<R>(
        &self,
        process_id: u32,
        mut read: impl FnMut(&mut Option<(u32, &'static T)>) -> R,
    ) -> Result<R> {
        let usable = self.usable.load(Ordering::Acquire);
        let of_this_process = usable >> 32 == u64::from(process_id);
        let first = if of_this_process { usable as u32 as usize } else { 0 };
        for (number, slot) in self.slots.iter().enumerate().skip(first) {
            let started = Instant::now();
            loop {
                match slot.try_lock() {
                    Ok(mut slot) => return Ok(read(&mut slot)),
                    Err(TryLockError::Poisoned(poisoned)) => {
                        return Ok(read(&mut poisoned.into_inner()));
                    }
                    Err(TryLockError::WouldBlock) if started.elapsed() < SLOT_PATIENCE => {
                        std::thread::yield_now();
                    }
                    Err(TryLockError::WouldBlock) => break,
                }
            }
            let next = u64::from(process_id) << 32 | (number as u64 + 1);
            self.usable.store(next, Ordering::Release);
        }
        Err(Error::internal("find a value of this process", "every slot is locked"))
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

static ON_START: OnceLock<fn()> = OnceLock::new();

/// Call `hook` when a process makes its executor and when it makes its runtime, in a forked child as well. The first
/// registered hook stays.
pub fn on_start(hook: fn()) {
    // A second registration comes from a module that is loaded twice and brings the same hook.
    ON_START.get_or_init(|| hook);
}

/// A scan of local files needs no runtime, and a request to storage needs no executor: both call the hook.
fn call_start_hook() {
    if let Some(hook) = ON_START.get() {
        hook();
    }
}

/// This process's runtime.
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
    let runtime = runtime()?;
    waiting(|| runtime.block_on(future))
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

/// Do what waits for files on the runtime's threads for that; a panic in it becomes an error.
///
/// # Errors
/// What `work` returns, and [`Error::Internal`] if it panics.
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
    let mut begun = runtime()?.spawn_blocking(move || claimed().map(|work| work()));
    loop {
        match tokio::time::timeout(CHECK_EVERY, &mut begun).await {
            Ok(Ok(Some(outcome))) => return outcome,
            Ok(Ok(None)) => return Err(Error::internal(task, "it was done twice")),
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

/// The text of a panic as an error.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        text.unwrap_or_else(|| "panic without a message".into())
    })
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn a_slot_that_was_locked_at_a_fork_costs_one_value_not_one_for_each_call() {
        let (slots, made) = (PerProcess::new(), AtomicUsize::new(0));
        let _for_ever = slots.slots[0].lock().unwrap();
        let get = || slots.get(|| Ok(made.fetch_add(1, Ordering::SeqCst))).unwrap();
        assert!((0..5).all(|_| std::ptr::eq(get(), get())));
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn of_values_made_at_once_all_but_one_are_dropped() {
        static SLOTS: PerProcess<Arc<()>> = PerProcess::new();
        let (value, barrier) = (Arc::new(()), std::sync::Barrier::new(4));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let make = || {
                        barrier.wait();
                        Ok(Arc::clone(&value))
                    };
                    SLOTS.get(make).unwrap();
                });
            }
        });
        assert_eq!(Arc::strong_count(&value), 2);
    }

    #[test]
    fn every_value_of_a_process_is_its_own() {
        let slots: PerProcess<u32> = PerProcess::new();
        *slots.slots[0].lock().unwrap() = Some((0, Box::leak(Box::new(7))));
        assert_eq!(*slots.get(|| Ok(8)).unwrap(), 8);
    }
}

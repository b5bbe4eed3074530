//! The threads that compute, one bounded pool per process.
//!
//! Work of every scan, plan and write shares [`Executor`]: as many threads run as the process may use cores, however
//! many scans are open. A thread that waits (for a network, for a consumer, for another thread) is replaced while
//! it waits, up to a bound. A thread that waits for work which no thread can start runs the work itself, so progress
//! does not depend on starting threads.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use tokio::sync::oneshot;

use super::per_process::PerProcess;
use super::threads::{CHECK_EVERY, call_start_hook, catch_panic, default_threads};
use crate::error::{Error, Result};

/// The most waiting threads that are replaced.
const MOST_WAITING: usize = 64;

/// The time after which an idle thread ends.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// One turn of work. A turn always ends, and never waits for a turn that has not started.
pub(crate) type Turn = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The executor whose count of running threads includes this one.
    static OWN: Cell<Option<&'static Executor>> = const { Cell::new(None) };
    /// Whether this thread runs work of an executor.
    static WORKING: Cell<bool> = const { Cell::new(false) };
}

/// A bounded pool of threads.
pub(crate) struct Executor {
    state: Mutex<State>,
    woken: Condvar,
    most_waiting: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Turn>,
    /// Threads that may run at once.
    limit: usize,
    threads: usize,
    idle: usize,
    waiting: usize,
    /// Idle threads that were woken and have not resumed; they count as running.
    woken: usize,
}

impl State {
    fn running(&self) -> usize {
        self.threads - self.idle - self.waiting
    }
}

static EXECUTOR: PerProcess<Executor> = PerProcess::new();

/// Return the executor of this process.
///
/// # Errors
/// The errors of [`PerProcess::get`].
pub(crate) fn executor() -> Result<&'static Executor> {
    EXECUTOR.get(|| {
        call_start_hook();
        Ok(Executor::new(default_threads(), MOST_WAITING))
    })
}

impl Executor {
    /// Create an executor of `limit` threads that run at once, and of at most `most_waiting` more that wait.
    pub(crate) fn new(limit: usize, most_waiting: usize) -> Self {
        let state = State { limit, ..State::default() };
        Self { state: Mutex::new(state), woken: Condvar::new(), most_waiting }
    }

    /// Raise the limit of running threads to at least this many.
    pub(crate) fn allow(&self, threads: usize) {
        let mut state = self.lock();
        state.limit = state.limit.max(threads);
    }

    /// Queue a turn.
    pub(crate) fn submit(&'static self, turn: Turn) {
        let mut state = self.lock();
        state.queue.push_back(turn);
        self.wake_or_start(&mut state);
    }

    /// Return whether turns are queued.
    pub(crate) fn has_queue(&self) -> bool {
        !self.lock().queue.is_empty()
    }

    /// Return whether queued turns will not start: no thread is running, and none can be started.
    pub(crate) fn is_stalled(&'static self) -> bool {
        let mut state = self.lock();
        self.wake_or_start(&mut state);
        !state.queue.is_empty() && state.running() == 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wake or start a thread for the queue, if one more may run.
    fn wake_or_start(&'static self, state: &mut State) {
        if state.queue.is_empty() || state.running() >= state.limit {
            return;
        }
        if state.idle > 0 {
            state.idle -= 1;
            state.woken += 1;
            self.woken.notify_one();
        } else if state.threads < state.limit.saturating_add(self.most_waiting) {
            let started = Builder::new().name("icefloe-cpu".into()).spawn(|| self.work());
            // If no thread can be started, threads that wait for the turn see `is_stalled`.
            state.threads += usize::from(started.is_ok());
        }
    }

    fn work(&'static self) {
        OWN.set(Some(self));
        WORKING.set(true);
        while let Some(turn) = self.next_turn() {
            // A turn reports its panic to the thread that waits for it; this thread continues.
            drop(catch_panic(turn));
        }
    }

    /// Return the next turn for this thread; `None` after the idle time.
    fn next_turn(&self) -> Option<Turn> {
        let mut state = self.lock();
        loop {
            if state.running() <= state.limit
                && let Some(turn) = state.queue.pop_front()
            {
                return Some(turn);
            }
            state.idle += 1;
            let waited = self.woken.wait_timeout_while(state, KEEP_ALIVE, |state| state.woken == 0);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if state.woken == 0 {
                state.idle -= 1;
                state.threads -= 1;
                return None;
            }
            state.woken -= 1;
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let (limit, threads, queued) = (state.limit, state.threads, state.queue.len());
        write!(formatter, "Executor {{ limit: {limit}, threads: {threads}, queued: {queued} }}")
    }
}

/// Run a blocking wait. While a thread of an executor waits, another thread may run in its place.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    let _replaced = OWN.take().map(Replaced::begin);
    wait()
}

/// A thread that waits and is not counted as running.
struct Replaced(&'static Executor);

impl Replaced {
    fn begin(executor: &'static Executor) -> Self {
        let mut state = executor.lock();
        state.waiting += 1;
        executor.wake_or_start(&mut state);
        Self(executor)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
        OWN.set(Some(self.0));
    }
}

/// Return whether this thread runs work of an executor, so that waiting for other work would block that work.
pub(crate) fn is_working() -> bool {
    WORKING.get()
}

/// Run work of an executor on this thread.
pub(crate) fn as_work<T>(work: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            WORKING.set(self.0);
        }
    }
    let _before = Before(WORKING.replace(true));
    work()
}

/// Compute on the executor's threads, or on this thread if none can start; a panic becomes an error.
///
/// # Errors
/// The errors of `work`, and [`Error::Internal`] if it panics.
pub(crate) async fn compute<T: Send + 'static>(
    task: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    compute_on(executor()?, task, work).await
}

/// Submit work and wait for it. No thread is blocked while it waits, and work of this function waits for no other work: it
/// reads local files and computes. A queued turn starts once a running thread ends its turn, and if no thread is running,
/// the thread that polls this future claims the work, a thread of the runtime for as long as the work takes.
async fn compute_on<T: Send + 'static>(
    executor: &'static Executor,
    task: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, mut receiver) = oneshot::channel();
    let work = Arc::new(Mutex::new(Some(work)));
    let claim = {
        let work = Arc::clone(&work);
        move || work.lock().unwrap_or_else(PoisonError::into_inner).take()
    };
    let run = move |work| catch_panic(work).unwrap_or_else(|text| Err(Error::internal(task, text)));
    let claimed = claim.clone();
    executor.submit(Box::new(move || {
        if let Some(work) = claimed() {
            drop(sender.send(run(work)));
        }
    }));
    loop {
        if executor.is_stalled()
            && let Some(work) = claim()
        {
            return run(work);
        }
        match tokio::time::timeout(CHECK_EVERY, &mut receiver).await {
            Ok(Ok(outcome)) => return outcome,
            Ok(Err(_)) => return Err(Error::internal(task, "the task was cancelled")),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;
    use crate::runtime::block_on;

    fn executor(limit: usize, most_waiting: usize) -> &'static Executor {
        Box::leak(Box::new(Executor::new(limit, most_waiting)))
    }

    #[test]
    fn concurrent_turns_stay_within_the_limit() {
        let executor = executor(3, 0);
        let counts = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let (done, all) = mpsc::channel();
        for _ in 0..50 {
            let (counts, done) = (Arc::clone(&counts), done.clone());
            executor.submit(Box::new(move || {
                let running = counts.0.fetch_add(1, Ordering::SeqCst) + 1;
                counts.1.fetch_max(running, Ordering::SeqCst);
                std::thread::yield_now();
                counts.0.fetch_sub(1, Ordering::SeqCst);
                done.send(()).unwrap();
            }));
        }
        assert_eq!(all.iter().take(50).count(), 50);
        assert!(counts.1.load(Ordering::SeqCst) <= 3);
    }

    #[test]
    fn waiting_turn_is_replaced() {
        let executor = executor(1, 1);
        let (send, receive) = mpsc::channel();
        let (done, finished) = mpsc::channel();
        executor.submit(Box::new(move || {
            waiting(|| receive.recv()).unwrap();
            done.send(()).unwrap();
        }));
        executor.submit(Box::new(move || send.send(()).unwrap()));
        finished.recv().unwrap();
    }

    #[test]
    fn panic_in_a_turn_is_an_error_and_ends_no_thread() {
        let executor = executor(1, 0);
        let failed = block_on(compute_on(executor, "add", || -> Result<()> { panic!("no sum") }));
        assert!(matches!(failed, Err(Error::Internal { reason, .. }) if reason == "no sum"));
        assert_eq!(block_on(compute_on(executor, "add", || Ok(1 + 1))).unwrap(), 2);
    }

    #[test]
    fn waiting_thread_runs_work_without_pool_threads() {
        let here = std::thread::current().id();
        let there =
            block_on(compute_on(executor(0, 0), "look", || Ok(std::thread::current().id())));
        assert_eq!(there.unwrap(), here);
    }

    #[test]
    fn tasks_of_the_runtime_run_work_behind_a_thread_that_waits_for_them() {
        let executor = executor(1, 0);
        let (send, receive) = mpsc::channel::<()>();
        let (done, finished) = mpsc::channel();
        executor.submit(Box::new(move || {
            waiting(|| receive.recv()).unwrap();
            done.send(()).unwrap();
        }));
        let sums = block_on(async {
            let add = |number: usize| compute_on(executor, "add", move || Ok(number + 1));
            let tasks: Vec<_> = (0..64).map(|number| tokio::spawn(add(number))).collect();
            let mut sums = vec![];
            for task in tasks {
                sums.push(task.await.unwrap()?);
            }
            Ok(sums)
        });
        assert_eq!(sums.unwrap(), (1..=64).collect::<Vec<_>>());
        send.send(()).unwrap();
        finished.recv().unwrap();
    }

    #[test]
    fn waiting_thread_runs_work_behind_a_blocked_thread() {
        let executor = executor(1, 0);
        let (send, receive) = mpsc::channel::<()>();
        executor.submit(Box::new(move || assert!(waiting(|| receive.recv()).is_err())));
        assert_eq!(block_on(compute_on(executor, "add", || Ok(1 + 1))).unwrap(), 2);
        drop(send);
    }
}

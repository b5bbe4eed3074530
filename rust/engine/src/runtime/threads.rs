//! Threads: their number, a hook before the first, the panics on them, and how often blocked ones check for interrupts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::Duration;

/// Interval between checks for interrupts.
pub(crate) const CHECK_EVERY: Duration = Duration::from_millis(100);

/// Return the default number of threads: `OMP_NUM_THREADS` (Spark sets it to the cores of
/// a task), else the cores that this process may use at the first call.
pub fn default_threads() -> usize {
    // The system reads files of control groups for each answer: nine times in a small commit.
    static CORES: OnceLock<usize> = OnceLock::new();
    let from_environment = std::env::var("OMP_NUM_THREADS")
        .ok()
        .and_then(|text| text.trim().parse::<usize>().ok())
        .filter(|threads| *threads > 0);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    from_environment.unwrap_or_else(|| *CORES.get_or_init(cores))
}

/// Return the text of a panic as an error.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        text.unwrap_or_else(|| "panic without a message".into())
    })
}

static ON_START: OnceLock<fn()> = OnceLock::new();

/// Call `hook` when a process makes its executor and when it makes its runtime, in a forked child as well. The first
/// registered hook stays.
pub fn on_start(hook: fn()) {
    // A second registration comes from a module that is loaded twice and brings the same hook.
    ON_START.get_or_init(|| hook);
}

/// Call the hook. The executor and the runtime both do: a scan of local files makes only the first, a request to
/// storage only the second.
pub(crate) fn call_start_hook() {
    if let Some(hook) = ON_START.get() {
        hook();
    }
}

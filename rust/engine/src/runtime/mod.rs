//! Threads: a runtime for waiting and an executor for computing, one of each per process id. Nothing runs before the
//! first use.

mod blocking;
pub(crate) mod environment;
pub(crate) mod executor;
mod per_process;
pub(crate) mod spill;
mod threads;

pub use blocking::{block_on, block_on_checking, runtime};
pub(crate) use blocking::{joined, wait_for_file};
pub use per_process::PerProcess;
pub(crate) use threads::{CHECK_EVERY, catch_panic};
pub use threads::{default_threads, on_start};

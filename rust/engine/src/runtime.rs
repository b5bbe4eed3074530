//! The thread pool, one per process id.

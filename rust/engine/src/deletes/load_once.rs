//! A value that several threads need and one of them loads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Result;
use crate::runtime::executor::waiting;

/// A value that the first thread to need it loads. A clone has the value if it is loaded by then, and else loads its own.
pub(crate) struct LoadOnce<T> {
    value: OnceLock<Result<T>>,
    claimed: AtomicBool,
    loading: AtomicBool,
}

impl<T> Default for LoadOnce<T> {
    fn default() -> Self {
        Self {
            value: OnceLock::new(),
            claimed: AtomicBool::default(),
            loading: AtomicBool::default(),
        }
    }
}

impl<T: Clone> Clone for LoadOnce<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), ..Self::default() }
    }
}

impl<T: Clone> LoadOnce<T> {
    /// Claim the loading of the value; false if it is loaded, or another thread has claimed it.
    pub(crate) fn claim(&self) -> bool {
        self.value.get().is_none() && !self.claimed.swap(true, Ordering::AcqRel)
    }

    /// The value, loaded on this thread unless it is loaded or another thread is loading it, which this thread then waits for.
    pub(crate) fn get(&self, load: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(value) = self.value.get() {
            return value.clone();
        }
        let value = match self.loading.swap(true, Ordering::AcqRel) {
            false => self.value.get_or_init(load),
            true => waiting(|| self.value.get_or_init(load)),
        };
        value.clone()
    }
}

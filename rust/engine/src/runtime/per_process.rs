//! Values that a forked child does not share with its parent.
//!
//! A forked child inherits memory but no threads, so a value that owns threads or sockets lives in a [`PerProcess`]
//! slot: the child finds the process id of its parent, leaks the parent's value and makes its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The longest wait for a slot's lock, which is only held while a pointer is copied. A fork can copy a locked lock; the
/// child then uses the next slot.
const SLOT_PATIENCE: Duration = Duration::from_millis(200);

/// The number of slots: generations of processes forked while a slot was locked.
const SLOTS: usize = 8;

type Slot<T> = Mutex<Option<(u32, &'static T)>>;

/// A value of which each process has its own, made on first use and never dropped.
#[derive(Debug)]
pub struct PerProcess<T: 'static> {
    slots: [Slot<T>; SLOTS],
    /// A process id in the upper half, the first slot whose lock can be taken in the lower.
    usable: AtomicU64,
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    /// Create empty slots.
    pub const fn new() -> Self {
        Self { slots: [const { Mutex::new(None) }; SLOTS], usable: AtomicU64::new(0) }
    }

    /// Return the value of this process, made by `make` if there is none or it belongs to another process.
    ///
    /// # Errors
    /// The errors of `make`, and [`Error::Internal`] where every slot was locked when a process was forked.
    pub fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&'static T> {
        let process_id = std::process::id();
        if let Some(value) = self.with_slot(process_id, |slot| current_value(slot, process_id))? {
            return Ok(value);
        }
        // Made without the lock, since making takes long. Of two values that are made at once one is dropped.
        let mut made = Some(make()?);
        let current = self.with_slot(process_id, |slot| {
            current_value(slot, process_id).or_else(|| {
                let value: &'static T = Box::leak(Box::new(made.take()?));
                *slot = Some((process_id, value));
                Some(value)
            })
        })?;
        current.ok_or_else(|| {
            Error::internal("store a value of this process", "its slot stayed empty")
        })
    }

    /// Run `read` under the lock of the first slot whose lock can be taken.
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

fn current_value<T>(slot: &Option<(u32, &'static T)>, process_id: u32) -> Option<&'static T> {
    slot.as_ref().filter(|(owner, _)| *owner == process_id).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn slot_locked_at_a_fork_leaks_one_value_in_total() {
        let (slots, made) = (PerProcess::new(), AtomicUsize::new(0));
        let _for_ever = slots.slots[0].lock().unwrap();
        let get = || slots.get(|| Ok(made.fetch_add(1, Ordering::SeqCst))).unwrap();
        assert!((0..5).all(|_| std::ptr::eq(get(), get())));
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn concurrent_values_are_dropped_but_one() {
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

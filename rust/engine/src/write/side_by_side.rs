//! Short work on several items, in which the threads that compute help the calling one.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::IntoIter;

use crate::error::{Error, Result};
use crate::runtime::executor::{executor, waiting};
use crate::runtime::{catch_panic, default_threads};

/// Return the results of `work` for all items, in their order. This thread works through the items, and threads that are
/// free take items from it: it waits for no thread that has not begun one.
///
/// # Errors
/// The error of the first item that failed, after the work on all items; [`Error::Internal`] for work that panics, and
/// if the operating system starts no threads.
pub(super) fn side_by_side<I: Send + 'static, T: Send + 'static>(
    task: &'static str,
    items: Vec<I>,
    work: impl Fn(I) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let (count, helpers) = (items.len(), default_threads().min(items.len()).saturating_sub(1));
    if helpers == 0 {
        return items.into_iter().map(work).collect();
    }
    let (sender, results) = channel();
    let queue = Mutex::new(items.into_iter().enumerate());
    let shared = Arc::new(Shared { task, queue, work });
    for _ in 0..helpers {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        executor()?.submit(Box::new(move || shared.drain(&sender)));
    }
    shared.drain(&sender);
    let mut ended: Vec<(usize, Result<T>)> = waiting(|| results.iter().take(count).collect());
    ended.sort_unstable_by_key(|(number, _)| *number);
    ended.into_iter().map(|(_, result)| result).collect()
}

struct Shared<I, W> {
    task: &'static str,
    queue: Mutex<std::iter::Enumerate<IntoIter<I>>>,
    work: W,
}

impl<I, W> Shared<I, W> {
    /// Work on items until none is left, and send the result of each.
    fn drain<T>(&self, results: &Sender<(usize, Result<T>)>)
    where
        W: Fn(I) -> Result<T>,
    {
        loop {
            let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, item)) = next else { return };
            let result = catch_panic(|| (self.work)(item));
            let result = result.unwrap_or_else(|text| Err(Error::internal(self.task, text)));
            // The receiver waits for all results.
            drop(results.send((number, result)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items() {
        let doubled = side_by_side("double", (0..100).collect(), |item: i32| Ok(2 * item));
        assert_eq!(doubled.unwrap(), (0..100).map(|item| 2 * item).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_error_is_returned_and_a_panic_is_an_error() {
        let work = |item: usize| match item {
            3 => Err(Error::internal("three", "failed")),
            7 => panic!("seven"),
            _ => Ok(item),
        };
        let first = |items: Vec<usize>| side_by_side("test", items, work).unwrap_err().to_string();
        assert!(first((0..10).collect()).contains("three"));
        assert!(first((4..10).collect()).contains("seven"));
    }
}

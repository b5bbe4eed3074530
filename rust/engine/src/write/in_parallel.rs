//! Work on many items, on as many threads as the process computes on.

use std::sync::{Arc, Mutex, PoisonError};

use super::background::Background;
use crate::error::Result;
use crate::runtime::default_threads;

/// Return the results of `work` for all items, in their order. A single thread works here; otherwise the executor's
/// threads do.
///
/// Every thread has ended before an error is returned; after the first error no further item is begun.
///
/// # Errors
/// The error of the first item that failed, and those of [`Background`].
pub(super) fn in_parallel<I: Send + 'static, T: Send + 'static>(
    task: &'static str,
    items: Vec<I>,
    work: impl Fn(I) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let threads = default_threads().min(items.len());
    if threads <= 1 {
        return items.into_iter().map(work).collect();
    }
    let queue = Arc::new(Mutex::new(items.into_iter().enumerate()));
    let work = Arc::new(work);
    let started: Vec<Result<Background<Results<T>>>> = (0..threads)
        .map(|_| {
            let (queue, work) = (Arc::clone(&queue), Arc::clone(&work));
            Background::start(task, move || Ok(drain(&queue, &*work)))
        })
        .collect();
    let ended: Vec<_> =
        started.into_iter().map(|thread| thread.and_then(Background::finish)).collect();
    let mut results = Vec::new();
    for thread in ended {
        results.extend(thread?);
    }
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Items that no thread has begun, with their numbers.
type Queue<I> = Mutex<std::iter::Enumerate<std::vec::IntoIter<I>>>;
/// The results of one thread, with the numbers of their items.
type Results<T> = Vec<(usize, Result<T>)>;

/// Return the results of this thread's items. An error empties the queue.
fn drain<I, T>(queue: &Queue<I>, work: &impl Fn(I) -> Result<T>) -> Results<T> {
    let mut results = Vec::new();
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((number, item)) = next else { return results };
        let result = work(item);
        if result.is_err() {
            queue.lock().unwrap_or_else(PoisonError::into_inner).by_ref().for_each(drop);
        }
        results.push((number, result));
    }
}

//! Ordered work on several threads: tasks are prepared into units, units are decoded at once, and
//! their items come out in order.
//!
//! Memory is bounded by the bytes of the items that wait, whoever takes them and when. Jobs are started when
//! there is room for what they make, by whoever makes the room; one that finds the room gone waits with what
//! it has begun, unless its items are those that are taken next and all of them have been.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::pipeline_state::{Job, Key, State};
use super::source::Opening;
use crate::error::{Error, Result};
use crate::runtime::runtime;

/// What is worked on.
pub(crate) trait Work: Send + Sync + 'static {
    /// A part of a task that is decoded on one thread.
    type Unit: Send;
    /// What decoding makes.
    type Item: Send;

    /// How many tasks there are.
    fn tasks(&self) -> usize;

    /// Send for what preparing a task reads first, where a network is between.
    fn expect(&self, task: usize) -> Option<Opening>;

    /// Cut a task into units.
    fn prepare(&self, task: usize, opening: Option<Opening>) -> Result<Vec<Self::Unit>>;

    /// Send for what decoding a unit reads first, unless it is more than `most` bytes; how many it is.
    fn begin(&self, unit: &Self::Unit, most: usize) -> Option<usize>;

    /// Decode a unit, giving each item to `emit` until it returns false.
    fn decode(&self, unit: Self::Unit, emit: &mut dyn FnMut(Self::Item) -> bool) -> Result<()>;

    /// The memory that an item holds.
    fn bytes(item: &Self::Item) -> usize;
}

/// How much work is in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    /// Threads that work at once.
    pub(crate) threads: usize,
    /// Bytes of items that may wait.
    pub(crate) bytes: usize,
    /// Bytes that may be read ahead of the threads; 0 for nothing.
    pub(crate) ahead: usize,
}

/// What a wait for the next item comes to.
pub(crate) enum Step<T> {
    Item(T),
    End,
    /// Nothing yet.
    Pending,
}

struct Shared<W: Work> {
    work: W,
    flight: Flight,
    state: Mutex<State<W>>,
    /// An item, an end, a job: what the taker waits for.
    changed: Condvar,
    /// Room for more items, which those who make them wait for.
    taken: Condvar,
}

/// The items of all tasks, in order. Dropping it stops the work.
pub(crate) struct Pipeline<W: Work> {
    shared: Arc<Shared<W>>,
    process_id: u32,
    failed: bool,
}

impl<W: Work> Pipeline<W> {
    /// Nothing starts before the first item is asked for.
    pub(crate) fn new(work: W, flight: Flight) -> Self {
        let state = State::new(flight);
        let (changed, taken) = (Condvar::new(), Condvar::new());
        let shared = Shared { work, flight, state: Mutex::new(state), changed, taken };
        Self { shared: Arc::new(shared), process_id: std::process::id(), failed: false }
    }

    /// The next item, if there is one within `patience`.
    pub(crate) fn next_within(&mut self, patience: Duration) -> Result<Step<W::Item>> {
        if self.failed {
            return Ok(Step::End);
        }
        let step = self.advance(patience);
        if step.is_err() {
            self.failed = true;
            self.stop();
        }
        step
    }

    fn advance(&self, patience: Duration) -> Result<Step<W::Item>> {
        if self.process_id != std::process::id() {
            let reason = "the stream was opened by another process; open it again";
            return Err(Error::internal("read on", reason));
        }
        let shared = &self.shared;
        let mut state = shared.lock();
        loop {
            let (task, unit) = state.awaited;
            if task == shared.work.tasks() {
                return Ok(Step::End);
            }
            match state.units.get(&task) {
                Some(Err(error)) => return Err(error.clone()),
                Some(Ok(units)) if unit == *units => {
                    state.units.remove(&task);
                    state.awaited = (task + 1, 0);
                    continue;
                }
                _ => {}
            }
            if let Some(item) = state.take_awaited()? {
                shared.taken.notify_all();
                Shared::start_jobs(shared, &mut state)?;
                return Ok(Step::Item(item));
            }
            if state.awaited != (task, unit) {
                shared.taken.notify_all();
                continue;
            }
            Shared::start_jobs(shared, &mut state)?;
            let waited = shared.changed.wait_timeout(state, patience);
            let (guard, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            if waited.timed_out() {
                return Ok(Step::Pending);
            }
            state = guard;
        }
    }
}

impl<W: Work> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Put idle threads to work.
    fn start_jobs(shared: &Arc<Self>, state: &mut State<W>) -> Result<()> {
        while state.running < shared.flight.threads {
            let Some(job) = state.next_job(&shared.work) else { break };
            let worker = Arc::clone(shared);
            state.running += 1;
            runtime()?.spawn_blocking(move || worker.run(job));
        }
        Ok(())
    }

    /// Do a job, and on this thread whatever there is room for after it.
    fn run(self: Arc<Self>, first: Job<W>) {
        let mut job = Some(first);
        while let Some(current) = job {
            match current {
                Job::Prepare(task, opening) => self.prepare(task, opening),
                Job::Decode(key, unit) => self.decode(key, unit),
            }
            let mut state = self.lock();
            job = state.next_job(&self.work);
            if job.is_none() {
                state.running -= 1;
            } else {
                // More than one job may have become possible; a failure shows at the next call.
                drop(Self::start_jobs(&self, &mut state));
            }
            self.changed.notify_all();
        }
    }

    fn prepare(&self, task: usize, opening: Option<Opening>) {
        let prepared = caught("prepare a data file", || self.work.prepare(task, opening));
        self.lock().prepared(task, prepared);
        self.changed.notify_all();
    }

    fn decode(&self, key: Key, unit: W::Unit) {
        let end = caught("decode a data file", || {
            self.work.decode(unit, &mut |item| self.put(key, item))
        });
        self.lock().decoded(key, end);
        self.changed.notify_all();
    }

    /// Let an item wait to be taken, and wait until there is room for another; false if none is wanted.
    fn put(&self, key: Key, item: W::Item) -> bool {
        let mut state = self.lock();
        let bytes = W::bytes(&item);
        if !state.put(key, item, bytes) {
            return false;
        }
        if state.awaited == key {
            self.changed.notify_all();
        }
        while state.is_full_for(key) {
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.stopped
    }
}

fn caught<T>(task: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(work).unwrap_or_else(|text| Err(Error::internal(task, text)))
}

/// The text of a panic as an error.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        text.unwrap_or_else(|| "panic without a message".into())
    })
}

impl<W: Work> Iterator for Pipeline<W> {
    type Item = Result<W::Item>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_within(Duration::MAX) {
            Ok(Step::Item(item)) => Some(Ok(item)),
            Ok(Step::End | Step::Pending) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl<W: Work> Pipeline<W> {
    fn stop(&self) {
        // In a forked child no thread of the parent's runs, and the lock may be held for ever.
        if self.process_id == std::process::id() {
            self.shared.lock().stop();
            self.shared.taken.notify_all();
        }
    }
}

impl<W: Work> Drop for Pipeline<W> {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const AHEAD: usize = 3;

    /// Task `n` has `n` units, and unit `u` of it the items `(n, u, 0)` and `(n, u, 1)`. Every third unit has no
    /// room ahead, others take a byte.
    struct Numbers {
        tasks: usize,
        panics_at: Option<Key>,
        ahead: Arc<(AtomicUsize, AtomicUsize)>,
    }

    impl Work for Numbers {
        type Unit = Key;
        type Item = (usize, usize, usize);

        fn tasks(&self) -> usize {
            self.tasks
        }

        fn expect(&self, _: usize) -> Option<Opening> {
            None
        }

        fn prepare(&self, task: usize, _: Option<Opening>) -> Result<Vec<Key>> {
            Ok((0..task).map(|unit| (task, unit)).collect())
        }

        fn begin(&self, (_, unit): &Key, most: usize) -> Option<usize> {
            if unit % 3 == 2 || most == 0 {
                return None;
            }
            let (held, peak) = &*self.ahead;
            peak.fetch_max(held.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            Some(1)
        }

        fn bytes(_: &Self::Item) -> usize {
            1
        }

        fn decode(&self, unit: Key, emit: &mut dyn FnMut(Self::Item) -> bool) -> Result<()> {
            assert_ne!(self.panics_at, Some(unit), "told to panic");
            if unit.1 % 3 != 2 {
                let held = &self.ahead.0;
                let less = |held: usize| held.checked_sub(1);
                held.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).ok();
            }
            for item in 0..2 {
                emit((unit.0, unit.1, item));
            }
            Ok(())
        }
    }

    fn pipeline(tasks: usize, panics_at: Option<Key>, threads: usize) -> Pipeline<Numbers> {
        let work = Numbers { tasks, panics_at, ahead: Arc::default() };
        Pipeline::new(work, Flight { threads, bytes: 5, ahead: AHEAD })
    }

    fn expected(tasks: usize) -> Vec<(usize, usize, usize)> {
        let units = (0..tasks).flat_map(|task| (0..task).map(move |unit| (task, unit)));
        units.flat_map(|(task, unit)| [(task, unit, 0), (task, unit, 1)]).collect()
    }

    #[test]
    fn items_come_in_order_and_what_is_ahead_is_bounded() {
        for threads in [1, 2, 7] {
            let mut pipeline = pipeline(30, None, threads);
            let found: Vec<_> =
                std::iter::from_fn(|| pipeline.next()).map(Result::unwrap).collect();
            assert_eq!(found, expected(30));
            let peak = pipeline.shared.work.ahead.1.load(Ordering::SeqCst);
            // Beside what is ahead, what the threads have taken up.
            assert!((1..=AHEAD + threads).contains(&peak), "{peak}");
        }
    }

    #[test]
    fn a_panic_is_an_error_after_the_items_before_it() {
        let found: Vec<_> = pipeline(9, Some((7, 3)), 2).collect();
        let (last, before) = found.split_last().unwrap();
        assert!(matches!(last, Err(Error::Internal { reason, .. }) if reason.contains("told to")));
        assert_eq!(before.len(), 2 * (1 + 2 + 3 + 4 + 5 + 6 + 3));
    }

    #[test]
    fn dropping_it_early_ends_the_work() {
        assert_eq!(pipeline(usize::MAX, None, 3).next().unwrap().unwrap(), (1, 0, 0));
    }
}

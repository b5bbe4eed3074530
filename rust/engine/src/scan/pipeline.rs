//! Ordered work on several threads: tasks are prepared into units, units are decoded at once, and
//! their items come out in order.
//!
//! Memory is bounded by the bytes of the items that wait, whoever takes them and when. Jobs are started when
//! there is room for what they make, by whoever makes the room; one that finds the room gone waits with what
//! it has begun, unless its items are those that are taken next and all of them have been.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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

    /// Cut a task into units.
    fn prepare(&self, task: usize) -> Result<Vec<Self::Unit>>;

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
}

/// Units that may be decoded or wait to be taken, for each thread.
const UNITS_PER_THREAD: usize = 8;

/// What a wait for the next item comes to.
pub(crate) enum Step<T> {
    Item(T),
    End,
    /// Nothing yet.
    Pending,
}

/// Task and unit within it.
type Key = (usize, usize);

struct State<W: Work> {
    /// Tasks that prepare has been started for.
    tasks_started: usize,
    preparing: usize,
    /// Units of prepared tasks.
    units: BTreeMap<usize, Result<usize>>,
    ready: BTreeMap<Key, W::Unit>,
    started: BTreeMap<Key, Output<W::Item>>,
    running: usize,
    /// Bytes of all items that wait.
    waiting_bytes: usize,
    /// The unit whose items come out next.
    awaited: Key,
    stopped: bool,
}

struct Output<T> {
    items: VecDeque<T>,
    end: Option<Result<()>>,
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

enum Job<W: Work> {
    Prepare(usize),
    Decode(Key, W::Unit),
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
        let state = State {
            tasks_started: 0,
            preparing: 0,
            units: BTreeMap::new(),
            ready: BTreeMap::new(),
            started: BTreeMap::new(),
            running: 0,
            waiting_bytes: 0,
            awaited: (0, 0),
            stopped: false,
        };
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
        self.failed = step.is_err();
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

impl<W: Work> State<W> {
    /// The next item of the awaited unit; moves on when the unit is finished.
    fn take_awaited(&mut self) -> Result<Option<W::Item>> {
        let Some(output) = self.started.get_mut(&self.awaited) else { return Ok(None) };
        if let Some(item) = output.items.pop_front() {
            self.waiting_bytes = self.waiting_bytes.saturating_sub(W::bytes(&item));
            return Ok(Some(item));
        }
        if let Some(end) = output.end.take() {
            self.started.remove(&self.awaited);
            end?;
            self.awaited.1 += 1;
        }
        Ok(None)
    }

    /// Whether a unit must wait before it makes another item.
    fn is_full_for(&self, key: Key, bytes: usize) -> bool {
        let waits = |output: &Output<W::Item>| !output.items.is_empty();
        !self.stopped
            && self.waiting_bytes >= bytes
            && (key != self.awaited || self.started.get(&key).is_some_and(waits))
    }

    /// The next job that there is room for.
    fn next_job(&mut self, tasks: usize, flight: Flight) -> Option<Job<W>> {
        if self.stopped {
            return None;
        }
        let threads = flight.threads;
        let room = self.waiting_bytes < flight.bytes
            && self.started.len() < threads.saturating_mul(UNITS_PER_THREAD);
        let first = self.ready.first_key_value().map(|(key, _)| *key);
        if let Some(key) = first.filter(|key| room || *key == self.awaited) {
            let unit = self.ready.remove(&key)?;
            self.started.insert(key, Output { items: VecDeque::new(), end: None });
            return Some(Job::Decode(key, unit));
        }
        let ahead = self.ready.len() + self.preparing;
        if self.tasks_started < tasks && ahead < threads {
            self.tasks_started += 1;
            self.preparing += 1;
            return Some(Job::Prepare(self.tasks_started - 1));
        }
        None
    }
}

impl<W: Work> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Put idle threads to work.
    fn start_jobs(shared: &Arc<Self>, state: &mut State<W>) -> Result<()> {
        while state.running < shared.flight.threads {
            let Some(job) = state.next_job(shared.work.tasks(), shared.flight) else { break };
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
                Job::Prepare(task) => self.prepare(task),
                Job::Decode(key, unit) => self.decode(key, unit),
            }
            let mut state = self.lock();
            job = state.next_job(self.work.tasks(), self.flight);
            if job.is_none() {
                state.running -= 1;
            } else {
                // More than one job may have become possible; a failure shows at the next call.
                drop(Self::start_jobs(&self, &mut state));
            }
            self.changed.notify_all();
        }
    }

    fn prepare(&self, task: usize) {
        let prepared = caught("prepare a data file", || self.work.prepare(task));
        let mut state = self.lock();
        state.preparing -= 1;
        let count = prepared.map(|units| {
            let count = units.len();
            state.ready.extend(units.into_iter().enumerate().map(|(unit, it)| ((task, unit), it)));
            count
        });
        state.units.insert(task, count);
        self.changed.notify_all();
    }

    fn decode(&self, key: Key, unit: W::Unit) {
        let end = caught("decode a data file", || {
            self.work.decode(unit, &mut |item| self.put(key, item))
        });
        if let Some(output) = self.lock().started.get_mut(&key) {
            output.end = Some(end);
        }
        self.changed.notify_all();
    }

    /// Let an item wait to be taken, and wait until there is room for another; false if none is wanted.
    fn put(&self, key: Key, item: W::Item) -> bool {
        let mut state = self.lock();
        let bytes = W::bytes(&item);
        let Some(output) = state.started.get_mut(&key) else { return false };
        output.items.push_back(item);
        state.waiting_bytes = state.waiting_bytes.saturating_add(bytes);
        if state.awaited == key {
            self.changed.notify_all();
        }
        while state.is_full_for(key, self.flight.bytes) {
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

impl<W: Work> Drop for Pipeline<W> {
    fn drop(&mut self) {
        // In a forked child no thread of the parent's runs, and the lock may be held for ever.
        if self.process_id == std::process::id() {
            let mut state = self.shared.lock();
            state.stopped = true;
            state.ready.clear();
            state.started.clear();
            self.shared.taken.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Task `n` has `n` units, and unit `u` of it the items `(n, u, 0)` and `(n, u, 1)`.
    struct Numbers {
        tasks: usize,
        panics_at: Option<Key>,
    }

    impl Work for Numbers {
        type Unit = Key;
        type Item = (usize, usize, usize);

        fn tasks(&self) -> usize {
            self.tasks
        }

        fn prepare(&self, task: usize) -> Result<Vec<Key>> {
            Ok((0..task).map(|unit| (task, unit)).collect())
        }

        fn bytes(_: &Self::Item) -> usize {
            1
        }

        fn decode(&self, unit: Key, emit: &mut dyn FnMut(Self::Item) -> bool) -> Result<()> {
            assert_ne!(self.panics_at, Some(unit), "told to panic");
            for item in 0..2 {
                emit((unit.0, unit.1, item));
            }
            Ok(())
        }
    }

    fn flight(threads: usize) -> Flight {
        Flight { threads, bytes: 5 }
    }

    fn expected(tasks: usize) -> Vec<(usize, usize, usize)> {
        let units = (0..tasks).flat_map(|task| (0..task).map(move |unit| (task, unit)));
        units.flat_map(|(task, unit)| [(task, unit, 0), (task, unit, 1)]).collect()
    }

    #[test]
    fn items_come_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let pipeline = Pipeline::new(Numbers { tasks: 30, panics_at: None }, flight(threads));
            assert_eq!(pipeline.collect::<Result<Vec<_>>>().unwrap(), expected(30));
        }
    }

    #[test]
    fn a_panic_is_an_error_after_the_items_before_it() {
        let pipeline = Pipeline::new(Numbers { tasks: 9, panics_at: Some((7, 3)) }, flight(2));
        let found: Vec<_> = pipeline.collect();
        let (last, before) = found.split_last().unwrap();
        assert!(matches!(last, Err(Error::Internal { reason, .. }) if reason.contains("told to")));
        assert_eq!(before.len(), 2 * (1 + 2 + 3 + 4 + 5 + 6 + 3));
    }

    #[test]
    fn dropping_it_early_ends_the_work() {
        let mut pipeline = Pipeline::new(Numbers { tasks: usize::MAX, panics_at: None }, flight(3));
        assert_eq!(pipeline.next().unwrap().unwrap(), (1, 0, 0));
    }
}

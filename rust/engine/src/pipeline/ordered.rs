//! Ordered work on several threads: tasks are prepared into units, several units are decoded at once, and their items
//! are returned in order.
//!
//! Memory is bounded by the bytes of waiting items. A job starts when there is room for its items. A job that runs out
//! of room waits, unless the consumer needs its next item.
//!
//! Jobs run on the executor that all pipelines share. The consumer runs the job that it waits for itself if no thread
//! can start it, or if the consumer is a thread of the executor: nested pipelines finish with any number of threads.
//! Such a job never waits for room, since its consumer could not make any.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::bytes::data_file::TailFetch;
use crate::error::{Error, Result};
use crate::runtime::executor::{Executor, as_work, executor, is_working, waiting};
use crate::runtime::{CHECK_EVERY, catch_panic};

use super::state::{Job, Key, State};
use super::work::{Flight, Work};

/// The outcome of waiting for the next item.
pub(crate) enum Step<T> {
    Item(T),
    End,
    /// The time is up without an item.
    Pending,
}

/// Whether a job waits for room before it adds an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Bounded,
    Unbounded,
}

struct Shared<W: Work> {
    work: W,
    flight: Flight,
    executor: &'static Executor,
    state: Mutex<State<W>>,
    /// Signals the consumer: a new item, a finished unit or a new job.
    changed: Condvar,
    /// Signals jobs: room for more items.
    taken: Condvar,
}

/// The items of all tasks, in order. Dropping it stops the work.
pub(crate) struct Pipeline<W: Work> {
    shared: Arc<Shared<W>>,
    process_id: u32,
    failed: bool,
}

impl<W: Work> Pipeline<W> {
    /// Create a pipeline over `work`, which starts with the first call for an item.
    ///
    /// # Errors
    /// [`Error::Internal`] without an executor.
    pub(crate) fn new(work: W, flight: Flight) -> Result<Self> {
        let executor = executor()?;
        executor.allow(flight.threads);
        Ok(Self::on(executor, work, flight))
    }

    fn on(executor: &'static Executor, work: W, flight: Flight) -> Self {
        let state = Mutex::new(State::new(flight));
        let (changed, taken) = (Condvar::new(), Condvar::new());
        let shared = Shared { work, flight, executor, state, changed, taken };
        Self { shared: Arc::new(shared), process_id: std::process::id(), failed: false }
    }

    /// Wait up to `patience` for the next item.
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
            return Err(Error::internal("continue a stream", reason));
        }
        let shared = &self.shared;
        let started = Instant::now();
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
                shared.announce_room(&state);
                Shared::start_jobs(shared, &mut state);
                return Ok(Step::Item(item));
            }
            if state.awaited != (task, unit) {
                shared.announce_room(&state);
                continue;
            }
            Shared::start_jobs(shared, &mut state);
            if (is_working() || shared.executor.is_stalled())
                && let Some(job) = state.awaited_job(&shared.work)
            {
                drop(state);
                as_work(|| shared.run(job, Room::Unbounded));
                state = shared.lock();
                continue;
            }
            let left = patience.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(Step::Pending);
            }
            // Wake up regularly to check whether the executor has lost its threads.
            let slice = left.min(CHECK_EVERY);
            let waited = waiting(|| shared.changed.wait_timeout(state, slice));
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<W: Work> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submit a turn to the executor for each job that there is room for.
    fn start_jobs(shared: &Arc<Self>, state: &mut State<W>) {
        while state.running < shared.flight.threads && state.queue_job(&shared.work) {
            state.running += 1;
            Self::submit(shared);
        }
    }

    fn submit(shared: &Arc<Self>) {
        let turn = Arc::clone(shared);
        shared.executor.submit(Box::new(move || Self::turn(&turn)));
    }

    /// Run one job after the other while there is room for their items and no other turn needs the thread.
    fn turn(shared: &Arc<Self>) {
        loop {
            let mut state = shared.lock();
            let Some(job) = state.begin_job(&shared.work) else {
                state.running -= 1;
                shared.changed.notify_all();
                return;
            };
            // The job that begins may have made room for others.
            Self::start_jobs(shared, &mut state);
            drop(state);
            shared.run(job, Room::Bounded);
            if shared.executor.has_queue() {
                return Self::submit(shared);
            }
        }
    }

    fn run(&self, job: Job<W>, room: Room) {
        match job {
            Job::Prepare(task, tail) => self.prepare(task, tail),
            Job::Decode(key, unit) => self.decode(key, unit, room),
        }
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) {
        let prepared = caught("prepare a data file", || self.work.prepare(task, tail));
        let mut state = self.lock();
        state.prepared(task, prepared);
        // The consumer waits for one task and unit only: every other wake-up is a change of threads for nothing.
        if state.awaited.0 == task {
            self.changed.notify_all();
        }
    }

    fn decode(&self, key: Key, unit: W::Unit, room: Room) {
        let end = caught("decode a data file", || {
            self.work.decode(unit, &mut |item| self.put(key, item, room))
        });
        let mut state = self.lock();
        state.decoded(key, end);
        if state.awaited == key {
            self.changed.notify_all();
        }
    }

    /// Add an item and wait for room for another; false if the pipeline is stopped.
    fn put(&self, key: Key, item: W::Item, room: Room) -> bool {
        let mut state = self.lock();
        let bytes = W::bytes(&item);
        if !state.put(key, item, bytes) {
            return false;
        }
        if state.awaited == key {
            self.changed.notify_all();
        }
        while room == Room::Bounded && state.is_full_for(key) {
            state.waiting_for_room += 1;
            let waited = waiting(|| self.taken.wait(state));
            state = waited.unwrap_or_else(PoisonError::into_inner);
            state.waiting_for_room -= 1;
        }
        !state.stopped
    }

    /// Wake the jobs that wait for room.
    fn announce_room(&self, state: &State<W>) {
        if state.waiting_for_room > 0 {
            self.taken.notify_all();
        }
    }
}

fn caught<T>(task: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(work).unwrap_or_else(|text| Err(Error::internal(task, text)))
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
        // In a forked child the parent's threads are gone, and the lock may never be released.
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
#[path = "tests.rs"]
mod tests;

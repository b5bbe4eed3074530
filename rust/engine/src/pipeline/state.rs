//! The state of a pipeline, and the choice of its next job.
//!
//! Bytes of remote files are requested ahead of the threads, in order and up to a number of bytes: the tails of the next
//! tasks' files and the first bytes of their units. Threads start with units whose bytes have arrived.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::work::{Flight, Work};
use crate::bytes::data_file::TailFetch;
use crate::error::Result;

/// Units that may be decoding or waiting for the consumer, for each thread.
const UNITS_PER_THREAD: usize = 8;
/// The most tasks and units that are read ahead: half of the requests that a client may have under way.
const AHEAD: usize = 32;

/// Index of a task and of a unit within the task.
pub(crate) type Key = (usize, usize);

pub(crate) enum Job<W: Work> {
    Prepare(usize, Option<TailFetch>),
    Decode(Key, W::Unit),
}

/// The waiting items of a unit, and its outcome.
struct Output<T> {
    items: VecDeque<T>,
    end: Option<Result<()>>,
}

/// A unit to decode, and the bytes that were requested ahead of it.
struct Ready<U> {
    unit: U,
    bytes: usize,
}

pub(crate) struct State<W: Work> {
    flight: Flight,
    /// Tasks whose preparation has started.
    tasks_started: usize,
    preparing: usize,
    /// The number of units of each prepared task.
    pub(crate) units: BTreeMap<usize, Result<usize>>,
    ready: BTreeMap<Key, Ready<W::Unit>>,
    started: BTreeMap<Key, Output<W::Item>>,
    /// Turns of the executor that are queued or running.
    pub(crate) running: usize,
    /// Jobs that no thread has started.
    queued: VecDeque<Job<W>>,
    /// Bytes of all waiting items.
    waiting_bytes: usize,
    /// Jobs that wait for room for more items.
    pub(crate) waiting_for_room: usize,
    /// The unit whose items are returned next.
    pub(crate) awaited: Key,
    pub(crate) stopped: bool,
    /// Requests for the tails of the files of the tasks from `tasks_started` on.
    tails: VecDeque<Option<TailFetch>>,
    /// Ready units whose bytes have not been requested.
    unrequested: BTreeSet<Key>,
    /// Bytes that were requested and not yet used by a job.
    ahead_bytes: usize,
    /// Tasks and units that may be read ahead; few at first, since some consumers stop after the first rows.
    window: usize,
}

impl<W: Work> State<W> {
    pub(crate) fn new(flight: Flight) -> Self {
        Self {
            flight,
            tasks_started: 0,
            preparing: 0,
            units: BTreeMap::new(),
            ready: BTreeMap::new(),
            started: BTreeMap::new(),
            running: 0,
            queued: VecDeque::new(),
            waiting_bytes: 0,
            waiting_for_room: 0,
            awaited: (0, 0),
            stopped: false,
            tails: VecDeque::new(),
            unrequested: BTreeSet::new(),
            ahead_bytes: 0,
            window: if W::NEEDED_WHOLE { AHEAD } else { flight.threads },
        }
    }

    /// Return the next item of the awaited unit; the next unit is awaited once the unit is finished.
    pub(crate) fn take_awaited(&mut self) -> Result<Option<W::Item>> {
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

    /// Add a waiting item; false if the pipeline is stopped.
    pub(crate) fn put(&mut self, key: Key, item: W::Item, bytes: usize) -> bool {
        let Some(output) = self.started.get_mut(&key) else { return false };
        output.items.push_back(item);
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes);
        true
    }

    /// Return whether a unit must wait before it adds another item.
    pub(crate) fn is_full_for(&self, key: Key) -> bool {
        let waits = |output: &Output<W::Item>| !output.items.is_empty();
        !self.stopped
            && self.waiting_bytes >= self.flight.bytes
            && (key != self.awaited || self.started.get(&key).is_some_and(waits))
    }

    /// Add the units of a prepared task.
    pub(crate) fn prepared(&mut self, task: usize, units: Result<Vec<W::Unit>>) {
        self.preparing -= 1;
        self.window = (self.window + 1).min(AHEAD);
        if self.stopped {
            return;
        }
        let count = units.map(|units| {
            let count = units.len();
            for (number, unit) in units.into_iter().enumerate() {
                self.ready.insert((task, number), Ready { unit, bytes: 0 });
                if self.flight.ahead > 0 {
                    self.unrequested.insert((task, number));
                }
            }
            count
        });
        self.units.insert(task, count);
    }

    /// Record the outcome of a unit.
    pub(crate) fn decoded(&mut self, key: Key, end: Result<()>) {
        self.window = (self.window + 1).min(AHEAD);
        if let Some(output) = self.started.get_mut(&key) {
            output.end = Some(end);
        }
    }

    /// Drop all jobs and items that no thread works on.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.queued.clear();
        self.ready.clear();
        self.started.clear();
        self.tails.clear();
        self.unrequested.clear();
    }

    /// Queue the next job that there is room for; false if there is none.
    pub(crate) fn queue_job(&mut self, work: &W) -> bool {
        let job = self.next_job(work);
        let found = job.is_some();
        self.queued.extend(job);
        found
    }

    /// Return the first queued job, or else the next one that there is room for.
    pub(crate) fn begin_job(&mut self, work: &W) -> Option<Job<W>> {
        self.queued.pop_front().or_else(|| self.next_job(work))
    }

    /// Return the job that produces the next item, unless a thread has started it.
    pub(crate) fn awaited_job(&mut self, work: &W) -> Option<Job<W>> {
        let (task, _) = self.awaited;
        let queued = self.queued.iter().position(|job| match job {
            Job::Prepare(queued, _) => *queued == task,
            Job::Decode(key, _) => *key == self.awaited,
        });
        if let Some(index) = queued {
            return self.queued.remove(index);
        }
        if self.ready.contains_key(&self.awaited) {
            return self.decode_job(self.awaited);
        }
        if self.tasks_started == task { self.next_task(work) } else { None }
    }

    /// Return the next job that there is room for.
    fn next_job(&mut self, work: &W) -> Option<Job<W>> {
        if self.stopped {
            return None;
        }
        self.read_ahead(work);
        let job = self.job(work)?;
        // The job uses requested bytes, which makes room for others.
        self.read_ahead(work);
        Some(job)
    }

    fn job(&mut self, work: &W) -> Option<Job<W>> {
        // Prepare tasks early: the bytes of their units are requested while other units decode.
        let cut_first = self.preparing == 0 && self.may_prepare_ahead();
        if cut_first && let Some(job) = self.next_task(work) {
            return Some(job);
        }
        let threads = self.flight.threads;
        let room = self.waiting_bytes < self.flight.bytes
            && self.started.len() < threads.saturating_mul(UNITS_PER_THREAD);
        let first = self.ready.first_key_value().map(|(key, _)| *key);
        if let Some(key) = first.filter(|key| room || *key == self.awaited) {
            return self.decode_job(key);
        }
        if self.ready.len() + self.preparing < threads || self.may_prepare_ahead() {
            return self.next_task(work);
        }
        None
    }

    fn decode_job(&mut self, key: Key) -> Option<Job<W>> {
        let Ready { unit, bytes } = self.ready.remove(&key)?;
        self.unrequested.remove(&key);
        self.ahead_bytes = self.ahead_bytes.saturating_sub(bytes);
        self.started.insert(key, Output { items: VecDeque::new(), end: None });
        Some(Job::Decode(key, unit))
    }

    fn next_task(&mut self, work: &W) -> Option<Job<W>> {
        if self.tasks_started == work.tasks() {
            return None;
        }
        let tail = self.tails.pop_front().flatten();
        if tail.is_some() {
            self.ahead_bytes = self.ahead_bytes.saturating_sub(TailFetch::BYTES);
        }
        self.tasks_started += 1;
        self.preparing += 1;
        Some(Job::Prepare(self.tasks_started - 1, tail))
    }

    /// Return whether the next task can be prepared without waiting, and its units' bytes be requested.
    fn may_prepare_ahead(&self) -> bool {
        let is_ready = matches!(self.tails.front(), Some(Some(tail)) if tail.is_ready());
        is_ready
            && self.unrequested.is_empty()
            && self.ready.len() + self.preparing < self.window
            && self.ahead_bytes < self.flight.ahead
    }

    /// Request the bytes that are needed next: of ready units, then of the tasks after them.
    fn read_ahead(&mut self, work: &W) {
        let left = |bytes: usize| self.flight.ahead.saturating_sub(bytes);
        while let Some(key) = self.unrequested.first()
            && self.ready.len() - self.unrequested.len() < self.window
        {
            let Some(ready) = self.ready.get_mut(key) else { break };
            match work.prefetch(&ready.unit, left(self.ahead_bytes)) {
                Some(bytes) => {
                    ready.bytes = bytes;
                    self.ahead_bytes += bytes;
                }
                // The decoding thread requests bytes that exceed the limit by themselves.
                None if self.ahead_bytes == 0 => {}
                None => return,
            }
            self.unrequested.pop_first();
        }
        while self.tails.len() < self.window && left(self.ahead_bytes) >= TailFetch::BYTES {
            let task = self.tasks_started + self.tails.len();
            if task >= work.tasks() {
                return;
            }
            let tail = work.fetch_tail(task);
            if tail.is_some() {
                self.ahead_bytes += TailFetch::BYTES;
            }
            self.tails.push_back(tail);
        }
    }
}

//! What a pipeline's work has come to, and what is to be done next.
//!
//! Where a network is between, bytes are sent for ahead of the threads: the ends of the next tasks' files and what their
//! units read first, in the order in which they are needed, up to a number of bytes. A thread takes up what is
//! there, so requests wait for the network and threads for nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::work::{Flight, Work};
use crate::bytes::data_file::Opening;
use crate::error::Result;

/// Units that may be decoded or wait to be taken, for each thread.
const UNITS_PER_THREAD: usize = 8;
/// Tasks and units that are read ahead at once: half of the requests that a client has under way.
const AHEAD: usize = 32;

/// Task and unit within it.
pub(crate) type Key = (usize, usize);

pub(crate) enum Job<W: Work> {
    Prepare(usize, Option<Opening>),
    Decode(Key, W::Unit),
}

/// The items of a unit that wait, and how it ended.
struct Output<T> {
    items: VecDeque<T>,
    end: Option<Result<()>>,
}

/// A unit to be decoded, and how many bytes were sent for ahead of it.
struct Ready<U> {
    unit: U,
    bytes: usize,
}

pub(crate) struct State<W: Work> {
    flight: Flight,
    /// Tasks that prepare has been started for.
    tasks_started: usize,
    preparing: usize,
    /// Units of prepared tasks.
    pub(crate) units: BTreeMap<usize, Result<usize>>,
    ready: BTreeMap<Key, Ready<W::Unit>>,
    started: BTreeMap<Key, Output<W::Item>>,
    /// Turns of the executor that are queued or run.
    pub(crate) running: usize,
    /// Jobs that no thread has begun.
    queued: VecDeque<Job<W>>,
    /// Bytes of all items that wait.
    waiting_bytes: usize,
    /// The unit whose items come out next.
    pub(crate) awaited: Key,
    pub(crate) stopped: bool,
    /// The ends of the files of the tasks from `tasks_started` on.
    openings: VecDeque<Option<Opening>>,
    /// Those ready that nothing was sent for.
    unbegun: BTreeSet<Key>,
    /// Bytes that were sent for and not taken up.
    ahead_bytes: usize,
    /// Tasks and units that may be ahead: few at first, for who wants the first rows alone.
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
            awaited: (0, 0),
            stopped: false,
            openings: VecDeque::new(),
            unbegun: BTreeSet::new(),
            ahead_bytes: 0,
            window: if W::NEEDED_WHOLE { AHEAD } else { flight.threads },
        }
    }

    /// The next item of the awaited unit; moves on when the unit is finished.
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

    /// Let an item wait; false if nobody wants it.
    pub(crate) fn put(&mut self, key: Key, item: W::Item, bytes: usize) -> bool {
        let Some(output) = self.started.get_mut(&key) else { return false };
        output.items.push_back(item);
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes);
        true
    }

    /// Whether a unit must wait before it makes another item.
    pub(crate) fn is_full_for(&self, key: Key) -> bool {
        let waits = |output: &Output<W::Item>| !output.items.is_empty();
        !self.stopped
            && self.waiting_bytes >= self.flight.bytes
            && (key != self.awaited || self.started.get(&key).is_some_and(waits))
    }

    /// Take the units that a task was cut into.
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
                    self.unbegun.insert((task, number));
                }
            }
            count
        });
        self.units.insert(task, count);
    }

    /// A unit has been decoded.
    pub(crate) fn decoded(&mut self, key: Key, end: Result<()>) {
        self.window = (self.window + 1).min(AHEAD);
        if let Some(output) = self.started.get_mut(&key) {
            output.end = Some(end);
        }
    }

    /// Let go of all that nobody works on.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
        self.queued.clear();
        self.ready.clear();
        self.started.clear();
        self.openings.clear();
        self.unbegun.clear();
    }

    /// Queue the next job that there is room for; whether there is one.
    pub(crate) fn queue_job(&mut self, work: &W) -> bool {
        let job = self.next_job(work);
        let found = job.is_some();
        self.queued.extend(job);
        found
    }

    /// The first queued job, or else the next one that there is room for.
    pub(crate) fn begin_job(&mut self, work: &W) -> Option<Job<W>> {
        self.queued.pop_front().or_else(|| self.next_job(work))
    }

    /// The job that the next item comes from, unless a thread has begun it.
    pub(crate) fn awaited_job(&mut self, work: &W) -> Option<Job<W>> {
        let (task, _) = self.awaited;
        let queued = self.queued.iter().position(|job| match job {
            Job::Prepare(queued, _) => *queued == task,
            Job::Decode(key, _) => *key == self.awaited,
        });
        if let Some(place) = queued {
            return self.queued.remove(place);
        }
        if self.ready.contains_key(&self.awaited) {
            return self.decode_job(self.awaited);
        }
        if self.tasks_started == task { self.next_task(work) } else { None }
    }

    /// The next job that there is room for.
    fn next_job(&mut self, work: &W) -> Option<Job<W>> {
        if self.stopped {
            return None;
        }
        self.read_ahead(work);
        let job = self.job(work)?;
        // What was sent for is taken up, and makes room.
        self.read_ahead(work);
        Some(job)
    }

    fn job(&mut self, work: &W) -> Option<Job<W>> {
        // What is cut is sent for, while others decode.
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
        self.unbegun.remove(&key);
        self.ahead_bytes = self.ahead_bytes.saturating_sub(bytes);
        self.started.insert(key, Output { items: VecDeque::new(), end: None });
        Some(Job::Decode(key, unit))
    }

    fn next_task(&mut self, work: &W) -> Option<Job<W>> {
        if self.tasks_started == work.tasks() {
            return None;
        }
        let opening = self.openings.pop_front().flatten();
        if opening.is_some() {
            self.ahead_bytes = self.ahead_bytes.saturating_sub(Opening::BYTES);
        }
        self.tasks_started += 1;
        self.preparing += 1;
        Some(Job::Prepare(self.tasks_started - 1, opening))
    }

    /// Whether the next task can be cut at once, and its units be sent for.
    fn may_prepare_ahead(&self) -> bool {
        let has_come = matches!(self.openings.front(), Some(Some(opening)) if opening.has_come());
        has_come
            && self.unbegun.is_empty()
            && self.ready.len() + self.preparing < self.window
            && self.ahead_bytes < self.flight.ahead
    }

    /// Send for what is needed next: of units, then of the tasks after them.
    fn read_ahead(&mut self, work: &W) {
        let left = |bytes: usize| self.flight.ahead.saturating_sub(bytes);
        while let Some(key) = self.unbegun.first()
            && self.ready.len() - self.unbegun.len() < self.window
        {
            let Some(ready) = self.ready.get_mut(key) else { break };
            match work.begin(&ready.unit, left(self.ahead_bytes)) {
                Some(bytes) => {
                    ready.bytes = bytes;
                    self.ahead_bytes += bytes;
                }
                // What has no room ever is left to who decodes it.
                None if self.ahead_bytes == 0 => {}
                None => return,
            }
            self.unbegun.pop_first();
        }
        while self.openings.len() < self.window && left(self.ahead_bytes) >= Opening::BYTES {
            let task = self.tasks_started + self.openings.len();
            if task >= work.tasks() {
                return;
            }
            let opening = work.expect(task);
            if opening.is_some() {
                self.ahead_bytes += Opening::BYTES;
            }
            self.openings.push_back(opening);
        }
    }
}

//! Pipelines of numbers, on one thread and on many.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const AHEAD: usize = 3;

/// Task `n` has `n` units, and unit `u` of it the items `(n, u, 0)` and `(n, u, 1)`. Every third unit
/// exceeds the read-ahead limit, others take a byte.
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

    fn fetch_tail(&self, _: usize) -> Option<TailFetch> {
        None
    }

    fn prepare(&self, task: usize, _: Option<TailFetch>) -> Result<Vec<Key>> {
        Ok((0..task).map(|unit| (task, unit)).collect())
    }

    fn prefetch(&self, (_, unit): &Key, most: usize) -> Option<usize> {
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
        assert_ne!(self.panics_at, Some(unit), "panic on purpose");
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
    Pipeline::new(work, Flight { threads, bytes: 5, ahead: AHEAD }).unwrap()
}

fn few_threads(limit: usize) -> &'static Executor {
    Box::leak(Box::new(Executor::new(limit, 0)))
}

/// Each task runs a pipeline of its own down to a depth, and produces the number of pipelines.
struct Nested {
    executor: &'static Executor,
    depth: usize,
}

impl Work for Nested {
    type Unit = usize;
    type Item = usize;

    fn tasks(&self) -> usize {
        3
    }

    fn fetch_tail(&self, _: usize) -> Option<TailFetch> {
        None
    }

    fn prepare(&self, _: usize, _: Option<TailFetch>) -> Result<Vec<usize>> {
        if self.depth == 0 {
            return Ok(vec![1]);
        }
        let inner = Self { executor: self.executor, depth: self.depth - 1 };
        let flight = Flight { threads: 3, bytes: 1, ahead: 0 };
        let counts = Pipeline::on(self.executor, inner, flight);
        Ok(vec![1 + counts.map(Result::unwrap).sum::<usize>()])
    }

    fn prefetch(&self, _: &usize, _: usize) -> Option<usize> {
        Some(0)
    }

    fn bytes(_: &usize) -> usize {
        1
    }

    fn decode(&self, unit: usize, emit: &mut dyn FnMut(usize) -> bool) -> Result<()> {
        // Two items, so that the second waits for room.
        emit(unit - 1);
        emit(1);
        Ok(())
    }
}

#[test]
fn pipelines_within_pipelines_end_with_any_number_of_threads() {
    for limit in [0, 1, 2, 5] {
        let work = Nested { executor: few_threads(limit), depth: 3 };
        let flight = Flight { threads: 3, bytes: 1, ahead: 0 };
        let counts = Pipeline::on(work.executor, work, flight);
        assert_eq!(counts.map(Result::unwrap).sum::<usize>(), 3 * (1 + 3 * (1 + 3 * (1 + 3))));
    }
}

#[test]
fn idle_pipelines_do_not_block_others() {
    for limit in [0, 1, 2] {
        let executor = few_threads(limit);
        let started = (0..5).map(|_| {
            let work = Numbers { tasks: 30, panics_at: None, ahead: Arc::default() };
            let flight = Flight { threads: 2, bytes: 2, ahead: AHEAD };
            let mut pipeline = Pipeline::on(executor, work, flight);
            assert_eq!(pipeline.next().unwrap().unwrap(), (1, 0, 0));
            pipeline
        });
        for pipeline in started.collect::<Vec<_>>() {
            let left: Vec<_> = pipeline.map(Result::unwrap).collect();
            assert_eq!(left, expected(30)[1..]);
        }
    }
}

fn expected(tasks: usize) -> Vec<(usize, usize, usize)> {
    let units = (0..tasks).flat_map(|task| (0..task).map(move |unit| (task, unit)));
    units.flat_map(|(task, unit)| [(task, unit, 0), (task, unit, 1)]).collect()
}

#[test]
fn items_are_in_order_and_read_ahead_is_bounded() {
    for threads in [1, 2, 7] {
        let mut pipeline = pipeline(30, None, threads);
        let found: Vec<_> = std::iter::from_fn(|| pipeline.next()).map(Result::unwrap).collect();
        assert_eq!(found, expected(30));
        let peak = pipeline.shared.work.ahead.1.load(Ordering::SeqCst);
        // The window, and the tasks that threads have started.
        assert!((1..=AHEAD + threads).contains(&peak), "{peak}");
    }
}

#[test]
fn panic_is_an_error_after_the_preceding_items() {
    let found: Vec<_> = pipeline(9, Some((7, 3)), 2).collect();
    let (last, before) = found.split_last().unwrap();
    assert!(matches!(last, Err(Error::Internal { reason, .. }) if reason.contains("on purpose")));
    assert_eq!(before.len(), 2 * (1 + 2 + 3 + 4 + 5 + 6 + 3));
}

#[test]
fn dropping_it_early_ends_the_work() {
    assert_eq!(pipeline(usize::MAX, None, 3).next().unwrap().unwrap(), (1, 0, 0));
}

//! Clock, sleep and randomness: the only file that calls the operating system for them.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, Sleep};
use uuid::Uuid;

/// Return a random UUID, for names of temporary files.
pub(crate) fn new_uuid() -> Uuid {
    Uuid::new_v4()
}

/// Return a key for hashes: 128 random bits as two words.
pub(crate) fn random_key() -> [u64; 2] {
    // The constant bits of a random UUID are at different positions of its halves.
    let word = || {
        let (first, second) = new_uuid().as_u64_pair();
        first ^ second.rotate_left(32)
    };
    [word(), word()]
}

/// Return the milliseconds since 1970-01-01 UTC.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Wait without blocking the thread.
pub(crate) async fn sleep(wait: Duration) {
    tokio::time::sleep(wait).await;
}

/// Return the output of a future; `None` if it takes longer than `wait`.
pub(crate) async fn within<T>(wait: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(wait, future).await.ok()
}

/// A timer for repeated waits, to poll.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    is_running: bool,
}

impl Timer {
    /// End the wait: the next poll starts another one.
    pub(crate) fn stop(&mut self) {
        self.is_running = false;
    }

    /// Start a wait if none is running, and report its end.
    pub(crate) fn poll(&mut self, wait: Duration, context: &mut Context<'_>) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(wait)));
        if !self.is_running {
            // A wait beyond the range of the clock has no end.
            let Some(end) = Instant::now().checked_add(wait) else { return Poll::Pending };
            sleep.as_mut().reset(end);
            self.is_running = true;
        }
        ready!(sleep.as_mut().poll(context));
        self.is_running = false;
        Poll::Ready(())
    }
}

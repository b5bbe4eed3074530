//! Clock, sleep and randomness: the only file that calls the operating system for them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

//! Concurrent writes of manifests, all of them or none.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;

use super::read::CONCURRENCY;
use crate::error::Result;
use crate::store::FileIo;

/// Run writes of manifests concurrently, and return their results in order.
///
/// After a failure no further write starts, and the manifests of the others are deleted: the caller gets an error instead
/// of their locations, and could not delete them.
///
/// # Errors
/// The first error of `writes`.
pub(super) async fn all_or_none<T>(
    io: &FileIo,
    writes: impl IntoIterator<Item = impl Future<Output = Result<T>>>,
    locations: impl Fn(&T) -> Vec<String>,
) -> Result<Vec<T>> {
    let has_failed = AtomicBool::new(false);
    let has_failed = &has_failed;
    let outcomes = futures::stream::iter(writes).map(|write| async move {
        if has_failed.load(Ordering::Relaxed) {
            return None;
        }
        let outcome = write.await;
        if outcome.is_err() {
            has_failed.store(true, Ordering::Relaxed);
        }
        Some(outcome)
    });
    let outcomes: Vec<_> = outcomes.buffered(CONCURRENCY).collect().await;
    let (mut written, mut failure) = (Vec::new(), None);
    for outcome in outcomes.into_iter().flatten() {
        match outcome {
            Ok(result) => written.push(result),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    let Some(error) = failure else { return Ok(written) };
    let left: Vec<String> = written.iter().flat_map(locations).collect();
    // Deletion is best effort: the caller reports the error that led here.
    drop(io.delete_many(&left).await);
    Err(error)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use bytes::Bytes;

    use super::*;
    use crate::error::Error;

    #[tokio::test]
    async fn failure_deletes_what_was_written() {
        let io = FileIo::new([]);
        let directory =
            std::env::temp_dir().join(format!("icefloe-written-{}", std::process::id()));
        let location =
            |number: usize| directory.join(number.to_string()).to_string_lossy().into_owned();
        let writes = (0..6).map(|number| {
            let (io, location) = (io.clone(), location(number));
            async move {
                if number == 3 {
                    return Err(Error::Missing { location });
                }
                io.write(&location, Bytes::from_static(b"m"), false).await.map(|()| location)
            }
        });
        let outcome = all_or_none(&io, writes, |location| vec![location.clone()]).await;
        assert!(matches!(outcome, Err(Error::Missing { .. })));
        for number in 0..6 {
            assert!(!io.exists(&location(number)).await.unwrap());
        }
    }
}

//! Creating an object only if none exists.

use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, Result};

use super::client::Attempts;
use crate::runtime::environment;

/// Delays before the object is stored again, after a request whose reply was lost and which stored nothing.
const WAITS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];

/// The object under the name after an attempt.
enum Found {
    Nothing,
    Ours,
    Another,
}

/// Store `data` unless an object exists; `AlreadyExists` if one does.
///
/// A request that is repeated after a lost reply meets its own object. After a repeated request the object is therefore
/// read back and compared before it counts as a conflict: taking an own commit for a conflict would delete its files.
pub(super) async fn create(store: &dyn ObjectStore, path: &Path, data: &Bytes) -> Result<()> {
    let mut is_repeated = false;
    let mut waits = WAITS.iter();
    loop {
        let attempts = Attempts::default();
        let error = match put(store, path, data, &attempts).await {
            Ok(()) => return Ok(()),
            Err(error) if is_definite(&error) => return Err(error),
            Err(error) => error,
        };
        is_repeated |= attempts.count() > 1 || !matches!(error, Error::AlreadyExists { .. });
        match found(store, path, data).await {
            Ok(Found::Ours) if is_repeated => return Ok(()),
            Ok(Found::Ours | Found::Another) => return Err(exists(path, error)),
            Ok(Found::Nothing) => {}
            // The owner of the object is unknown, so the outcome is unknown.
            Err(failure) if is_repeated => return Err(failure),
            Err(_) => return Err(error),
        }
        match waits.next() {
            Some(wait) => environment::sleep(*wait).await,
            None => return Err(error),
        }
    }
}

async fn put(
    store: &dyn ObjectStore,
    path: &Path,
    data: &Bytes,
    attempts: &Attempts,
) -> Result<()> {
    let mut options = PutOptions::from(PutMode::Create);
    options.extensions.insert(attempts.clone());
    let payload = PutPayload::from_bytes(data.clone());
    store.put_opts(path, payload, options).await.map(drop)
}

/// Return whether an error is definite that nothing was stored. Existing objects and unknown failures are read back.
fn is_definite(error: &Error) -> bool {
    !matches!(error, Error::AlreadyExists { .. } | Error::Generic { .. } | Error::JoinError { .. })
}

async fn found(store: &dyn ObjectStore, path: &Path, data: &Bytes) -> Result<Found> {
    let length = match store.head(path).await {
        Ok(facts) => facts.size,
        Err(Error::NotFound { .. }) => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    if usize::try_from(length) != Ok(data.len()) {
        return Ok(Found::Another);
    }
    let stored = store.get(path).await?.bytes().await?;
    Ok(if stored == *data { Found::Ours } else { Found::Another })
}

fn exists(path: &Path, error: Error) -> Error {
    match error {
        Error::AlreadyExists { .. } => error,
        other => Error::AlreadyExists { path: path.to_string(), source: Box::new(other) },
    }
}

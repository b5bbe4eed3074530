//! A new object under a name that nothing else may have.

use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, Result};

use super::client::Attempts;

/// Waits before the object is stored once more, after a request whose reply was lost and which
/// turned out to have stored nothing.
const WAITS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];

/// What is stored under the name after an attempt.
enum Found {
    Nothing,
    Ours,
    Another,
}

/// Store `data` if there is nothing yet; `AlreadyExists` if there is.
///
/// A request that is sent again because its reply was lost finds its own object there. So once
/// anything was sent twice, what is there is read back and compared before it is called another's:
/// whoever takes a commit of his own for a conflict goes on to delete what it consists of.
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
            // Whose it is cannot be told, so nothing is said of that.
            Err(failure) if is_repeated => return Err(failure),
            Err(_) => return Err(error),
        }
        match waits.next() {
            Some(wait) => tokio::time::sleep(*wait).await,
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

/// Whether an error says that nothing was stored. What it is that exists, and a failure of which
/// nothing is known, are looked into.
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

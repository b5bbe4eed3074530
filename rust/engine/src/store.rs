//! Locations to object stores.
//!
//! A location is the exact string that table metadata holds: an absolute path, `file:/path` or
//! `file:///path`. Its characters are used as written (`%20` is three characters, `#` is one); only
//! empty and `.` path segments are folded when the file system is asked.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::error::{Error, Result};
use crate::runtime::PerProcess;

/// Storage operations that run at once for one call.
const CONCURRENCY: usize = 10;

/// Access to storage, described by properties alone: cloning, pickling and forking cost nothing,
/// since stores live in a slot of the process.
#[derive(Debug, Clone, Default)]
pub struct FileIo {
    properties: Arc<BTreeMap<String, String>>,
}

/// One stored object, as a listing reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Location, spelled like the prefix that was listed.
    pub location: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last modification, milliseconds since the epoch.
    pub last_modified_ms: i64,
}

static LOCAL: PerProcess<Arc<dyn ObjectStore>> = PerProcess::new();

impl FileIo {
    /// Storage with these properties.
    pub fn new(properties: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { properties: Arc::new(properties.into_iter().collect()) }
    }

    /// The properties this was made from.
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    /// The store that holds `location`, and the path in it.
    ///
    /// # Errors
    /// `Unsupported` for a scheme without a store, `InvalidArgument` for what is no location.
    pub fn object(&self, location: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
        let path = Path::parse(folded(location, local_path_text(location)?)?)
            .map_err(|error| FormatError::invalid("location", format!("{location}: {error}")))?;
        let store = LOCAL.get(|| Ok(Arc::new(LocalFileSystem::new().with_fsync(true))))?;
        Ok((Arc::clone(store), path))
    }

    /// The file-system path of a location, if it is on the local file system.
    ///
    /// # Errors
    /// As for [`FileIo::object`].
    pub fn local_path(&self, location: &str) -> Result<Option<PathBuf>> {
        Ok(Some(PathBuf::from(local_path_text(location)?)))
    }

    /// The whole of a file.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`].
    pub async fn read(&self, location: &str) -> Result<Bytes> {
        let (store, path) = self.object(location)?;
        let found = store.get_opts(&path, GetOptions::default()).await;
        let found = found.map_err(|error| storage(location, error))?;
        found.bytes().await.map_err(|error| storage(location, error))
    }

    /// Byte ranges of a file, in the order asked for.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`] (also for a range beyond the end).
    pub async fn read_ranges(&self, location: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let (store, path) = self.object(location)?;
        store.get_ranges(&path, ranges).await.map_err(|error| storage(location, error))
    }

    /// Store `data` under a location, whole or not at all; directories are made as needed.
    ///
    /// # Errors
    /// [`Error::Exists`] if `overwrite` is false and something is there: of two racers one wins.
    /// [`Error::Storage`].
    pub async fn write(&self, location: &str, data: Bytes, overwrite: bool) -> Result<()> {
        let (store, path) = self.object(location)?;
        let mode = if overwrite { PutMode::Overwrite } else { PutMode::Create };
        let options = PutOptions::from(mode);
        let put = store.put_opts(&path, PutPayload::from_bytes(data), options).await;
        put.map(drop).map_err(|error| storage(location, error))
    }

    /// Whether a file is stored at a location.
    ///
    /// # Errors
    /// [`Error::Storage`] when storage cannot tell.
    pub async fn exists(&self, location: &str) -> Result<bool> {
        match self.size(location).await {
            Ok(_) => Ok(true),
            Err(Error::Missing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Size of a file in bytes.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`].
    pub async fn size(&self, location: &str) -> Result<u64> {
        let (store, path) = self.object(location)?;
        Ok(store.head(&path).await.map_err(|error| storage(location, error))?.size)
    }

    /// Delete a file.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`].
    pub async fn delete(&self, location: &str) -> Result<()> {
        let (store, path) = self.object(location)?;
        store.delete(&path).await.map_err(|error| storage(location, error))
    }

    /// Delete files, several at once, and report each that is still there with the reason. A file
    /// that is gone already is no failure.
    pub async fn delete_many(&self, locations: &[String]) -> Vec<(String, Error)> {
        let outcomes = futures::stream::iter(locations)
            .map(|location| async move { (location, self.delete(location).await) })
            .buffered(CONCURRENCY);
        let failures = outcomes.filter_map(|(location, outcome)| async move {
            match outcome {
                Ok(()) | Err(Error::Missing { .. }) => None,
                Err(error) => Some((location.clone(), error)),
            }
        });
        failures.collect().await
    }

    /// Every file under a directory, at any depth, ordered by location; none if it does not exist.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(&self, prefix: &str) -> Result<Vec<Listed>> {
        let (store, path) = self.object(prefix)?;
        let scheme = &prefix[..prefix.len() - local_path_text(prefix)?.len()];
        let found: Vec<_> = store
            .list(Some(&path))
            .map_ok(|object| Listed {
                location: format!("{scheme}/{}", object.location),
                size: object.size,
                last_modified_ms: object.last_modified.timestamp_millis(),
            })
            .try_collect()
            .await
            .map_err(|error| storage(prefix, error))?;
        let mut found = found;
        found.sort_by(|left, right| left.location.cmp(&right.location));
        Ok(found)
    }
}

/// The path part of a local location: a suffix of it that starts with `/`.
fn local_path_text(location: &str) -> Result<&str> {
    if location.starts_with('/') {
        return Ok(location);
    }
    let Some((scheme, rest)) = location.split_once(':').filter(|(scheme, _)| is_scheme(scheme))
    else {
        let reason = format!("{location:?} is neither an absolute path nor a URI");
        return Err(FormatError::invalid("location", reason).into());
    };
    if !scheme.eq_ignore_ascii_case("file") {
        return Err(FormatError::unsupported(format!("storage scheme {scheme}://")).into());
    }
    let path = match rest.strip_prefix("//") {
        Some(with_host) => with_host.strip_prefix("localhost").unwrap_or(with_host),
        None => rest,
    };
    if path.starts_with('/') {
        return Ok(path);
    }
    let reason = format!("{location:?} names no absolute path on this machine");
    Err(FormatError::invalid("location", reason).into())
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// The path without empty and `.` segments. `..` is refused: what it means depends on links.
fn folded(location: &str, path: &str) -> Result<String> {
    let segments: Vec<_> =
        path.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    if segments.contains(&"..") {
        let reason = format!("{location:?} contains a .. segment");
        return Err(FormatError::invalid("location", reason).into());
    }
    Ok(segments.join("/"))
}

fn storage(location: &str, error: object_store::Error) -> Error {
    let location = location.to_owned();
    match error {
        object_store::Error::NotFound { .. } => Error::Missing { location },
        object_store::Error::AlreadyExists { .. } => Error::Exists { location },
        error => Error::Storage { location, reason: error.to_string() },
    }
}

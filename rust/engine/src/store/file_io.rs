//! Access to files by location, on any storage.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;

use super::content::Content;
use super::local;
use super::location::{Children, Listed, LocalLocation, Location};
use super::properties::Properties;
use super::remote::{self, Remote};
use super::unsynced::UnsyncedFiles;
use super::upload::{Abandoned, Upload};
use super::{client, stores};
use crate::error::{Error, Result};
use crate::runtime::wait_for_file;

/// Lookups or local deletes of one call that run concurrently.
const CONCURRENCY: usize = 10;

/// Access to storage, described by properties alone. It is cheap to clone, pickle and fork, since clients are in a slot
/// of the process.
#[derive(Clone, Default)]
pub struct FileIo {
    pub(super) properties: Arc<BTreeMap<String, String>>,
    /// The set that new local files are added to, instead of a sync of each.
    pub(super) unsynced: Option<UnsyncedFiles>,
}

impl std::fmt::Debug for FileIo {
    /// Values may be secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.properties.keys()).finish()
    }
}

/// A location with its access.
pub(super) enum Target<'a> {
    Local(LocalLocation<'a>),
    Remote(Box<Remote<'a>>),
}

impl FileIo {
    /// Create access to storage with these properties.
    pub fn new(properties: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { properties: Arc::new(properties.into_iter().collect()), unsynced: None }
    }

    /// Return the properties of this access.
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    /// Return the properties for a location, today the same for all.
    fn properties_of(&self, _location: &str) -> &Arc<BTreeMap<String, String>> {
        &self.properties
    }

    pub(super) fn target<'a>(&'a self, text: &'a str) -> Result<Target<'a>> {
        match self.directory(text)? {
            Target::Remote(remote) if remote.location.key.is_root() => {
                let reason = format!("expected the location of a file, got {text:?}");
                Err(FormatError::invalid("location", reason).into())
            }
            target => Ok(target),
        }
    }

    /// As [`FileIo::target`], for a location that may be the root of a store.
    fn directory<'a>(&'a self, text: &'a str) -> Result<Target<'a>> {
        let properties = self.properties_of(text);
        Ok(match self.parsed(text)? {
            Location::Local(local) => Target::Local(local),
            Location::Remote(location) => Target::Remote(Box::new(Remote {
                text,
                store: stores::store(&location, properties)?,
                location,
                properties: Properties(properties),
            })),
        })
    }

    /// Return the file-system path of a location, if it is on the local file system.
    ///
    /// # Errors
    /// `Unsupported` for a scheme without a store, `InvalidArgument` for text that is not a location.
    pub fn local_path(&self, location: &str) -> Result<Option<PathBuf>> {
        Ok(match self.parsed(location)? {
            Location::Local(local) => Some(local.path),
            Location::Remote(_) => None,
        })
    }

    /// Return the bytes of data files that a scan reads ahead of the decoding threads; 0 for local files and locations
    /// that cannot be parsed.
    ///
    /// # Errors
    /// `InvalidArgument` naming a property.
    pub(crate) fn read_ahead_bytes(&self, location: &str) -> Result<usize> {
        let Ok(Location::Remote(remote)) = self.parsed(location) else { return Ok(0) };
        let properties = Properties(self.properties_of(location));
        client::read_ahead_bytes(properties, remote.service.prefix())
    }

    /// Read a whole file.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Storage`], errors of [`FileIo::local_path`], and `InvalidArgument`,
    /// `Unsupported` naming a property.
    pub async fn read(&self, location: &str) -> Result<Bytes> {
        let location = &*self.absolute(location);
        match self.target(location)? {
            Target::Local(local) => blocking(location, move || local::read(&local.path)).await,
            Target::Remote(remote) => remote.read().await,
        }
    }

    /// As [`FileIo::read`] of a local file, blocking.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`], and `InvalidArgument` for a location that is not local.
    pub(crate) fn read_local(&self, location: &str) -> Result<Bytes> {
        match self.local_path(location)? {
            Some(path) => {
                let location = self.absolute(location);
                local::read(&path).map_err(|error| Error::of_system(location, &error))
            }
            None => Err(FormatError::invalid(
                "location",
                format!("expected a local file, got {location:?}"),
            )
            .into()),
        }
    }

    /// Read byte ranges of a file, in the order of `ranges`.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`]; [`Error::Storage`] for a range beyond the end.
    pub async fn read_ranges(&self, location: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let location = &*self.absolute(location);
        match self.target(location)? {
            Target::Local(LocalLocation { path, .. }) => {
                let ranges = ranges.to_vec();
                blocking(location, move || local::read_ranges(&path, &ranges)).await
            }
            Target::Remote(remote) => remote.read_ranges(ranges).await,
        }
    }

    /// Read the last bytes of a file, at most `length`, and return them with the file's size.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`].
    pub async fn tail(&self, location: &str, length: u64) -> Result<(Bytes, u64)> {
        let location = &*self.absolute(location);
        match self.target(location)? {
            Target::Local(LocalLocation { path, .. }) => {
                let read = move || {
                    let size = local::size(&path)?;
                    let range = size.saturating_sub(length)..size;
                    let mut found = local::read_ranges(&path, std::slice::from_ref(&range))?;
                    Ok((found.pop().unwrap_or_default(), size))
                };
                blocking(location, read).await
            }
            Target::Remote(remote) => remote.tail(length).await,
        }
    }

    /// Read a whole file, unless it has exactly this content: `None` then. A local file is compared without a copy in
    /// memory.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`].
    pub async fn read_unless(
        &self,
        location: &str,
        content: impl Into<Content>,
    ) -> Result<Option<Bytes>> {
        let (location, content) = (&*self.absolute(location), content.into());
        match self.target(location)? {
            Target::Local(LocalLocation { path, .. }) => {
                blocking(location, move || local::read_unless(&path, &content)).await
            }
            Target::Remote(remote) => {
                let found = remote.read().await?;
                Ok((!content.is(&found)).then_some(found))
            }
        }
    }

    /// Start a sequential upload to a remote store; `None` for a local location.
    ///
    /// # Errors
    /// The errors of [`FileIo::local_path`] and for properties.
    pub(crate) fn upload(&self, location: &str, abandoned: &Abandoned) -> Result<Option<Upload>> {
        match self.target(location)? {
            Target::Local(_) => Ok(None),
            Target::Remote(remote) => {
                remote.writable()?;
                let object = (remote.store, remote.location.key);
                Upload::new(self.properties_of(location), location, object, abandoned.clone())
                    .map(Some)
            }
        }
    }

    /// Return whether a file is stored at a location.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`], except for a missing file.
    pub async fn exists(&self, location: &str) -> Result<bool> {
        match self.size(location).await {
            Ok(_) => Ok(true),
            Err(Error::Missing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Return the size of a file in bytes.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`].
    pub async fn size(&self, location: &str) -> Result<u64> {
        let location = &*self.absolute(location);
        match self.target(location)? {
            Target::Local(local) => blocking(location, move || local::size(&local.path)).await,
            Target::Remote(remote) => remote.size().await,
        }
    }

    /// Return the sizes of files in bytes, in the order of `locations`, several at once.
    ///
    /// # Errors
    /// The errors of [`FileIo::size`], for the first file in order with an error.
    pub async fn sizes(&self, locations: &[String]) -> Result<Vec<u64>> {
        let sizes: Vec<_> = locations.iter().map(|location| self.size(location)).collect();
        futures::stream::iter(sizes).buffered(CONCURRENCY).try_collect().await
    }

    /// Delete a file.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`].
    pub async fn delete(&self, location: &str) -> Result<()> {
        let location = &*self.absolute(location);
        match self.target(location)? {
            Target::Local(local) => blocking(location, move || local::delete(&local.path)).await,
            Target::Remote(remote) => remote.delete().await,
        }
    }

    /// Delete files, many at once, and return each file that remains with the reason. A missing file is no error.
    pub async fn delete_many(&self, locations: &[String]) -> Vec<(String, Error)> {
        let mut failures = Vec::new();
        let (mut local, mut remote) = (Vec::new(), HashMap::<_, Vec<Remote<'_>>>::new());
        for location in locations {
            match self.target(location) {
                Ok(Target::Local(_)) => local.push(location),
                Ok(Target::Remote(object)) => {
                    let store = (object.location.service, object.location.authority);
                    remote.entry(store).or_default().push(*object);
                }
                Err(error) => failures.push((location.clone(), error)),
            }
        }
        let outcomes = futures::stream::iter(local)
            .map(|location| async move { (location, self.delete(location).await) })
            .buffered(CONCURRENCY);
        let failed = outcomes.filter_map(|(location, outcome)| async move {
            match outcome {
                Ok(()) | Err(Error::Missing { .. }) => None,
                Err(error) => Some((location.clone(), error)),
            }
        });
        failures.extend(failed.collect::<Vec<_>>().await);
        for objects in remote.into_values() {
            failures.extend(remote::delete_many(&objects).await);
        }
        failures
    }

    /// Delete a directory with everything below it, and return each file or directory that remains with the
    /// reason. Local links are deleted, not followed; a missing directory is no error.
    ///
    /// # Errors
    /// The errors of [`FileIo::list`] for a remote directory.
    pub async fn delete_directory(&self, location: &str) -> Result<Vec<(String, Error)>> {
        let location = &*self.absolute(location);
        match self.directory(location)? {
            Target::Local(LocalLocation { path, .. }) => {
                let failures =
                    blocking(location, move || Ok(local::delete_directory(&path))).await?;
                let described = failures.into_iter().map(|(path, error)| {
                    let path = path.to_string_lossy().into_owned();
                    (path.clone(), Error::of_system(path, &error))
                });
                Ok(described.collect())
            }
            Target::Remote(_) => {
                let listed = self.list(location).await?;
                let locations: Vec<_> = listed.into_iter().map(|one| one.location).collect();
                Ok(self.delete_many(&locations).await)
            }
        }
    }

    /// List every file under a directory, at any depth and ordered by location; none if it does not exist.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`].
    pub async fn list(&self, prefix: &str) -> Result<Vec<Listed>> {
        let prefix = &*self.absolute(prefix);
        let mut found = match self.directory(without_slash(prefix))? {
            Target::Local(LocalLocation { path, scheme }) => {
                let scheme = scheme.to_owned();
                blocking(prefix, move || local::list(&path, &scheme)).await?
            }
            Target::Remote(remote) => remote.list().await?,
        };
        found.sort_by(|left, right| left.location.cmp(&right.location));
        Ok(found)
    }

    /// Return the names directly in a directory, ordered; none if it does not exist.
    ///
    /// # Errors
    /// The errors of [`FileIo::read`].
    pub async fn children(&self, location: &str) -> Result<Children> {
        let location = &*self.absolute(location);
        let mut found = match self.directory(without_slash(location))? {
            Target::Local(LocalLocation { path, .. }) => {
                blocking(location, move || local::children(&path)).await?
            }
            Target::Remote(remote) => remote.children().await?,
        };
        found.directories.sort();
        found.files.sort();
        Ok(found)
    }
}

/// Return a directory without the slashes at its end; the root of a file system keeps its own.
fn without_slash(directory: &str) -> &str {
    match directory.trim_end_matches('/') {
        root if root.is_empty() || root.ends_with(':') => directory,
        directory => directory,
    }
}

/// Run a blocking call on the threads for files.
pub(super) async fn blocking<T: Send + 'static>(
    location: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T> {
    let outcome = wait_for_file("wait for a file", move || Ok(work())).await?;
    outcome.map_err(|error| Error::of_system(location, &error))
}

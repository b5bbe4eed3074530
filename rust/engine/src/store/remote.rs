//! Objects of remote stores.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use object_store::path::Path;
use object_store::{
    Error as StoreError, GetOptions, GetRange, OBJECT_STORE_COALESCE_DEFAULT, ObjectStore,
    ObjectStoreExt, PutPayload, coalesce_ranges,
};

use super::create::create;
use super::location::{Children, Listed, RemoteLocation, Service};
use super::properties::Properties;
use super::s3::{BULK_DELETES, DELETE_ENABLED};
use super::stores;
use crate::error::{Error, Result};

/// A reply has room for this many bytes before they arrive, whatever length it states.
const MAX_ROOM_BYTES: u64 = 64 << 20;
/// Objects of one bulk delete.
const DELETED_AT_ONCE: usize = 1_000;
/// Concurrent deletes on servers without bulk deletes.
const CONCURRENCY: usize = 16;

/// An object with its store.
#[derive(Debug, Clone)]
pub(super) struct Remote<'a> {
    pub(super) text: &'a str,
    pub(super) location: RemoteLocation<'a>,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) properties: Properties<'a>,
}

/// The reason why a range was not read.
enum Unread {
    Failed(StoreError),
    /// The object ends before the range does.
    BeyondEnd(Range<u64>),
}

impl Remote<'_> {
    pub(super) async fn read(&self) -> Result<Bytes> {
        let whole = self.get(GetOptions::default()).await;
        whole.map_err(|error| self.failed(error)).map(|(bytes, _)| bytes)
    }

    /// Return the bytes of the object, and its size as the server states it.
    async fn get(&self, options: GetOptions) -> Result<(Bytes, u64), StoreError> {
        let found = self.store.get_opts(&self.location.key, options).await?;
        let (size, stated) = (found.meta.size, found.range.end.saturating_sub(found.range.start));
        Ok((collected(found.into_stream(), stated).await?, size))
    }

    /// Read ranges; near ranges share a request.
    pub(super) async fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let get = |range: Range<u64>| async move {
            let options = GetOptions { range: Some(range.clone().into()), ..GetOptions::default() };
            let (bytes, _) = self.get(options).await.map_err(Unread::Failed)?;
            // The object became smaller after its size was read.
            if is_whole(&bytes, &range) { Ok(bytes) } else { Err(Unread::BeyondEnd(range)) }
        };
        match coalesce_ranges(ranges, get, OBJECT_STORE_COALESCE_DEFAULT).await {
            Err(Unread::Failed(error)) if self.is_without_ranges(&error) => {
                let whole = self.read().await?;
                ranges.iter().map(|range| self.cut(&whole, range)).collect()
            }
            Err(Unread::Failed(error)) => Err(self.failed(error)),
            Err(Unread::BeyondEnd(range)) => Err(self.beyond_end(&range)),
            Ok(found) => Ok(found),
        }
    }

    /// Return the last bytes of an object, at most `length`, and its size.
    pub(super) async fn tail(&self, length: u64) -> Result<(Bytes, u64)> {
        // Azure has no suffix ranges.
        if self.location.service == Service::Azure {
            return self.tail_by_size(length).await;
        }
        let range = Some(GetRange::Suffix(length));
        let options = GetOptions { range, ..GetOptions::default() };
        match self.get(options).await {
            Ok(found) => Ok(found),
            Err(error @ StoreError::NotFound { .. }) => Err(self.failed(error)),
            Err(error) if self.is_without_ranges(&error) => {
                let whole = self.read().await?;
                let size = whole.len() as u64;
                Ok((whole, size))
            }
            // A suffix range of an empty object is an error.
            Err(error) => match self.size().await? {
                0 => Ok((Bytes::new(), 0)),
                _ => Err(self.failed(error)),
            },
        }
    }

    async fn tail_by_size(&self, length: u64) -> Result<(Bytes, u64)> {
        let size = self.size().await?;
        if size == 0 {
            return Ok((Bytes::new(), 0));
        }
        let range = size.saturating_sub(length)..size;
        let mut found = self.read_ranges(std::slice::from_ref(&range)).await?;
        Ok((found.pop().unwrap_or_default(), size))
    }

    pub(super) async fn size(&self) -> Result<u64> {
        let found = self.store.head(&self.location.key).await;
        Ok(found.map_err(|error| self.failed(error))?.size)
    }

    pub(super) async fn write(&self, data: Bytes, overwrite: bool) -> Result<()> {
        self.writable()?;
        let key = &self.location.key;
        if !overwrite {
            match create(self.store.as_ref(), key, &data).await {
                // A property says that the server lacks conditional writes; a lookup is the best check.
                Err(StoreError::NotImplemented { .. }) => match self.size().await {
                    Ok(_) => return Err(Error::Exists { location: self.text.to_owned() }),
                    Err(Error::Missing { .. }) => {}
                    Err(error) => return Err(error),
                },
                created => return created.map_err(|error| self.failed(error)),
            }
        }
        let put = self.store.put(key, PutPayload::from_bytes(data)).await;
        put.map(drop).map_err(|error| self.failed(error))
    }

    /// Store an object in one step, unless one exists.
    pub(super) async fn create(&self, data: Bytes) -> Result<()> {
        self.writable()?;
        match create(self.store.as_ref(), &self.location.key, &data).await {
            Err(StoreError::NotImplemented { .. }) => {
                let feature = format!("conditional writes, which {} needs", self.text);
                Err(FormatError::unsupported(feature).into())
            }
            created => created.map_err(|error| self.failed(error)),
        }
    }

    pub(super) async fn delete(&self) -> Result<()> {
        self.writable()?;
        if self.is_kept() {
            return Ok(());
        }
        // Stores report no error for a missing object.
        self.size().await?;
        match delete_many(std::slice::from_ref(self)).await.pop() {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Return whether a property keeps the object: its deletion then does nothing and is no error, as with Java's
    /// `S3FileIO`.
    fn is_kept(&self) -> bool {
        self.location.service == Service::S3
            && matches!(self.properties.flag(DELETE_ENABLED), Ok(Some(false)))
    }

    /// Return a client that sends a request for each object it deletes.
    fn deleting_singly(&self) -> Result<Arc<dyn ObjectStore>> {
        if self.location.service != Service::S3 {
            return Ok(Arc::clone(&self.store));
        }
        let mut properties = self.properties.0.clone();
        properties.insert(BULK_DELETES.to_owned(), "false".to_owned());
        stores::store(&self.location, &Arc::new(properties))
    }

    /// Return every object below a directory.
    pub(super) async fn list(&self) -> Result<Vec<Listed>> {
        if matches!(self.location.service, Service::Http { .. }) {
            return Err(FormatError::unsupported(format!("listing {}", self.text)).into());
        }
        let found = self.store.list(Some(&self.location.key)).map_ok(|object| Listed {
            location: format!("{}/{}", self.location.root, object.location),
            size: object.size,
            last_modified_ms: object.last_modified.timestamp_millis(),
        });
        found.try_collect().await.map_err(|error| self.failed(error))
    }

    /// Return the names directly below a directory.
    pub(super) async fn children(&self) -> Result<Children> {
        if matches!(self.location.service, Service::Http { .. }) {
            return Err(FormatError::unsupported(format!("listing {}", self.text)).into());
        }
        let key = &self.location.key;
        let found = self.store.list_with_delimiter(Some(key)).await;
        let found = found.map_err(|error| self.failed(error))?;
        let objects = found.objects.iter().map(|object| &object.location);
        Ok(Children {
            directories: found.common_prefixes.iter().filter_map(name_of).collect(),
            // A marker of the directory itself, which some clients store, has the directory's key.
            files: objects.filter(|path| *path != key).filter_map(name_of).collect(),
        })
    }

    pub(super) fn writable(&self) -> Result<()> {
        match self.location.service {
            Service::Http { .. } => {
                Err(FormatError::unsupported(format!("writing to {}", self.text)).into())
            }
            _ => Ok(()),
        }
    }

    /// Return an error of the store, without secrets.
    pub(super) fn failed(&self, error: StoreError) -> Error {
        let location = self.text.to_owned();
        match error {
            StoreError::NotFound { .. } => Error::Missing { location },
            StoreError::AlreadyExists { .. } => Error::Exists { location },
            error => Error::Storage { location, reason: self.properties.redact(error.to_string()) },
        }
    }

    /// Return whether an error is that of a web server without range requests.
    fn is_without_ranges(&self, error: &StoreError) -> bool {
        matches!(self.location.service, Service::Http { .. })
            && matches!(error, StoreError::NotSupported { .. })
    }

    fn cut(&self, whole: &Bytes, range: &Range<u64>) -> Result<Bytes> {
        let start = usize::try_from(range.start).ok();
        let end = usize::try_from(range.end).ok().filter(|end| *end <= whole.len());
        match (start, end) {
            (Some(start), Some(end)) if start <= end => Ok(whole.slice(start..end)),
            _ => Err(self.beyond_end(range)),
        }
    }

    fn beyond_end(&self, range: &Range<u64>) -> Error {
        let reason = format!("expected a range within the file, got {range:?}");
        Error::Storage { location: self.text.to_owned(), reason }
    }
}

/// Return the last segment of a key.
fn name_of(key: &Path) -> Option<String> {
    key.parts().next_back().map(|part| part.as_ref().to_owned())
}

/// Return the bytes of a reply, whose server states how many there are and may be wrong.
async fn collected(
    mut reply: impl Stream<Item = Result<Bytes, StoreError>> + Unpin,
    stated: u64,
) -> Result<Bytes, StoreError> {
    let first = reply.next().await.transpose()?.unwrap_or_default();
    let Some(second) = reply.next().await.transpose()? else { return Ok(first) };
    let mut bytes = Vec::with_capacity(stated.min(MAX_ROOM_BYTES) as usize);
    bytes.extend_from_slice(&first);
    bytes.extend_from_slice(&second);
    while let Some(more) = reply.next().await.transpose()? {
        bytes.extend_from_slice(&more);
    }
    Ok(bytes.into())
}

/// Delete objects of one store in bulk, and return each object that remains with the reason.
pub(super) async fn delete_many(objects: &[Remote<'_>]) -> Vec<(String, Error)> {
    let mut failures = Vec::new();
    for chunk in objects.chunks(DELETED_AT_ONCE) {
        let Some(first) = chunk.first() else { continue };
        if first.is_kept() {
            continue;
        }
        if let Err(error) = first.writable() {
            failures.extend(chunk.iter().map(|it| (it.text.to_owned(), error.clone())));
            continue;
        }
        let keys: Vec<object_store::Result<Path>> =
            chunk.iter().map(|object| Ok(object.location.key.clone())).collect();
        let deleted: Vec<_> =
            first.store.delete_stream(futures::stream::iter(keys).boxed()).collect().await;
        let failed = deleted.iter().any(|outcome| !is_gone(outcome));
        // The server has no bulk deletes, or does not report the failed objects.
        if failed || deleted.len() != chunk.len() {
            failures.extend(delete_singly(chunk).await);
        }
    }
    failures
}

async fn delete_singly(objects: &[Remote<'_>]) -> Vec<(String, Error)> {
    let store = match objects.first().map(Remote::deleting_singly) {
        Some(Ok(store)) => store,
        Some(Err(error)) => {
            return objects.iter().map(|it| (it.text.to_owned(), error.clone())).collect();
        }
        None => return Vec::new(),
    };
    let outcomes = futures::stream::iter(objects)
        .map(|object| (object, Arc::clone(&store)))
        .map(async |(object, store)| (object, store.delete(&object.location.key).await))
        .buffered(CONCURRENCY);
    let failures = outcomes.filter_map(|(object, outcome)| async move {
        match outcome {
            Ok(()) | Err(StoreError::NotFound { .. }) => None,
            Err(error) => Some((object.text.to_owned(), object.failed(error))),
        }
    });
    failures.collect().await
}

fn is_gone(outcome: &object_store::Result<Path>) -> bool {
    matches!(outcome, Ok(_) | Err(StoreError::NotFound { .. }))
}

fn is_whole(bytes: &Bytes, range: &Range<u64>) -> bool {
    u64::try_from(bytes.len()) == Ok(range.end.saturating_sub(range.start))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use futures::stream;
    use object_store::memory::InMemory;

    use super::*;
    use crate::store::location::Location;

    #[tokio::test]
    async fn reply_that_states_any_length_gets_no_room_for_it() {
        let parts = ["ab", "cd", "e"].map(|part| Ok(Bytes::from_static(part.as_bytes())));
        let bytes = collected(stream::iter(parts), u64::MAX).await.unwrap();
        assert_eq!(bytes, "abcde");
    }

    #[tokio::test]
    async fn ranges_of_an_object_that_shrank_are_an_error() {
        let text = "s3://bucket/key";
        let Location::Remote(location) = Location::parse(text).unwrap() else { panic!() };
        let store = Arc::new(InMemory::new());
        store.put(&location.key, PutPayload::from_static(&[7; 50])).await.unwrap();
        let properties = BTreeMap::new();
        let remote = Remote { text, location, store, properties: Properties(&properties) };
        let whole = remote.read_ranges(&[0..10, 40..50]).await.unwrap();
        assert_eq!(whole, [vec![7; 10], vec![7; 10]]);
        for second in [40..60, 50..60, 100..110] {
            let error = remote.read_ranges(&[0..10, second]).await.unwrap_err();
            assert!(error.to_string().contains("expected a range within the file"), "{error}");
        }
    }
}

//! Sequential uploads by blocking code, in parts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::task::JoinSet;

use super::properties::Properties;
use super::s3::PART_SIZE;
use crate::error::{Error, Result};
use crate::runtime::{block_on, runtime};

/// Bytes of a part. Stores accept at most 10,000 parts.
const PART_BYTES: u64 = 16 << 20;
/// The least bytes that stores accept for a part other than the last.
const LEAST_PART_BYTES: u64 = 5 << 20;
/// Concurrent parts of one upload.
const PARTS_AT_ONCE: usize = 4;

type Multipart = Box<dyn MultipartUpload>;

/// Dropped uploads, to abort where blocking is allowed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Abandoned(Arc<Mutex<Vec<Multipart>>>);

impl Abandoned {
    /// Abort the uploads; errors are ignored, since the store expires unfinished uploads.
    pub(crate) fn abort(&self) {
        let uploads = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for mut upload in uploads {
            drop(block_on(async { Ok(upload.abort().await) }));
        }
    }
}

/// An upload. The object is visible after [`Upload::finish`]; dropped before, it never is.
#[derive(Debug)]
pub(crate) struct Upload {
    location: String,
    properties: Arc<BTreeMap<String, String>>,
    store: Arc<dyn ObjectStore>,
    path: Path,
    part_bytes: usize,
    buffer: BytesMut,
    multipart: Option<Multipart>,
    parts: JoinSet<object_store::Result<()>>,
    written: u64,
    abandoned: Abandoned,
}

impl Upload {
    pub(super) fn new(
        properties: &Arc<BTreeMap<String, String>>,
        location: &str,
        (store, path): (Arc<dyn ObjectStore>, Path),
        abandoned: Abandoned,
    ) -> Result<Self> {
        let size =
            Properties(properties).number(PART_SIZE, LEAST_PART_BYTES)?.unwrap_or(PART_BYTES);
        Ok(Self {
            location: location.to_owned(),
            properties: Arc::clone(properties),
            store,
            path,
            part_bytes: usize::try_from(size).unwrap_or(usize::MAX),
            buffer: BytesMut::new(),
            multipart: None,
            parts: JoinSet::new(),
            written: 0,
            abandoned,
        })
    }

    /// Append bytes; blocks while the most concurrent parts are under way.
    ///
    /// # Errors
    /// [`Error::Storage`], of this part or an earlier one.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
        while self.buffer.len() >= self.part_bytes {
            let part = self.buffer.split_to(self.part_bytes).freeze();
            self.send(part)?;
        }
        Ok(())
    }

    /// Return the bytes appended so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Return the bytes in memory: the collected part and the parts under way.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.buffer.len() + self.parts.len() * self.part_bytes
    }

    /// Upload the remaining bytes and make the object visible.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub(crate) fn finish(&mut self) -> Result<()> {
        let rest = std::mem::take(&mut self.buffer).freeze();
        if self.multipart.is_none() {
            let put = block_on(async {
                Ok(self.store.put(&self.path, PutPayload::from_bytes(rest)).await)
            })?;
            return put.map(drop).map_err(|error| self.failed(&error));
        }
        if !rest.is_empty() {
            self.send(rest)?;
        }
        self.wait_until(0)?;
        let Some(mut multipart) = self.multipart.take() else { return Ok(()) };
        let Err(error) = block_on(async { Ok(multipart.complete().await) })? else { return Ok(()) };
        // The reply may be lost although the upload completed: no other writer uses this name.
        let facts = block_on(async { Ok(self.store.head(&self.path).await) })?;
        if facts.is_ok_and(|facts| facts.size == self.written) {
            return Ok(());
        }
        self.multipart = Some(multipart);
        Err(self.failed(&error))
    }

    fn send(&mut self, part: Bytes) -> Result<()> {
        self.wait_until(PARTS_AT_ONCE - 1)?;
        if self.multipart.is_none() {
            let made = block_on(async { Ok(self.store.put_multipart(&self.path).await) })?;
            self.multipart = Some(made.map_err(|error| self.failed(&error))?);
        }
        let Some(multipart) = &mut self.multipart else { return Ok(()) };
        let sent = multipart.put_part(PutPayload::from_bytes(part));
        self.parts.spawn_on(sent, runtime()?.handle());
        Ok(())
    }

    /// Wait until at most `most` parts are under way.
    fn wait_until(&mut self, most: usize) -> Result<()> {
        while self.parts.len() > most {
            let parts = &mut self.parts;
            let outcome = block_on(async { Ok(parts.join_next().await) })?;
            match outcome {
                Some(Ok(sent)) => sent.map_err(|error| self.failed(&error))?,
                Some(Err(error)) => return Err(Error::internal("upload a part", error)),
                None => break,
            }
        }
        Ok(())
    }

    fn failed(&self, error: &object_store::Error) -> Error {
        let reason = Properties(&self.properties).redact(error.to_string());
        Error::Storage { location: self.location.clone(), reason }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // Aborting blocks, which a drop must not.
        if let Some(multipart) = self.multipart.take() {
            let mut abandoned = self.abandoned.0.lock().unwrap_or_else(PoisonError::into_inner);
            abandoned.push(multipart);
        }
    }
}

//! Bytes of manifests that are requested before their decoding is decided.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures::StreamExt;
use icefloe_format::manifest::ManifestFile;

use crate::error::Result;
use crate::store::FileIo;

/// The longest sum of manifests that are fetched early, in bytes: all of them wait in memory.
const EARLY_BYTES: u64 = 32 << 20;

/// Bytes of remote manifests by location, and the errors of fetching them.
#[derive(Debug, Default)]
pub(super) struct EarlyBytes(Mutex<HashMap<String, Result<Bytes>>>);

impl EarlyBytes {
    /// Fetch the first `most` remote manifests at once, except manifests of unknown length and past
    /// [`EARLY_BYTES`].
    pub(super) async fn fetch(io: &FileIo, manifests: &[ManifestFile], most: usize) -> Self {
        let is_remote = |it: &&ManifestFile| matches!(io.local_path(&it.path), Ok(None));
        let mut total = 0_u64;
        let fits = |it: &&ManifestFile| {
            total = total.saturating_add(it.stated_length().unwrap_or(u64::MAX));
            total <= EARLY_BYTES
        };
        let early = manifests.iter().filter(is_remote).take(most).take_while(fits);
        let found = futures::stream::iter(early)
            .map(|manifest| async { (manifest.path.clone(), io.read(&manifest.path).await) })
            .buffer_unordered(most.max(1));
        Self(Mutex::new(found.collect().await))
    }

    /// Take the outcome of fetching a manifest; `None` where the manifest was not requested.
    pub(super) fn take(&self, location: &str) -> Option<Result<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(location)
    }
}

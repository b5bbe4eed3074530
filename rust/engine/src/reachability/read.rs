//! Reading the manifest lists and manifests of snapshots, each once and several at once.

use std::collections::HashSet;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use icefloe_format::manifest::{FileLocations, decode_file_locations, decode_listed_manifests};

use super::identity::{Identity, Prefixes};
use crate::error::{Error, Result};
use crate::manifests::decode_in_runs;
use crate::runtime::default_threads;
use crate::runtime::executor::compute;
use crate::store::FileIo;

/// Files that are read at once.
const IN_FLIGHT: usize = 16;

/// The files of snapshots that table metadata name.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// Locations of manifest lists.
    pub lists: Vec<String>,
    /// Locations of manifests that snapshots of format version 1 name without a manifest list.
    pub manifests: Vec<String>,
}

/// A manifest as a manifest list names it.
#[derive(Debug, Clone)]
pub(crate) struct ListedManifest {
    pub(crate) identity: Identity,
    pub(crate) path: String,
    /// Size in bytes as the list states it; `None` for a manifest without a list.
    pub(crate) length: Option<i64>,
    /// `None` for a manifest without a list.
    pub(crate) spec_id: Option<i32>,
}

/// Read manifest lists, each spelling of one file once, in any order. An error comes with the location.
pub(crate) fn read_lists(
    io: &FileIo,
    prefixes: &Arc<Prefixes>,
    lists: Vec<String>,
) -> impl Stream<Item = Result<Vec<ListedManifest>, (String, Error)>> + use<> {
    let distinct = distinct(io, prefixes, lists);
    let (io, prefixes) = (io.clone(), Arc::clone(prefixes));
    futures::stream::iter(distinct)
        .map(move |list| {
            let (io, prefixes) = (io.clone(), Arc::clone(&prefixes));
            async move { read_list(io, prefixes, &list).await.map_err(|error| (list, error)) }
        })
        .buffer_unordered(IN_FLIGHT)
}

/// Return absolute locations, one for each file however it is spelled.
pub(crate) fn distinct(io: &FileIo, prefixes: &Prefixes, locations: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let absolute = locations.into_iter().map(|location| io.absolute(&location).into_owned());
    absolute.filter(|location| seen.insert(prefixes.identity(location))).collect()
}

async fn read_list(io: FileIo, prefixes: Arc<Prefixes>, list: &str) -> Result<Vec<ListedManifest>> {
    let bytes = io.read(list).await?;
    let location = list.to_owned();
    compute("decode a manifest list", move || {
        let found = decode_listed_manifests(&bytes).map_err(|it| Error::in_file(&location, it))?;
        let columns = found.paths.iter().zip(found.lengths.values()).zip(found.spec_ids.values());
        let rows = columns.filter_map(|((path, length), spec_id)| {
            let path = io.absolute(path?).into_owned();
            let identity = prefixes.identity(&path);
            Some(ListedManifest { identity, path, length: Some(*length), spec_id: Some(*spec_id) })
        });
        Ok(rows.collect())
    })
    .await
}

/// Return the manifests that metadata name without a manifest list.
pub(crate) fn without_list(
    io: &FileIo,
    prefixes: &Prefixes,
    manifests: Vec<String>,
) -> Vec<ListedManifest> {
    let manifests = manifests.into_iter().map(|path| {
        let path = io.absolute(&path).into_owned();
        let identity = prefixes.identity(&path);
        ListedManifest { identity, path, length: None, spec_id: None }
    });
    manifests.collect()
}

/// Apply `then` to the entries of manifests, part by part and in any order. An error comes with the location.
pub(crate) fn read_manifests<T: Send + 'static>(
    io: &FileIo,
    manifests: Vec<String>,
    then: impl Fn(FileLocations) -> T + Clone + Send + Sync + 'static,
) -> impl Stream<Item = Result<Vec<T>, (String, Error)>> {
    let most = default_threads().div_ceil(manifests.len().max(1));
    let io = io.clone();
    futures::stream::iter(manifests)
        .map(move |manifest| {
            let (io, then) = (io.clone(), then.clone());
            async move {
                let read = read_manifest(io, manifest.clone(), most, then);
                read.await.map_err(|error| (manifest, error))
            }
        })
        .buffer_unordered(IN_FLIGHT)
}

async fn read_manifest<T: Send + 'static>(
    io: FileIo,
    manifest: String,
    most: usize,
    then: impl Fn(FileLocations) -> T + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let bytes = io.read(&manifest).await?;
    decode_in_runs(bytes, most, move |bytes, run| {
        let found = decode_file_locations(bytes, run);
        found.map(&then).map_err(|error| Error::in_file(&manifest, error))
    })
    .await
}

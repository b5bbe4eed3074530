//! The files of snapshots, without the files of the snapshots that stay.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder, UInt8Builder};
use arrow_array::{Array, ArrayRef, RecordBatch};
use futures::{StreamExt, pin_mut};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{DELETED, FileLocations};

use super::identity::{Identity, Prefixes};
use super::read::{ListedManifest, Roots, distinct, read_lists, read_manifests, without_list};
use crate::error::{Error, Result};
use crate::store::FileIo;

/// Kinds of files, as numbers of the column `kind`: contents of entries, then the files that list entries.
const DATA: u8 = 0;
const EQUALITY_DELETES: u8 = 2;
const MANIFEST: u8 = 3;
const MANIFEST_LIST: u8 = 4;

/// The files of snapshots that no other snapshot refers to.
#[derive(Debug)]
pub struct FilesOfSnapshots {
    /// One row for each file: `kind` (0 data, 1 position deletes, 2 equality deletes, 3 manifest, 4 manifest list),
    /// `location` as stored, `size` in bytes, null if no metadata record it.
    pub files: RecordBatch,
    /// Locations whose path a kept snapshot refers to below another scheme or authority. They are not among the files.
    pub ambiguous: Vec<String>,
    /// Manifest lists and manifests that could not be read, whose files are missing here.
    pub unread: Vec<(String, Error)>,
    /// Partition specs of the manifests of the kept snapshots.
    pub kept_spec_ids: Vec<i32>,
}

/// Find the files of snapshots that no kept snapshot refers to: manifest lists, manifests, and files that are live in such a
/// manifest and live in no manifest of a kept snapshot.
///
/// With `with_deleted`, files of deleted entries of removed manifests are found as well, for a table that is dropped.
///
/// Manifests are read once. Those of kept snapshots are read only while a file may still be found in them.
///
/// # Errors
/// The error of any manifest list or manifest of the kept snapshots that cannot be read: nothing is known to be unused then.
pub async fn files_of_snapshots(
    io: &FileIo,
    removed: Roots,
    kept: Roots,
    with_deleted: bool,
) -> Result<FilesOfSnapshots> {
    let prefixes = Arc::new(Prefixes::default());
    let kept_lists: HashSet<_> = paths(&prefixes, &distinct(io, &prefixes, kept.lists.clone()));
    let kept_manifests = manifests_of_kept(io, &prefixes, kept).await?;
    let mut found = Found::new(Arc::clone(&prefixes));
    let lists: Vec<_> = distinct(io, &prefixes, removed.lists)
        .into_iter()
        .filter(|list| !kept_lists.contains(&prefixes.identity(list).path()))
        .collect();
    let without_list = without_list(io, &prefixes, removed.manifests);
    let mut manifests = Vec::new();
    let mut seen: HashSet<u128> = kept_manifests.keys().map(|it| it.path()).collect();
    let mut unused = |manifest: ListedManifest| {
        if seen.insert(manifest.identity.path()) {
            manifests.push(manifest);
        }
    };
    without_list.into_iter().for_each(&mut unused);
    let read = read_lists(io, &prefixes, lists.clone());
    pin_mut!(read);
    while let Some(list) = read.next().await {
        match list {
            Ok(rows) => rows.into_iter().for_each(&mut unused),
            Err(error) => found.unread.push(error),
        }
    }
    found.read_removed(io, &manifests, with_deleted).await;
    found.drop_kept(io, &kept_manifests).await?;
    let spec_ids: HashSet<_> = kept_manifests.values().filter_map(|it| it.spec_id).collect();
    let mut spec_ids: Vec<_> = spec_ids.into_iter().collect();
    spec_ids.sort_unstable();
    found.finish(&manifests, &lists, spec_ids)
}

fn paths(prefixes: &Prefixes, locations: &[String]) -> HashSet<u128> {
    prefixes.identities(locations.iter().map(String::as_str)).map(Identity::path).collect()
}

async fn manifests_of_kept(
    io: &FileIo,
    prefixes: &Arc<Prefixes>,
    kept: Roots,
) -> Result<HashMap<Identity, ListedManifest>> {
    let mut manifests = HashMap::new();
    for manifest in without_list(io, prefixes, kept.manifests) {
        manifests.insert(manifest.identity, manifest);
    }
    let lists = read_lists(io, prefixes, kept.lists);
    pin_mut!(lists);
    while let Some(found) = lists.next().await {
        for manifest in found.map_err(|(_, error)| error)? {
            manifests.insert(manifest.identity, manifest);
        }
    }
    Ok(manifests)
}

/// Files that removed snapshots refer to.
struct Found {
    prefixes: Arc<Prefixes>,
    /// Rows by the path of their file; a row of `None` is of a file that a kept snapshot refers to.
    rows: HashMap<u128, usize>,
    files: Vec<Option<FoundFile>>,
    ambiguous: Vec<String>,
    unread: Vec<(String, Error)>,
}

struct FoundFile {
    identity: Identity,
    kind: u8,
    location: String,
    size: i64,
}

impl Found {
    fn new(prefixes: Arc<Prefixes>) -> Self {
        let (rows, files, ambiguous, unread) = (HashMap::new(), vec![], vec![], vec![]);
        Self { prefixes, rows, files, ambiguous, unread }
    }

    /// Add the files that are live in manifests, or all that they name; a manifest that cannot be read is recorded.
    async fn read_removed(
        &mut self,
        io: &FileIo,
        manifests: &[ListedManifest],
        with_deleted: bool,
    ) {
        let paths = manifests.iter().map(|manifest| manifest.path.clone()).collect();
        let (prefixes, own_io) = (Arc::clone(&self.prefixes), io.clone());
        let read = read_manifests(io, paths, move |files| {
            files_of(&own_io, &prefixes, &files, with_deleted)
        });
        pin_mut!(read);
        while let Some(parts) = read.next().await {
            match parts {
                Ok(parts) => parts.into_iter().flatten().for_each(|file| self.add(file)),
                Err(error) => self.unread.push(error),
            }
        }
    }

    fn add(&mut self, file: FoundFile) {
        let row = self.files.len();
        if *self.rows.entry(file.identity.path()).or_insert(row) == row {
            self.files.push(Some(file));
        }
    }

    /// Drop the files that are live in a manifest of a kept snapshot.
    async fn drop_kept(
        &mut self,
        io: &FileIo,
        manifests: &HashMap<Identity, ListedManifest>,
    ) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let paths = manifests.values().map(|manifest| manifest.path.clone()).collect();
        let (prefixes, own_io) = (Arc::clone(&self.prefixes), io.clone());
        let read = read_manifests(io, paths, move |files| {
            identities_of(&own_io, &prefixes, &files, &rows_of(&files, false))
        });
        pin_mut!(read);
        while let Some(parts) = read.next().await {
            for identity in parts.map_err(|(_, error)| error)?.into_iter().flatten() {
                self.drop_one(identity);
            }
            if self.rows.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn drop_one(&mut self, identity: Identity) {
        let row = self.rows.remove(&identity.path());
        let file = row.and_then(|row| self.files.get_mut(row)).and_then(Option::take);
        if let Some(file) = file.filter(|file| file.identity != identity) {
            self.ambiguous.push(file.location);
        }
    }

    fn finish(
        self,
        manifests: &[ListedManifest],
        lists: &[String],
        kept_spec_ids: Vec<i32>,
    ) -> Result<FilesOfSnapshots> {
        let (mut kinds, mut sizes) = (UInt8Builder::new(), Int64Builder::new());
        let mut locations = StringBuilder::new();
        let mut append = |kind: u8, location: &str, size: Option<i64>| {
            kinds.append_value(kind);
            locations.append_value(location);
            sizes.append_option(size);
        };
        for file in self.files.iter().flatten() {
            append(file.kind, &file.location, Some(file.size));
        }
        for manifest in manifests {
            append(MANIFEST, &manifest.path, manifest.length);
        }
        for list in lists {
            append(MANIFEST_LIST, list, None);
        }
        let columns: [(&str, ArrayRef, bool); 3] = [
            ("kind", Arc::new(kinds.finish()), false),
            ("location", Arc::new(locations.finish()), false),
            ("size", Arc::new(sizes.finish()), true),
        ];
        let files = RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|error| FormatError::invalid("files of snapshots", error.to_string()))?;
        let (ambiguous, unread) = (self.ambiguous, self.unread);
        Ok(FilesOfSnapshots { files, ambiguous, unread, kept_spec_ids })
    }
}

/// Return the rows of live entries, or of all entries.
fn rows_of(files: &FileLocations, with_deleted: bool) -> Vec<usize> {
    let is_found = |row: &usize| with_deleted || files.statuses.value(*row) != DELETED;
    (0..files.paths.len()).filter(is_found).collect()
}

/// Return the identities of files of a part of a manifest.
fn identities_of(
    io: &FileIo,
    prefixes: &Prefixes,
    files: &FileLocations,
    rows: &[usize],
) -> Vec<Identity> {
    let locations: Vec<_> = rows.iter().map(|row| io.absolute(files.paths.value(*row))).collect();
    prefixes.identities(locations.iter().map(|location| &**location)).collect()
}

/// Return the files of a part of a manifest.
fn files_of(
    io: &FileIo,
    prefixes: &Prefixes,
    files: &FileLocations,
    with_deleted: bool,
) -> Vec<FoundFile> {
    let rows = rows_of(files, with_deleted);
    let identities = identities_of(io, prefixes, files, &rows);
    let found = rows.into_iter().zip(identities).map(|(row, identity)| {
        let content = if files.contents.is_null(row) { 0 } else { files.contents.value(row) };
        let kind = u8::try_from(content).unwrap_or(DATA).min(EQUALITY_DELETES);
        let location = io.absolute(files.paths.value(row)).into_owned();
        FoundFile { identity, kind, location, size: files.sizes.value(row) }
    });
    found.collect()
}

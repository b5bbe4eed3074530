//! The set of files that snapshots refer to.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, StringArray};
use futures::{StreamExt, pin_mut};

use super::identity::{Identity, Prefixes};
use super::read::{Roots, read_lists, read_manifests, without_list};
use super::spelling::Prefix;
use crate::error::Result;
use crate::store::FileIo;

/// Files with repetitions that are collected before repetitions are removed.
const MOST_REPEATED: usize = 1 << 16;

/// The files that snapshots refer to, 16 bytes each: manifest lists, manifests, and all files that manifests name.
#[derive(Debug)]
pub struct ReachableFiles {
    /// Sorted, each once.
    identities: Vec<Identity>,
    prefixes: Arc<Prefixes>,
}

/// Names of schemes and authorities that are to be taken as equal, each mapped to the name that stands for it.
#[derive(Debug, Clone, Default)]
pub struct EqualNames {
    /// Schemes, in lower case.
    pub schemes: HashMap<String, String>,
    /// Authorities, in lower case.
    pub authorities: HashMap<String, String>,
}

/// A location compared with a [`ReachableFiles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// No snapshot refers to a file of this path.
    Unreachable,
    /// A snapshot refers to the file.
    Reachable,
    /// A snapshot refers to a file of the same path below another scheme or authority.
    OtherPrefix,
}

impl ReachableFiles {
    /// Read the files of snapshots, and add `others` that the metadata name.
    ///
    /// Deleted entries of manifests count as well: a file is kept until no manifest names it.
    ///
    /// # Errors
    /// The error of any manifest list or manifest that cannot be read.
    pub async fn read(io: &FileIo, roots: Roots, others: Vec<String>) -> Result<Self> {
        let prefixes = Arc::new(Prefixes::default());
        let absolute = |location: &String| io.absolute(location).into_owned();
        let named: Vec<_> = others.iter().chain(&roots.lists).map(absolute).collect();
        let mut identities: Vec<_> =
            prefixes.identities(named.iter().map(String::as_str)).collect();
        let manifests = distinct_manifests(io, &prefixes, roots).await?;
        identities.extend(manifests.keys());
        let (of_files, io_of_files) = (Arc::clone(&prefixes), io.clone());
        let found = read_manifests(io, manifests.into_values().collect(), move |files| {
            let paths = files.paths.iter().flatten().map(|path| io_of_files.absolute(path));
            let paths: Vec<_> = paths.collect();
            of_files.identities(paths.iter().map(|path| &**path)).collect::<Vec<_>>()
        });
        pin_mut!(found);
        let mut limit = MOST_REPEATED;
        while let Some(parts) = found.next().await {
            identities.extend(parts.map_err(|(_, error)| error)?.into_iter().flatten());
            // Most files of a table are in many manifests of its history.
            if identities.len() > limit {
                sort_distinct(&mut identities);
                limit = MOST_REPEATED.max(identities.len() * 2);
            }
        }
        sort_distinct(&mut identities);
        identities.shrink_to_fit();
        Ok(Self { identities, prefixes })
    }

    /// Return the number of files.
    pub fn len(&self) -> usize {
        self.identities.len()
    }

    /// Return whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.identities.is_empty()
    }

    /// Compare locations; a null is unreachable.
    pub fn compare(&self, locations: &StringArray, equal: &EqualNames) -> Vec<Match> {
        let listed = Prefixes::default();
        let identities = listed.identities((0..locations.len()).map(|row| locations.value(row)));
        let mut pairs: HashMap<(u16, u16), bool> = HashMap::new();
        let mut is_equal = |listed_prefix: u16, found: u16| {
            let pair = (listed_prefix, found);
            *pairs.entry(pair).or_insert_with(|| {
                let (one, other) = (listed.get(pair.0), self.prefixes.get(pair.1));
                // A prefix without a number of its own cannot be compared: the file is kept.
                one.zip(other).is_none_or(|(one, other)| equal.are_equal(&one, &other))
            })
        };
        let matches = identities.enumerate().map(|(row, identity)| {
            if locations.is_null(row) {
                return Match::Unreachable;
            }
            let mut found = Match::Unreachable;
            for reachable in self.of_path(identity.path()) {
                if is_equal(identity.prefix(), reachable.prefix()) {
                    return Match::Reachable;
                }
                found = Match::OtherPrefix;
            }
            found
        });
        matches.collect()
    }

    /// Return the prefixes below which snapshots refer to the path of a location, sorted.
    pub fn prefixes_of(&self, location: &str) -> Vec<String> {
        let path = Prefixes::default().identity(location).path();
        let found = self.of_path(path).filter_map(|it| self.prefixes.get(it.prefix()));
        let mut found: Vec<_> = found.map(|prefix| prefix.text()).collect();
        found.sort();
        found
    }

    fn of_path(&self, path: u128) -> impl Iterator<Item = Identity> {
        let first = self.identities.partition_point(|it| it.path() < path);
        let rest = self.identities.get(first..).unwrap_or_default();
        rest.iter().copied().take_while(move |it| it.path() == path)
    }
}

impl EqualNames {
    /// Return whether files below two prefixes are the same. A reachable location without an authority fits every
    /// authority.
    fn are_equal(&self, listed: &Prefix, reachable: &Prefix) -> bool {
        let scheme = |prefix: &Prefix| equal_name(&self.schemes, &prefix.scheme);
        let authority = |prefix: &Prefix| equal_name(&self.authorities, &prefix.authority);
        scheme(listed) == scheme(reachable)
            && (reachable.authority.is_empty() || authority(listed) == authority(reachable))
    }
}

/// Return the path of each manifest of snapshots, once for all lists that name it.
async fn distinct_manifests(
    io: &FileIo,
    prefixes: &Arc<Prefixes>,
    roots: Roots,
) -> Result<HashMap<Identity, String>> {
    let mut manifests = HashMap::new();
    for manifest in without_list(io, prefixes, roots.manifests) {
        manifests.entry(manifest.identity).or_insert(manifest.path);
    }
    let lists = read_lists(io, prefixes, roots.lists);
    pin_mut!(lists);
    while let Some(found) = lists.next().await {
        for manifest in found.map_err(|(_, error)| error)? {
            manifests.entry(manifest.identity).or_insert(manifest.path);
        }
    }
    Ok(manifests)
}

fn equal_name(names: &HashMap<String, String>, name: &str) -> String {
    names.get(name).cloned().unwrap_or_else(|| name.to_owned())
}

fn sort_distinct(identities: &mut Vec<Identity>) {
    identities.sort_unstable();
    identities.dedup();
}

//! A cache of pruned manifest entries, shared by all plans of the process.
//!
//! Manifests never change, so the entries that pass a filter never change either. The key of a part is everything that
//! it depends on: storage and its properties, the manifest with its length (for a local file, its current size and time
//! of modification), table, filter and statistics. Small manifests share the columns of a bundle, whose memory is
//! released with the last of them.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use icefloe_format::Error as FormatError;
use icefloe_format::manifest::{ManifestFile, Stats};

use super::bundle::{Part, PlannedBundle};
use super::cached_parts::{PartKey, Parts, PlanInputs, weight};
use crate::error::Result;
use crate::runtime::PerProcess;
use crate::store::{FileIo, facts};

const MIB: u64 = 1 << 20;
/// One part may take half of the budget, since a table may have most of its files in one manifest.
const LARGEST_SHARE: u64 = 2;

static CACHE: PerProcess<Mutex<Parts>> = PerProcess::new();

/// Storage properties of the cache.
#[derive(Debug, Clone, Copy)]
struct Settings {
    total_bytes: u64,
    content_length: u64,
    expiration: Option<Duration>,
}

/// Empty the cache of this process. Running plans keep the entries that they use.
///
/// # Errors
/// [`crate::Error::Internal`] where the cache of this process cannot be reached.
pub fn clear_cache() -> Result<()> {
    let parts = CACHE.get(|| Ok(Mutex::default()))?;
    let cleared = std::mem::take(&mut *parts.lock().unwrap_or_else(PoisonError::into_inner));
    // Freed after the lock is released, so that other plans do not wait.
    drop(cleared);
    Ok(())
}

impl Settings {
    /// Return the limits of the cache; `None` if it is disabled.
    fn of(properties: &BTreeMap<String, String>) -> Result<Option<Self>> {
        let number = |name: &str, default: u64| match properties.get(name) {
            None => Ok(default),
            Some(text) => {
                text.trim().parse::<i64>().map(|value| value.max(0).unsigned_abs()).map_err(|_| {
                    FormatError::invalid(name, format!("expected a whole number, got {text:?}"))
                })
            }
        };
        let enabled = match properties.get("io.manifest.cache-enabled") {
            None => true,
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if text.eq_ignore_ascii_case("false") => false,
            Some(text) => {
                let reason = format!("expected true or false, got {text:?}");
                return Err(FormatError::invalid("io.manifest.cache-enabled", reason).into());
            }
        };
        let expiration = number("io.manifest.cache.expiration-interval-ms", 600_000)?;
        let settings = Self {
            total_bytes: number("io.manifest.cache.max-total-bytes", 64 * MIB)?,
            content_length: number("io.manifest.cache.max-content-length", 8 * MIB)?,
            expiration: (expiration > 0).then(|| Duration::from_millis(expiration)),
        };
        Ok(Some(settings).filter(|settings| enabled && settings.total_bytes > 0))
    }
}

/// The cache as one plan uses it.
#[derive(Debug, Clone)]
pub(super) struct PlanCache {
    settings: Settings,
    inputs: Arc<PlanInputs>,
    hash: u64,
    is_known: bool,
}

impl PlanCache {
    /// Return the cache for one plan; `None` if storage properties disable it.
    ///
    /// # Errors
    /// `InvalidArgument` naming a property.
    pub(super) fn new(
        io: &FileIo,
        context: &Arc<str>,
        (filter, added_by): (&str, Option<i64>),
    ) -> Result<Option<Self>> {
        let Some(settings) = Settings::of(io.properties())? else { return Ok(None) };
        let inputs = PlanInputs {
            properties: io.properties().clone(),
            context: Arc::clone(context),
            filter: filter.to_owned(),
            added_by,
        };
        // Equal inputs share one value, so that keys compare quickly and store it once.
        let known = with_parts(|parts| parts.inputs(&inputs));
        let known = known.flatten();
        let is_known = known.is_some();
        let inputs = known.unwrap_or_else(|| Arc::new(inputs));
        let mut hasher = std::hash::DefaultHasher::new();
        inputs.hash(&mut hasher);
        Ok(Some(Self { settings, inputs, hash: hasher.finish(), is_known }))
    }

    /// Return the key of a manifest's part; `None` for a manifest that is not cached.
    pub(super) fn key(
        &self,
        io: &FileIo,
        manifest: &ManifestFile,
        stats: &Stats,
    ) -> Option<PartKey> {
        let (length, modified) = match io.local_path(&manifest.path).ok()? {
            // The size and time of modification show whether a local file was replaced.
            Some(path) => {
                let found = facts(&path).ok()?;
                (found.len(), Some(found.modified().ok()?))
            }
            None => (manifest.stated_length()?, None),
        };
        (length <= self.settings.content_length).then(|| PartKey {
            inputs: Arc::clone(&self.inputs),
            hash: self.hash,
            manifest: manifest.clone(),
            length,
            modified,
            stats: stats.clone(),
        })
    }

    /// Return whether an earlier plan cached any part for the same inputs.
    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Return the bytes of the largest bundle that is cached.
    pub(super) fn largest(&self) -> u64 {
        self.settings.total_bytes / LARGEST_SHARE
    }

    /// Return a cached part.
    pub(super) fn get(&self, key: &PartKey) -> Option<Part> {
        let found = with_parts(|parts| {
            parts.expire(self.settings.expiration);
            parts.touch(key)
        });
        found.flatten()
    }

    /// Cache the parts of a compact bundle that have a key, within the budget.
    pub(super) fn keep(
        &self,
        bundle: PlannedBundle,
        keys: Vec<Option<PartKey>>,
    ) -> Arc<PlannedBundle> {
        let bundle = Arc::new(bundle);
        let own = keys.iter().flatten().map(PartKey::weight);
        let weight = own.fold(weight(&bundle), u64::saturating_add);
        if weight.saturating_add(self.inputs.weight()) <= self.largest() {
            with_parts(|parts| {
                parts.insert(keys, &bundle, weight);
                parts.shrink(self.settings.total_bytes);
            });
        }
        bundle
    }
}

/// Run a function on the cached parts of the process; `None` if they cannot be reached.
fn with_parts<T>(work: impl FnOnce(&mut Parts) -> T) -> Option<T> {
    let parts = CACHE.get(|| Ok(Mutex::default())).ok()?;
    Some(work(&mut parts.lock().unwrap_or_else(PoisonError::into_inner)))
}

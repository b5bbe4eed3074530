//! What planning found in manifests, kept for the next plan of the process.
//!
//! Manifests never change, so what a filter leaves of one is known once it has been decoded. A part is found
//! again by everything that it depends on: storage and its properties, the manifest with its length (of a
//! local file the size and time of modification as they are now), table, filter and statistics. Small manifests
//! share the columns of a bundle, which takes its room until the last of them is gone.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use arrow_array::Array;
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::Stats;

use super::bundle::{Part, PlannedBundle};
use super::manifests::ManifestToRead;
use crate::error::Result;
use crate::runtime::PerProcess;
use crate::store::FileIo;

const MIB: u64 = 1 << 20;
/// One part may take half of the budget: a table may have most of its files in one manifest.
const LARGEST_SHARE: u64 = 2;

static CACHE: PerProcess<Mutex<Parts>> = PerProcess::new();

/// The settings among storage properties.
#[derive(Debug, Clone, Copy)]
struct Settings {
    total_bytes: u64,
    content_length: u64,
    expiration: Option<Duration>,
}

impl Settings {
    /// `None` where the cache is disabled.
    fn of(properties: &BTreeMap<String, String>) -> Result<Option<Self>> {
        let number = |name: &str, default: u64| match properties.get(name) {
            None => Ok(default),
            Some(text) => {
                text.trim().parse::<i64>().map(|value| value.max(0).unsigned_abs()).map_err(|_| {
                    FormatError::invalid(name, format!("{text:?} is not a whole number"))
                })
            }
        };
        let enabled = match properties.get("io.manifest.cache-enabled") {
            None => true,
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if text.eq_ignore_ascii_case("false") => false,
            Some(text) => {
                let reason = format!("{text:?} is neither true nor false");
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

/// What the parts of one plan have in common.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    properties: BTreeMap<String, String>,
    context: Arc<str>,
    filter: String,
    added_by: Option<i64>,
}

/// How one plan uses the cache.
#[derive(Debug, Clone)]
pub(super) struct PlanCache {
    settings: Settings,
    question: Arc<Question>,
    hash: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartKey {
    question: Arc<Question>,
    hash: u64,
    manifest: ManifestToRead,
    length: u64,
    modified: Option<SystemTime>,
    stats: Stats,
}

impl Hash for PartKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        self.manifest.location.hash(state);
    }
}

impl PlanCache {
    /// `None` where storage properties disable it.
    ///
    /// # Errors
    /// `InvalidArgument` naming a property.
    pub(super) fn new(
        io: &FileIo,
        context: &Arc<str>,
        (filter, added_by): (&str, Option<i64>),
    ) -> Result<Option<Self>> {
        let Some(settings) = Settings::of(io.properties())? else { return Ok(None) };
        let question = Question {
            properties: io.properties().clone(),
            context: Arc::clone(context),
            filter: filter.to_owned(),
            added_by,
        };
        let mut hasher = std::hash::DefaultHasher::new();
        (&question.properties, &question.context, &question.filter, added_by).hash(&mut hasher);
        Ok(Some(Self { settings, question: Arc::new(question), hash: hasher.finish() }))
    }

    /// What a manifest's part is found by; `None` for a manifest that is not to be kept.
    pub(super) fn key(
        &self,
        io: &FileIo,
        manifest: &ManifestToRead,
        stats: &Stats,
    ) -> Option<PartKey> {
        let (length, modified) = match io.local_path(&manifest.location).ok()? {
            // It costs nothing to see that a local file is another one by now.
            Some(path) => {
                let found = std::fs::metadata(path).ok()?;
                (found.len(), Some(found.modified().ok()?))
            }
            None => (manifest.length?, None),
        };
        (length <= self.settings.content_length).then(|| PartKey {
            question: Arc::clone(&self.question),
            hash: self.hash,
            manifest: manifest.clone(),
            length,
            modified,
            stats: stats.clone(),
        })
    }

    /// Bytes of the largest bundle that is kept.
    pub(super) fn largest(&self) -> u64 {
        self.settings.total_bytes / LARGEST_SHARE
    }

    /// A part that is kept.
    pub(super) fn get(&self, key: &PartKey) -> Option<Part> {
        let parts = CACHE.get(|| Ok(Mutex::default())).ok()?;
        let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.expire(self.settings.expiration);
        parts.touch(key)
    }

    /// Keep the parts of a compact bundle that have a key, and no more than the budget of all.
    pub(super) fn keep(
        &self,
        bundle: PlannedBundle,
        keys: Vec<Option<PartKey>>,
    ) -> Arc<PlannedBundle> {
        let bundle = Arc::new(bundle);
        let weight = weight(&bundle, keys.iter().flatten());
        if weight <= self.largest()
            && let Ok(parts) = CACHE.get(|| Ok(Mutex::default()))
        {
            let mut parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
            parts.insert(keys, &bundle, weight);
            parts.shrink(self.settings.total_bytes);
        }
        bundle
    }
}

fn weight<'a>(bundle: &PlannedBundle, keys: impl Iterator<Item = &'a PartKey>) -> u64 {
    // Of what is as long as it must be, the length of the values is the memory.
    let bytes = |array: &dyn Array| array.to_data().get_slice_memory_size().unwrap_or(usize::MAX);
    let columns = bundle.entries.columns().iter().map(|column| bytes(column.as_ref()));
    let arrays = columns.chain([bytes(&bundle.residual), bytes(&bundle.must_match)]);
    let keys = keys.map(|key| key.manifest.location.len() + size_of::<PartKey>());
    arrays.chain(keys).fold(0, usize::saturating_add) as u64
}

/// All that is kept, and the order in which it was used.
#[derive(Debug, Default)]
struct Parts {
    by_key: HashMap<PartKey, Kept>,
    /// Keys by the turn of their last use.
    turns: BTreeMap<u64, PartKey>,
    next_turn: u64,
    bundles: HashMap<u64, Held>,
    bytes: u64,
}

#[derive(Debug)]
struct Kept {
    part: Part,
    /// The turn in which its bundle came.
    bundle: u64,
    turn: u64,
    used: Instant,
}

/// What a bundle takes for as long as some of its parts are kept.
#[derive(Debug)]
struct Held {
    parts: usize,
    weight: u64,
}

impl Parts {
    fn touch(&mut self, key: &PartKey) -> Option<Part> {
        let kept = self.by_key.get_mut(key)?;
        let key = self.turns.remove(&kept.turn)?;
        (kept.turn, kept.used) = (self.next_turn, Instant::now());
        self.turns.insert(self.next_turn, key);
        self.next_turn += 1;
        Some(kept.part.clone())
    }

    fn insert(&mut self, keys: Vec<Option<PartKey>>, from: &Arc<PlannedBundle>, weight: u64) {
        let bundle = self.next_turn;
        let parts = keys.iter().flatten().count();
        self.bundles.insert(bundle, Held { parts, weight });
        self.bytes += weight;
        for (member, key) in keys.into_iter().enumerate() {
            let Some(key) = key else { continue };
            let turn = self.next_turn;
            self.next_turn += 1;
            let part = Part { bundle: Arc::clone(from), member };
            let kept = Kept { part, bundle, turn, used: Instant::now() };
            if let Some(old) = self.by_key.insert(key.clone(), kept) {
                self.turns.remove(&old.turn);
                self.release(old.bundle);
            }
            self.turns.insert(turn, key);
        }
    }

    fn release(&mut self, bundle: u64) {
        let Some(held) = self.bundles.get_mut(&bundle) else { return };
        held.parts -= 1;
        if held.parts == 0 {
            self.bytes -= held.weight;
            self.bundles.remove(&bundle);
        }
    }

    fn remove_oldest(&mut self) -> bool {
        let Some((_, key)) = self.turns.pop_first() else { return false };
        if let Some(kept) = self.by_key.remove(&key) {
            self.release(kept.bundle);
        }
        true
    }

    fn shrink(&mut self, budget: u64) {
        while self.bytes > budget && self.remove_oldest() {}
    }

    fn expire(&mut self, after: Option<Duration>) {
        let is_old = |parts: &Self| {
            let oldest = parts.turns.first_key_value().and_then(|(_, key)| parts.by_key.get(key));
            oldest.zip(after).is_some_and(|(kept, after)| kept.used.elapsed() > after)
        };
        while is_old(self) && self.remove_oldest() {}
    }
}

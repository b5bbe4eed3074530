//! Cached parts of plans by their keys, and the memory that they take.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arrow_array::Array;
use arrow_data::ArrayData;
use icefloe_format::manifest::{ManifestFile, Member, Stats};

use super::bundle::{Part, PlannedBundle};

/// Estimated memory of the maps for a part, an id of a column and a pair of properties.
const PART_BYTES: usize = 256;
const ID_BYTES: usize = 16;
const PAIR_BYTES: usize = 64;
/// Estimated memory of an array and of a buffer beside its values: a manifest of few entries has little else.
const ARRAY_BYTES: usize = 192;
const BUFFER_BYTES: usize = 192;

/// The storage, table, filter and statistics that the parts of one plan share.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PlanInputs {
    pub(super) properties: BTreeMap<String, String>,
    pub(super) context: Arc<str>,
    pub(super) filter: String,
    pub(super) added_by: Option<i64>,
}

impl PlanInputs {
    /// Return the memory of the inputs in bytes.
    pub(super) fn weight(&self) -> u64 {
        let pairs = self.properties.iter();
        let properties = pairs.map(|(name, value)| name.len() + value.len() + PAIR_BYTES);
        let texts = properties.chain([self.context.len(), self.filter.len(), size_of::<Self>()]);
        texts.fold(0, usize::saturating_add) as u64
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartKey {
    pub(super) inputs: Arc<PlanInputs>,
    pub(super) hash: u64,
    pub(super) manifest: ManifestFile,
    pub(super) length: u64,
    pub(super) modified: Option<SystemTime>,
    pub(super) stats: Stats,
}

impl PartKey {
    /// Return the memory of the key in bytes, without the inputs.
    pub(super) fn weight(&self) -> u64 {
        let ids = match &self.stats {
            Stats::Columns(ids) => ids.len() * ID_BYTES,
            _ => 0,
        };
        (self.manifest.path.len() + ids + size_of::<Self>() + PART_BYTES) as u64
    }
}

impl Hash for PartKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
        self.manifest.path.hash(state);
    }
}

/// Return the memory of a bundle in bytes.
pub(super) fn weight(bundle: &PlannedBundle) -> u64 {
    // The columns are compact, so the memory of their values is their length.
    let bytes = |array: &dyn Array| {
        let data = array.to_data();
        data.get_slice_memory_size().unwrap_or(usize::MAX).saturating_add(frame(&data))
    };
    let columns = bundle.entries.columns().iter().map(|column| bytes(column.as_ref()));
    let arrays = columns.chain([bytes(&bundle.residual), bytes(&bundle.must_match)]);
    let members = bundle.members.len().saturating_mul(size_of::<Member>());
    arrays.fold(members, usize::saturating_add) as u64
}

/// Return the memory of arrays and buffers without their values.
fn frame(data: &ArrayData) -> usize {
    let buffers = data.buffers().len() + usize::from(data.nulls().is_some());
    let own = ARRAY_BYTES + buffers * BUFFER_BYTES;
    data.child_data().iter().map(frame).fold(own, usize::saturating_add)
}

/// All cached parts, and the order in which it was used.
#[derive(Debug, Default)]
pub(super) struct Parts {
    by_key: HashMap<Arc<PartKey>, Cached>,
    /// Keys by the turn of their last use.
    turns: BTreeMap<u64, Arc<PartKey>>,
    next_turn: u64,
    bundles: HashMap<u64, Held>,
    /// The inputs of all keys, each stored once.
    stored_inputs: HashMap<Arc<PlanInputs>, Held>,
    bytes: u64,
}

#[derive(Debug)]
struct Cached {
    part: Part,
    /// The turn in which its bundle was added.
    bundle: u64,
    turn: u64,
    used: Instant,
}

/// The memory of a bundle or of inputs, held while any of its parts is cached.
#[derive(Debug)]
struct Held {
    parts: usize,
    weight: u64,
}

impl Parts {
    /// Return the stored inputs that equal these.
    pub(super) fn inputs(&self, inputs: &PlanInputs) -> Option<Arc<PlanInputs>> {
        self.stored_inputs.get_key_value(inputs).map(|(known, _)| Arc::clone(known))
    }

    pub(super) fn touch(&mut self, key: &PartKey) -> Option<Part> {
        let cached = self.by_key.get_mut(key)?;
        let key = self.turns.remove(&cached.turn)?;
        (cached.turn, cached.used) = (self.next_turn, Instant::now());
        self.turns.insert(self.next_turn, key);
        self.next_turn += 1;
        Some(cached.part.clone())
    }

    pub(super) fn insert(
        &mut self,
        keys: Vec<Option<PartKey>>,
        from: &Arc<PlannedBundle>,
        weight: u64,
    ) {
        let bundle = self.next_turn;
        let parts = keys.iter().flatten().count();
        if parts == 0 {
            return;
        }
        self.bundles.insert(bundle, Held { parts, weight });
        self.bytes += weight;
        for (member, key) in keys.into_iter().enumerate() {
            let Some(mut key) = key else { continue };
            key.inputs = self.hold(key.inputs);
            let key = Arc::new(key);
            let turn = self.next_turn;
            self.next_turn += 1;
            let part = Part { bundle: Arc::clone(from), member };
            let cached = Cached { part, bundle, turn, used: Instant::now() };
            // Another plan may have cached the same part in between; its key is replaced.
            if let Some((old, cached)) = self.by_key.remove_entry(&key) {
                self.turns.remove(&cached.turn);
                self.release(&old, cached.bundle);
            }
            self.by_key.insert(Arc::clone(&key), cached);
            self.turns.insert(turn, key);
        }
    }

    /// Count one more part of inputs, and return the stored value of the inputs.
    fn hold(&mut self, inputs: Arc<PlanInputs>) -> Arc<PlanInputs> {
        let inputs = self.inputs(&inputs).unwrap_or(inputs);
        let held = self.stored_inputs.entry(Arc::clone(&inputs)).or_insert_with(|| {
            let weight = inputs.weight();
            self.bytes += weight;
            Held { parts: 0, weight }
        });
        held.parts += 1;
        inputs
    }

    /// Release the memory of a part.
    fn release(&mut self, key: &PartKey, bundle: u64) {
        self.bytes -= released(&mut self.bundles, &bundle);
        self.bytes -= released(&mut self.stored_inputs, &key.inputs);
    }

    fn remove_oldest(&mut self) -> bool {
        let Some((_, key)) = self.turns.pop_first() else { return false };
        if let Some(cached) = self.by_key.remove(&key) {
            self.release(&key, cached.bundle);
        }
        true
    }

    pub(super) fn shrink(&mut self, budget: u64) {
        while self.bytes > budget && self.remove_oldest() {}
    }

    pub(super) fn expire(&mut self, after: Option<Duration>) {
        let is_old = |parts: &Self| {
            let oldest = parts.turns.first_key_value().and_then(|(_, key)| parts.by_key.get(key));
            oldest.zip(after).is_some_and(|(cached, after)| cached.used.elapsed() > after)
        };
        while is_old(self) && self.remove_oldest() {}
    }
}

/// Count one part less; return the memory that is released with the last one.
fn released<K: Hash + Eq>(holders: &mut HashMap<K, Held>, key: &K) -> u64 {
    let Some(held) = holders.get_mut(key) else { return 0 };
    held.parts -= 1;
    if held.parts > 0 {
        return 0;
    }
    holders.remove(key).map_or(0, |held| held.weight)
}

#[cfg(test)]
mod tests {
    use arrow_array::{BooleanArray, RecordBatch};
    use icefloe_format::manifest::{ManifestContent, entry_schema};

    use super::super::residuals;
    use super::*;

    fn key(filter: &str, location: &str) -> PartKey {
        let inputs = PlanInputs {
            properties: BTreeMap::new(),
            context: Arc::from("schema"),
            filter: filter.to_owned(),
            added_by: None,
        };
        let manifest = ManifestFile {
            path: location.to_owned(),
            length: 1,
            spec_id: 0,
            content: ManifestContent::Data,
            sequence_number: Some(1),
            added_snapshot_id: None,
            added_files: None,
            existing_files: None,
        };
        let (inputs, stats) = (Arc::new(inputs), Stats::Skip);
        PartKey { inputs, hash: 0, manifest, length: 1, modified: None, stats }
    }

    fn empty_bundle() -> PlannedBundle {
        PlannedBundle {
            entries: RecordBatch::new_empty(entry_schema()),
            residual: residuals::all_null(0),
            must_match: BooleanArray::from(Vec::<bool>::new()),
            members: vec![],
        }
    }

    fn keep(parts: &mut Parts, key: PartKey) {
        let bundle = Arc::new(empty_bundle());
        let weight = weight(&bundle) + key.weight();
        parts.insert(vec![Some(key)], &bundle, weight);
    }

    #[test]
    fn long_filters_count_against_the_budget() {
        let (mut parts, budget) = (Parts::default(), 10 << 20);
        for number in 0..100 {
            keep(&mut parts, key(&format!("{number}{}", "x".repeat(1 << 20)), "a"));
            parts.shrink(budget);
            let held: usize = parts.stored_inputs.keys().map(|inputs| inputs.filter.len()).sum();
            assert!(held as u64 <= parts.bytes && parts.bytes <= budget, "{held} {}", parts.bytes);
        }
        assert_eq!(parts.by_key.len(), 9);
        parts.shrink(0);
        assert_eq!((parts.bytes, parts.stored_inputs.len(), parts.turns.len()), (0, 0, 0));
    }

    #[test]
    fn filter_of_many_manifests_is_cached_once() {
        let mut parts = Parts::default();
        for number in 0..1_000 {
            keep(&mut parts, key(&"x".repeat(1 << 16), &format!("manifest-{number}")));
        }
        let one = parts.inputs(&key(&"x".repeat(1 << 16), "").inputs).unwrap();
        assert!(parts.by_key.keys().all(|key| Arc::ptr_eq(&key.inputs, &one)));
        let bundles = 1_000 * (weight(&empty_bundle()) + key("", "manifest-999").weight());
        assert!(parts.bytes < bundles + (2 << 16), "{}", parts.bytes);
    }

    #[test]
    fn bundle_without_entries_weighs_what_its_arrays_take() {
        let bundle = empty_bundle();
        let least = bundle.entries.get_array_memory_size() as u64;
        let weight = weight(&bundle);
        assert!((least..4 * least).contains(&weight), "{weight} for {least}");
    }

    #[test]
    fn part_cached_twice_replaces_the_first() {
        let mut parts = Parts::default();
        keep(&mut parts, key("x", "a"));
        let once = parts.bytes;
        keep(&mut parts, key("x", "a"));
        assert_eq!((parts.bytes, parts.by_key.len(), parts.turns.len()), (once, 1, 1));
    }
}

//! Reading the manifests of a plan, several at once.
//!
//! A large manifest is a unit of work. Small manifests of one spec are decoded together into the same columns; local
//! ones are read by the thread that decodes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::try_join;
use futures::{FutureExt, StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::avro::BlockRun;
use icefloe_format::manifest::{
    BundleDecoder, DecodeOptions, EntryBundle, EntryFilter, ManifestFile, MatchingEntries, Stats,
    decode_matching_run, inherit,
};

use super::bundle::{Part, PlannedBundle};
use super::cache::PlanCache;
use super::cached_parts::PartKey;
use super::early_bytes::EarlyBytes;
use super::entries::{PlannedEntries, compact};
use super::filter::{ScanFilter, SpecFilter};
use crate::error::{Error, Result};
use crate::manifests::decode_in_runs;
use crate::runtime::default_threads;
use crate::runtime::executor::compute;
use crate::store::{FileIo, absolute_entries};
use crate::table::TableContext;

/// Units of work in flight per thread: one is fetched while another is decoded.
const IN_FLIGHT_PER_THREAD: usize = 2;
/// Shares of the bytes for each thread: small shares keep one thread from finishing long after the others.
const SHARES_PER_THREAD: u64 = 4;
/// Manifests of a bundle that are fetched at once.
const FETCHED_AT_ONCE: usize = 4;
/// Data manifests per thread that are fetched while delete manifests are read.
const EARLY_PER_THREAD: usize = IN_FLIGHT_PER_THREAD * FETCHED_AT_ONCE;
/// The most bytes of a small manifest; larger ones are not bundled.
const SMALL_MANIFEST: u64 = 1 << 16;
/// Bytes of the manifests of a bundle; fewer if threads would be idle.
const BUNDLE_BYTES: u64 = 1 << 18;
const SMALLEST_BUNDLE: u64 = 1 << 15;

/// Reads manifests and prunes their entries.
pub(crate) struct ManifestReader {
    pub(crate) io: FileIo,
    pub(crate) context: Arc<TableContext>,
    pub(crate) filter: Arc<ScanFilter>,
    /// If given, return only files that this snapshot added.
    pub(crate) added_by: Option<i64>,
    pub(crate) cache: Option<PlanCache>,
}

/// A manifest that is not cached.
struct Uncached {
    /// The index among the manifests to read.
    place: usize,
    manifest: ManifestFile,
    /// The key in the cache.
    key: Option<PartKey>,
}

impl ManifestReader {
    /// Read delete manifests, and fetch the bytes of the first data manifests at the same time.
    ///
    /// Data manifests are not fetched early if the cache has parts for the same inputs: the deletes decide which of
    /// them are cached.
    pub(crate) async fn read_deletes(
        &self,
        deletes: Vec<ManifestFile>,
        data: &[ManifestFile],
    ) -> Result<(PlannedEntries, EarlyBytes)> {
        let none = EarlyBytes::default();
        let is_known = self.cache.as_ref().is_some_and(PlanCache::is_known);
        let most = match deletes.is_empty() || is_known {
            true => 0,
            false => default_threads() * EARLY_PER_THREAD,
        };
        let early = EarlyBytes::fetch(&self.io, data, most).map(Ok);
        try_join(self.read(deletes, Stats::All, &none), early).await
    }

    /// Fetch and decode manifests, several at once.
    pub(crate) async fn read(
        &self,
        manifests: Vec<ManifestFile>,
        stats: Stats,
        early: &EarlyBytes,
    ) -> Result<PlannedEntries> {
        let mut parts: Vec<Vec<Part>> = vec![vec![]; manifests.len()];
        let mut uncached = Vec::new();
        for ((place, manifest), part) in manifests.into_iter().enumerate().zip(&mut parts) {
            let cache = self.cache.as_ref();
            let key = cache.and_then(|cache| cache.key(&self.io, &manifest, &stats));
            part.extend(cache.zip(key.as_ref()).and_then(|(cache, key)| cache.get(key)));
            if part.is_empty() {
                uncached.push(Uncached { place, manifest, key });
            }
        }
        let bytes: u64 = uncached.iter().filter_map(|it| it.manifest.stated_length()).sum();
        let share = (bytes / (default_threads() as u64 * SHARES_PER_THREAD)).max(1);
        let in_flight = default_threads() * IN_FLIGHT_PER_THREAD;
        let mut found = futures::stream::iter(self.bundles(uncached, in_flight))
            .map(|bundle| self.read_bundle(bundle, (stats.clone(), early), share))
            .buffered(in_flight);
        while let Some(bundle) = found.try_next().await? {
            for (place, found) in bundle {
                if let Some(part) = parts.get_mut(place) {
                    part.push(found);
                }
            }
        }
        PlannedEntries::of(&parts.concat())
    }

    /// Group manifests to decode together, in the order of the first manifest of each group.
    fn bundles(&self, uncached: Vec<Uncached>, units: usize) -> Vec<Vec<Uncached>> {
        let length =
            |it: &Uncached| it.manifest.stated_length().filter(|length| *length <= SMALL_MANIFEST);
        let total: u64 = uncached.iter().filter_map(length).sum();
        let bytes = (total / units as u64).clamp(SMALLEST_BUNDLE, BUNDLE_BYTES);
        // A bundle is cached as a whole or not at all.
        let bytes = self.cache.as_ref().map_or(bytes, |cache| bytes.min(cache.largest()));
        let mut bundles = Vec::new();
        let mut open: BTreeMap<i32, (u64, Vec<Uncached>)> = BTreeMap::new();
        for manifest in uncached {
            let Some(length) = length(&manifest) else {
                bundles.push(vec![manifest]);
                continue;
            };
            let (size, bundle) = open.entry(manifest.manifest.spec_id).or_default();
            if *size + length > bytes && !bundle.is_empty() {
                bundles.push(std::mem::take(bundle));
                *size = 0;
            }
            *size += length;
            bundle.push(manifest);
        }
        bundles.extend(open.into_values().map(|(_, bundle)| bundle));
        bundles.sort_by_key(|bundle| bundle.first().map(|first| first.place));
        bundles
    }

    /// Return the parts of manifests with their indexes. A manifest of more bytes than a share is cut into runs.
    async fn read_bundle(
        &self,
        bundle: Vec<Uncached>,
        (stats, early): (Stats, &EarlyBytes),
        share: u64,
    ) -> Result<Vec<(usize, Part)>> {
        let (manifests, keys): (Vec<_>, Vec<_>) =
            bundle.into_iter().map(|it| (it.manifest, (it.place, it.key))).unzip();
        let cache = self.cache.as_ref().filter(|_| keys.iter().any(|(_, key)| key.is_some()));
        let mut found = match <[ManifestFile; 1]>::try_from(manifests) {
            Ok([manifest]) => vec![self.decode_one(manifest, (stats, early), share).await?],
            Err(manifests) => {
                let found = self.decode_together(manifests, stats, early).await?;
                found.into_iter().map(|bundle| vec![bundle]).collect()
            }
        };
        if cache.is_some() {
            let compact = found.into_iter().map(compact);
            found = compact.map(|bundle| Ok(vec![bundle?])).collect::<Result<_>>()?;
        }
        let mut parts = Vec::with_capacity(keys.len());
        for bundle in found.into_iter().flatten() {
            let members = bundle.members.iter().filter_map(|member| keys.get(member.place));
            let (places, keys): (Vec<usize>, Vec<_>) = members.cloned().unzip();
            let bundle = match cache {
                Some(cache) => cache.keep(bundle, keys),
                None => Arc::new(bundle),
            };
            let part = |member| Part { bundle: Arc::clone(&bundle), member };
            parts.extend(places.into_iter().enumerate().map(|(at, place)| (place, part(at))));
        }
        Ok(parts)
    }

    async fn decode_one(
        &self,
        manifest: ManifestFile,
        (stats, early): (Stats, &EarlyBytes),
        share: u64,
    ) -> Result<Vec<PlannedBundle>> {
        let shares = manifest.stated_length().map_or(1, |length| length.div_ceil(share));
        let most = usize::try_from(shares).unwrap_or(usize::MAX);
        let bytes = self.bytes(&manifest.path, early).await?;
        let decoder = self.decoder(stats);
        decode_in_runs(bytes, most, move |bytes, run| decoder.one(bytes, run, &manifest)).await
    }

    async fn decode_together(
        &self,
        manifests: Vec<ManifestFile>,
        stats: Stats,
        early: &EarlyBytes,
    ) -> Result<Vec<PlannedBundle>> {
        let fetched = futures::stream::iter(&manifests)
            .map(|manifest| self.fetched(manifest, early))
            .buffered(FETCHED_AT_ONCE)
            .try_collect::<Vec<_>>()
            .await?;
        let (io, decoder) = (self.io.clone(), self.decoder(stats));
        compute("decode manifests", move || {
            let read = |(manifest, fetched): (&ManifestFile, Option<Bytes>)| match fetched {
                Some(bytes) => Ok(bytes),
                None => io.read_local(&manifest.path),
            };
            let bytes = manifests.iter().zip(fetched).map(read).collect::<Result<Vec<_>>>()?;
            decoder.all(&bytes, &manifests)
        })
        .await
    }

    /// Return the bytes of a manifest that is not a local file.
    async fn fetched(&self, manifest: &ManifestFile, early: &EarlyBytes) -> Result<Option<Bytes>> {
        match self.io.local_path(&manifest.path)? {
            Some(_) => Ok(None),
            None => self.bytes(&manifest.path, early).await.map(Some),
        }
    }

    async fn bytes(&self, location: &str, early: &EarlyBytes) -> Result<Bytes> {
        match early.take(location) {
            Some(bytes) => bytes,
            None => self.io.read(location).await,
        }
    }

    fn decoder(&self, stats: Stats) -> Decoder {
        Decoder {
            io: self.io.clone(),
            context: Arc::clone(&self.context),
            filter: Arc::clone(&self.filter),
            added_by: self.added_by,
            stats,
        }
    }
}

/// The inputs of decoding a manifest besides its bytes.
struct Decoder {
    io: FileIo,
    context: Arc<TableContext>,
    filter: Arc<ScanFilter>,
    added_by: Option<i64>,
    stats: Stats,
}

impl Decoder {
    /// Return all blocks of a manifest, or a run of them.
    fn one(
        &self,
        bytes: &[u8],
        run: Option<&BlockRun>,
        manifest: &ManifestFile,
    ) -> Result<PlannedBundle> {
        let of_spec = self.of_spec(manifest)?;
        let (options, filter) = self.options(manifest, of_spec);
        let found = decode_matching_run(bytes, run, &options, filter).and_then(|matching| {
            let columns = inherit(matching.columns, manifest.inheritance())?;
            Ok(EntryBundle::of_one(MatchingEntries { columns, ..matching }))
        });
        found
            .and_then(|found| self.planned(found, of_spec))
            .map_err(|error| Error::in_file(&manifest.path, error))
    }

    /// Decode manifests of one spec. After an error each is decoded by itself, to name the manifest in the error.
    fn all(&self, bytes: &[Bytes], manifests: &[ManifestFile]) -> Result<Vec<PlannedBundle>> {
        if let Ok(found) = self.together(bytes, manifests) {
            return Ok(found);
        }
        let each = bytes.iter().zip(manifests).enumerate().map(|(place, (bytes, manifest))| {
            let mut bundle = self.one(bytes, None, manifest)?;
            for member in &mut bundle.members {
                member.place = place;
            }
            Ok(bundle)
        });
        each.collect()
    }

    fn together(&self, bytes: &[Bytes], manifests: &[ManifestFile]) -> Result<Vec<PlannedBundle>> {
        let Some(first) = manifests.first() else { return Ok(vec![]) };
        let of_spec = self.of_spec(first)?;
        let (options, filter) = self.options(first, of_spec);
        let mut decoder = BundleDecoder::new(options);
        for (bytes, manifest) in bytes.iter().zip(manifests) {
            decoder.read(bytes, manifest.inheritance())?;
        }
        let found = decoder.finish(filter)?.into_iter();
        Ok(found.map(|found| self.planned(found, of_spec)).collect::<Result<_, _>>()?)
    }

    fn planned(
        &self,
        mut found: EntryBundle,
        of_spec: &SpecFilter,
    ) -> Result<PlannedBundle, FormatError> {
        found.columns = absolute_entries(&self.io, found.columns)?;
        PlannedBundle::new(found, (&self.filter, self.added_by), of_spec, &self.context)
    }

    fn of_spec(&self, manifest: &ManifestFile) -> Result<&SpecFilter> {
        let of_spec = self.filter.of_spec(manifest.spec_id);
        of_spec.ok_or_else(|| {
            Error::in_file(&manifest.path, self.context.unknown_spec(manifest.spec_id))
        })
    }

    fn options<'a>(
        &'a self,
        manifest: &ManifestFile,
        of_spec: &'a SpecFilter,
    ) -> (DecodeOptions<'a>, EntryFilter<'a>) {
        let (spec_id, partition_type) = (manifest.spec_id, &of_spec.partition_type);
        let options = DecodeOptions { spec_id, partition_type, stats: self.stats.clone() };
        (options, EntryFilter { partitions: &of_spec.partitions, rows: &self.filter.rows })
    }
}

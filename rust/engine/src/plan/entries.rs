//! The live entries of manifests that might match the filter, of several bundles together.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_select::concat::concat;
use icefloe_format::manifest::{Member, entry_schema};

use super::bundle::{Part, PlannedBundle};
use super::columns::{compacted, concatenated, invalid};
use super::residuals::{self, Residuals};
use crate::error::Result;

/// Entries that might match, in the order of their manifests.
#[derive(Debug)]
pub(crate) struct PlannedEntries {
    /// Columns of the entry schema, inheritance applied.
    pub(crate) entries: RecordBatch,
    /// JSON of the residual predicate; null where every row satisfies the filter.
    pub(crate) residual: Residuals,
    /// Whether every row satisfies the filter.
    pub(crate) must_match: BooleanArray,
    /// Live entries of the manifests.
    pub(crate) total: u64,
    pub(crate) skipped_by_partition: u64,
    pub(crate) skipped_by_metrics: u64,
}

/// Neighbouring entries of a bundle.
struct Stretch<'a> {
    bundle: &'a PlannedBundle,
    start: usize,
    length: usize,
}

impl PlannedEntries {
    /// Return the entries of several manifests.
    pub(super) fn of(parts: &[Part]) -> Result<Self> {
        let stretches = stretches(parts);
        let batches: Vec<RecordBatch> = stretches.iter().map(Stretch::entries).collect();
        let entries = concatenated(&entry_schema(), &batches).map_err(invalid)?;
        let residual = residuals::joined(
            stretches.iter().map(|it| (&it.bundle.residual, it.start..it.start + it.length)),
        )?;
        let must_match = joined(&stretches, |bundle| &bundle.must_match)?;
        let sum = |number| total(parts, number) as u64;
        Ok(Self {
            entries,
            residual,
            must_match: must_match.map_or_else(
                || BooleanArray::from(Vec::<bool>::new()),
                |array| BooleanArray::from(array.to_data()),
            ),
            total: sum(|member| member.live),
            skipped_by_partition: sum(|member| member.skipped_by_partition),
            skipped_by_metrics: sum(|member| member.skipped_by_metrics),
        })
    }
}

/// Concatenate bundles, in compact memory: buffers that grew while they were decoded take several times as much.
pub(super) fn compact(bundles: Vec<PlannedBundle>) -> Result<PlannedBundle> {
    let mut bundle = match <[PlannedBundle; 1]>::try_from(bundles) {
        Ok([only]) => only,
        Err(several) => return together(several),
    };
    bundle.entries = compacted(&bundle.entries).map_err(invalid)?;
    Ok(bundle)
}

fn together(bundles: Vec<PlannedBundle>) -> Result<PlannedBundle> {
    let parts: Vec<Part> =
        bundles.into_iter().map(|bundle| Part { bundle: Arc::new(bundle), member: 0 }).collect();
    let PlannedEntries { entries, residual, must_match, .. } = PlannedEntries::of(&parts)?;
    let member = Member {
        place: 0,
        rows: 0..entries.num_rows(),
        live: total(&parts, |member| member.live),
        skipped_by_partition: total(&parts, |member| member.skipped_by_partition),
        skipped_by_metrics: total(&parts, |member| member.skipped_by_metrics),
    };
    Ok(PlannedBundle { entries, residual, must_match, members: vec![member] })
}

fn total(parts: &[Part], number: fn(&Member) -> usize) -> usize {
    parts.iter().filter_map(Part::manifest).map(number).sum()
}

/// Return the fewest stretches that hold the parts: copying one long stretch costs less than many short ones.
fn stretches(parts: &[Part]) -> Vec<Stretch<'_>> {
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    for neighbours in parts.chunk_by(|left, right| right.follows(left)) {
        let ends = neighbours.first().zip(neighbours.last());
        let ends = ends.and_then(|(first, last)| first.manifest().zip(last.manifest()));
        if let Some((part, (first, last))) = neighbours.first().zip(ends) {
            let start = first.rows.start;
            let length = last.rows.end - start;
            stretches.push(Stretch { bundle: &part.bundle, start, length });
        }
    }
    stretches.retain(|stretch| stretch.length > 0);
    stretches
}

impl Stretch<'_> {
    fn entries(&self) -> RecordBatch {
        self.bundle.entries.slice(self.start, self.length)
    }
}

fn joined<A: Array>(
    stretches: &[Stretch<'_>],
    column: impl Fn(&PlannedBundle) -> &A,
) -> Result<Option<ArrayRef>> {
    let slices = stretches.iter().map(|it| column(it.bundle).slice(it.start, it.length));
    let slices: Vec<ArrayRef> = slices.collect();
    let arrays: Vec<&dyn Array> = slices.iter().map(|array| array.as_ref()).collect();
    if arrays.is_empty() { Ok(None) } else { concat(&arrays).map(Some).map_err(invalid) }
}

//! Entries of several manifests that might match a filter, decoded together.

use std::sync::Arc;

use arrow_array::{BooleanArray, Int32Array, RecordBatch};
use icefloe_format::Result;
use icefloe_format::manifest::{EntryBundle, Member, filtered_members};
use icefloe_format::predicate::{
    BoundPredicate, FileStats, PartitionTuples, Predicate, evaluate_strict, residuals,
    to_unbound_json,
};

use super::filter::{ScanFilter, SpecFilter};
use super::residuals::{self, Residuals};
use crate::table::TableContext;

const DATA: i32 = 0;
const ADDED: i32 = 1;

/// Entries that might match, manifest by manifest.
#[derive(Debug)]
pub(super) struct PlannedBundle {
    /// Columns of the entry schema, inheritance applied.
    pub(super) entries: RecordBatch,
    /// JSON of the residual predicate; null where every row satisfies the filter.
    pub(super) residual: Residuals,
    /// Whether every row satisfies the filter.
    pub(super) must_match: BooleanArray,
    /// The manifests, in the order of their entries.
    pub(super) members: Vec<Member>,
}

/// The entries of one manifest.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) bundle: Arc<PlannedBundle>,
    /// The index of the manifest among the members of the bundle.
    pub(super) member: usize,
}

impl PlannedBundle {
    /// Prune entries by the filter; with `added_by` only entries that this snapshot added remain.
    pub(super) fn new(
        found: EntryBundle,
        (filter, added_by): (&ScanFilter, Option<i64>),
        of_spec: &SpecFilter,
        context: &TableContext,
    ) -> Result<Self> {
        let found = added(found, added_by)?;
        let contents = found.columns.ints("content")?;
        // Statistics of a delete file do not describe the rows that it deletes.
        if filter.is_always_true() || contents.values().iter().all(|content| *content != DATA) {
            return Self::unfiltered(found, of_spec);
        }
        let columns = &found.columns;
        let tuples = PartitionTuples::new(columns.partition.clone(), &of_spec.partition_type);
        let left = residuals(&filter.rows, &of_spec.spec, &context.schema, &tuples)?;
        let by_metrics = evaluate_strict(&filter.rows, &FileStats::new(&columns.entries))?;
        let verdicts = Verdicts::new(contents, (&left.predicates, &left.index), &by_metrics)?;
        let mut members = filtered_members(&found.members, verdicts.might_match.values());
        for (member, before) in members.iter_mut().zip(&found.members) {
            member.skipped_by_partition += before.rows.len() - member.rows.len();
        }
        Ok(Self {
            entries: columns.filter(&verdicts.might_match)?.to_batch(&of_spec.partition_type)?,
            residual: verdicts.residual,
            must_match: verdicts.must_match,
            members,
        })
    }

    /// Return all entries, without residuals.
    fn unfiltered(found: EntryBundle, of_spec: &SpecFilter) -> Result<Self> {
        let rows = found.columns.len();
        Ok(Self {
            entries: found.columns.to_batch(&of_spec.partition_type)?,
            residual: residuals::all_null(rows),
            must_match: BooleanArray::from(vec![true; rows]),
            members: found.members,
        })
    }
}

impl Part {
    pub(super) fn manifest(&self) -> Option<&Member> {
        self.bundle.members.get(self.member)
    }

    /// Return whether the entries follow the entries of `other` in the same bundle.
    pub(super) fn follows(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bundle, &other.bundle) && self.member == other.member + 1
    }
}

/// Return the entries that a snapshot added, or all of them without a snapshot.
fn added(found: EntryBundle, by: Option<i64>) -> Result<EntryBundle> {
    let Some(by) = by else { return Ok(found) };
    let columns = &found.columns;
    let pairs = columns.ints("status")?.iter().zip(columns.longs("snapshot_id")?);
    let wanted = pairs.map(|(status, snapshot)| status == Some(ADDED) && snapshot == Some(by));
    let wanted = BooleanArray::from(wanted.collect::<Vec<_>>());
    found.filter(&wanted)
}

/// A mask of the entries that might match, and the residuals of those entries.
struct Verdicts {
    might_match: BooleanArray,
    residual: Residuals,
    must_match: BooleanArray,
}

impl Verdicts {
    fn new(
        contents: &Int32Array,
        (predicates, index): (&[BoundPredicate], &[usize]),
        by_metrics: &BooleanArray,
    ) -> Result<Self> {
        let texts: Vec<String> = predicates.iter().map(to_unbound_json).collect();
        let mut residual = Vec::new();
        let (mut might_match, mut must_match) = (Vec::new(), Vec::new());
        for ((content, place), proved) in
            contents.values().iter().zip(index).zip(by_metrics.values())
        {
            let predicate = match content {
                &DATA => predicates.get(*place).unwrap_or(&Predicate::AlwaysTrue),
                _ => &Predicate::AlwaysTrue,
            };
            let keep = !matches!(predicate, Predicate::AlwaysFalse);
            might_match.push(keep);
            if !keep {
                continue;
            }
            let proved = proved || matches!(predicate, Predicate::AlwaysTrue);
            must_match.push(proved);
            residual.push(i32::try_from(*place).ok().filter(|_| !proved));
        }
        let residual = residuals::of(texts, residual)?;
        Ok(Self { might_match: might_match.into(), residual, must_match: must_match.into() })
    }
}

//! What planning leaves of the entries of some manifests.

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
    /// Predicate JSON of what is left to filter; null for nothing.
    pub(super) residual: Residuals,
    /// Whether every row satisfies the filter.
    pub(super) must_match: BooleanArray,
    /// The manifests, in the order of their entries.
    pub(super) members: Vec<Member>,
}

/// What planning found in one manifest.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) bundle: Arc<PlannedBundle>,
    /// Which of the bundle's members it is.
    pub(super) member: usize,
}

impl PlannedBundle {
    /// What the filter leaves of entries that might match, and with `added_by` of those that this snapshot added.
    pub(super) fn new(
        found: EntryBundle,
        (filter, added_by): (&ScanFilter, Option<i64>),
        of_spec: &SpecFilter,
        context: &TableContext,
    ) -> Result<Self> {
        let found = added(found, added_by)?;
        let contents = found.columns.ints("content")?;
        // A delete file's own columns say nothing of the rows that it deletes.
        if filter.is_always_true() || contents.values().iter().all(|content| *content != DATA) {
            return Self::unfiltered(found, of_spec);
        }
        let columns = &found.columns;
        let tuples = PartitionTuples::new(columns.partition.clone(), &of_spec.partition_type);
        let left = residuals(&filter.rows, &of_spec.spec, &context.schema, &tuples)?;
        let by_metrics = evaluate_strict(&filter.rows, &FileStats::new(&columns.entries))?;
        let verdicts = Verdicts::new(contents, (&left.predicates, &left.index), &by_metrics)?;
        let mut members = filtered_members(&found.members, verdicts.kept.values());
        for (member, before) in members.iter_mut().zip(&found.members) {
            member.skipped_by_partition += before.rows.len() - member.rows.len();
        }
        Ok(Self {
            entries: columns.filter(&verdicts.kept)?.to_batch(&of_spec.partition_type)?,
            residual: verdicts.residual,
            must_match: verdicts.must_match,
            members,
        })
    }

    /// Every entry, nothing left to filter.
    fn unfiltered(found: EntryBundle, of_spec: &SpecFilter) -> Result<Self> {
        let rows = found.columns.len();
        Ok(Self {
            entries: found.columns.to_batch(&of_spec.partition_type)?,
            residual: residuals::none(rows),
            must_match: BooleanArray::from(vec![true; rows]),
            members: found.members,
        })
    }
}

impl Part {
    pub(super) fn manifest(&self) -> Option<&Member> {
        self.bundle.members.get(self.member)
    }

    /// Whether its entries stand behind those of `other`.
    pub(super) fn follows(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bundle, &other.bundle) && self.member == other.member + 1
    }
}

/// The entries that a snapshot added, if only those are wanted.
fn added(found: EntryBundle, by: Option<i64>) -> Result<EntryBundle> {
    let Some(by) = by else { return Ok(found) };
    let columns = &found.columns;
    let pairs = columns.ints("status")?.iter().zip(columns.longs("snapshot_id")?);
    let wanted = pairs.map(|(status, snapshot)| status == Some(ADDED) && snapshot == Some(by));
    let wanted = BooleanArray::from(wanted.collect::<Vec<_>>());
    found.filter(&wanted)
}

/// What the residuals say of each entry; `residual` and `must_match` are of the kept ones alone.
struct Verdicts {
    kept: BooleanArray,
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
        let (mut kept, mut must_match) = (Vec::new(), Vec::new());
        for ((content, place), proved) in
            contents.values().iter().zip(index).zip(by_metrics.values())
        {
            let predicate = match content {
                &DATA => predicates.get(*place).unwrap_or(&Predicate::AlwaysTrue),
                _ => &Predicate::AlwaysTrue,
            };
            let keep = !matches!(predicate, Predicate::AlwaysFalse);
            kept.push(keep);
            if !keep {
                continue;
            }
            let proved = proved || matches!(predicate, Predicate::AlwaysTrue);
            must_match.push(proved);
            residual.push(i32::try_from(*place).ok().filter(|_| !proved));
        }
        let residual = residuals::of(texts, residual)?;
        Ok(Self { kept: kept.into(), residual, must_match: must_match.into() })
    }
}

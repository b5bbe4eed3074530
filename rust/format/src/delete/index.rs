//! Which delete files apply to which data files.
//!
//! A delete file applies by sequence number, and then by scope: its one data file, its partition
//! (spec and tuple), or the whole table. A lookup is one hash and one binary search; among many
//! equality deletes of one scope, those whose bounds overlap are found by an interval search.

use std::ops::Range;

use arrow_array::RecordBatch;

use super::files::{Files, text_column};
use super::groups::{Groups, PartitionGroups, PartitionRef};
use super::hulls::Hulls;
use super::overlap::{Overlap, Pairs};
use super::ranges::Ranges;
use super::runs::DeleteRuns;
use crate::error::Result;
use crate::spec::PrimitiveType;

/// So few delete files are compared one by one.
const FEW: usize = 12;

/// What the index must know of the table.
pub trait TableFacts {
    /// Whether a spec has no fields or only void ones: its equality deletes are global.
    fn is_unpartitioned(&self, spec_id: i32) -> bool;

    /// The type of a field in any of the table's schemas, and whether it lies inside a struct.
    fn equality_field(&self, field_id: i32) -> Option<(PrimitiveType, bool)>;
}

/// Delete files by what they can apply to.
#[derive(Debug)]
pub struct DeleteIndex {
    groups: Groups,
    /// The bounds of groups of many equality deletes.
    bounds: Vec<Option<Box<GroupBounds>>>,
    overlap: Overlap,
}

/// What the bounds of a group's equality deletes tell of many of them at once.
#[derive(Debug)]
struct GroupBounds {
    hulls: Option<Hulls>,
    ranges: Option<Ranges>,
}

impl DeleteIndex {
    /// Index the live delete files of a scan: entry columns with sequence numbers filled in.
    /// Without the bounds columns, equality deletes are paired by sequence and partition alone.
    ///
    /// # Errors
    /// `InvalidArgument` where a column is absent or a sequence number is null, `Corrupt` where
    /// statistics cannot be decoded, `Unsupported` for deletion vectors.
    pub fn new(deletes: &RecordBatch, table: &dyn TableFacts) -> Result<Self> {
        let groups = Groups::new(deletes, table)?;
        let overlap = Overlap::new(deletes, table)?;
        let bounds = groups.spans.iter().zip(&groups.is_equality).map(|(span, is_equality)| {
            let rows = groups.order.get(span.clone()).filter(|_| *is_equality)?;
            (rows.len() > FEW).then(|| {
                let ranges = Ranges::new(rows, span.start, &overlap);
                Box::new(GroupBounds { hulls: Hulls::new(rows, &overlap), ranges })
            })
        });
        Ok(Self { bounds: bounds.collect(), groups, overlap })
    }

    /// Whether there is no delete file.
    pub fn is_empty(&self) -> bool {
        self.groups.order.is_empty()
    }

    /// The rows of the deletes batch in the order that runs count them by.
    pub fn order(&self) -> &[u32] {
        &self.groups.order
    }

    /// For each data file (entry columns), the delete files that apply to it, as runs of places in
    /// [`DeleteIndex::order`].
    ///
    /// # Errors
    /// Those of [`DeleteIndex::new`]; `InvalidArgument` for more runs than a list can count.
    pub fn applying(&self, data: &RecordBatch) -> Result<DeleteRuns> {
        let files = Files::of(data)?;
        let paths = text_column(data, "file_path")?;
        let pairs = self.overlap.with(data)?;
        let Groups { by_path, by_partition, global, .. } = &self.groups;
        let mut found = DeleteRuns::with_capacity(data.num_rows());
        let mut runs: Vec<(u32, u32)> = Vec::new();
        // Files of one partition are often neighbours.
        let mut last: Option<(PartitionRef<'_>, Option<&PartitionGroups>)> = None;
        for file in 0..data.num_rows() {
            runs.clear();
            let sequence = files.sequence_number(file)?;
            if !by_path.is_empty() {
                let group = by_path.get(paths.value(file)).copied();
                runs.extend(group.and_then(|group| self.positions(group, sequence)));
            }
            if !by_partition.is_empty() {
                let key = files.partition(file);
                let known = last.filter(|(known, _)| *known == key).map(|(_, groups)| groups);
                let groups = known.unwrap_or_else(|| by_partition.get(&key));
                last = Some((key, groups));
                if let Some(groups) = groups {
                    let positions = groups.positions;
                    runs.extend(positions.and_then(|group| self.positions(group, sequence)));
                    self.keys(groups.equality, (file, sequence), &pairs, &mut runs);
                }
            }
            self.keys(*global, (file, sequence), &pairs, &mut runs);
            found.push(&mut runs)?;
        }
        Ok(found)
    }

    /// Position deletes apply to files of their own commit too.
    fn positions(&self, group: u32, sequence: i64) -> Option<(u32, u32)> {
        let newer = self.from(group, |found| found < sequence)?;
        Some(run(&newer))
    }

    /// Equality deletes apply to older files only, and only where both can hold one key.
    fn keys(
        &self,
        group: Option<u32>,
        (file, sequence): (usize, i64),
        pairs: &Pairs<'_>,
        runs: &mut Vec<(u32, u32)>,
    ) {
        let group = group.and_then(|group| Some((group, self.from(group, |at| at <= sequence)?)));
        let Some((group, newer)) = group.filter(|(_, newer)| !newer.is_empty()) else { return };
        let bounds = self.bounds.get(group as usize).and_then(Option::as_ref);
        let end = newer.end;
        let all = |hulls: &Hulls| hulls.all_overlap(file, end - newer.start, pairs);
        if bounds.and_then(|bounds| bounds.hulls.as_ref()).is_some_and(all) {
            runs.push(run(&newer));
            return;
        }
        let order = &self.groups.order;
        let may =
            |place: &usize| order.get(*place).is_some_and(|row| pairs.may(file, *row as usize));
        let ranges = bounds.and_then(|bounds| bounds.ranges.as_ref());
        if let Some(ranges) = ranges.filter(|_| newer.len() > FEW) {
            let mut take = |place: usize| {
                if place >= newer.start && may(&place) {
                    runs.push(run(&(place..place + 1)));
                }
            };
            if ranges.overlapping(file, pairs, &mut take) {
                return;
            }
        }
        runs.extend(newer.filter(may).map(|place| run(&(place..place + 1))));
    }

    /// The places of a group from the first whose sequence number is not `older` on.
    fn from(&self, group: u32, older: impl Fn(i64) -> bool) -> Option<Range<usize>> {
        let span = self.groups.spans.get(group as usize)?;
        let numbers = self.groups.sequence_numbers.get(span.clone())?;
        Some(span.start + numbers.partition_point(|found| older(*found))..span.end)
    }
}

/// Places as first and count; the index has fewer than 2^31 of them.
fn run(places: &Range<usize>) -> (u32, u32) {
    (places.start as u32, places.len() as u32)
}

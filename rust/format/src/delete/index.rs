//! Which delete files apply to which data files.
//!
//! A delete file applies by sequence number, and then by scope: its one data file, its partition
//! (spec and tuple), or the whole table. A lookup is one hash and one binary search; among many
//! equality deletes of one scope, those whose bounds overlap are found by an interval search.

use std::ops::Range;

use arrow_array::{RecordBatch, StringArray};

use super::delete_runs::DeleteRuns;
use super::group_bounds::{GroupBounds, Hulls, Ranges};
use super::groups::{Files, Groups, PartitionGroups, PartitionRef, text_column};
use super::overlap::{Overlap, Pairs};
use super::table_facts::TableFacts;
use crate::error::Result;

/// So few delete files are compared one by one.
const FEW: usize = 12;
/// So many data files are looked up partition by partition: what is known of a partition's delete files stays
/// in cache for all of them, and what is known of the files does too.
const TOGETHER: usize = 1 << 15;

/// Delete files by what they can apply to.
#[derive(Debug)]
pub struct DeleteIndex {
    groups: Groups,
    /// The bounds of groups of many equality deletes.
    bounds: Vec<Option<Box<GroupBounds>>>,
    overlap: Overlap,
}

/// Data files whose delete files are looked up.
struct Lookup<'a> {
    files: Files,
    paths: StringArray,
    pairs: Pairs<'a>,
}

/// The partition of the last data file: that of the next is often the same.
#[derive(Default)]
struct Neighbour<'a, 'l> {
    partition: Option<PartitionRef<'l>>,
    groups: Option<&'a PartitionGroups>,
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
        let lookup = Lookup {
            files: Files::of(data)?,
            paths: text_column(data, "file_path")?,
            pairs: self.overlap.with(data)?,
        };
        let rows = 0..data.num_rows();
        if self.groups.by_partition.is_empty() || self.bounds.iter().all(Option::is_none) {
            return self.in_order(rows, &lookup);
        }
        self.by_partition(rows, &lookup)
    }

    /// The runs of some data files, one file after the other.
    fn in_order(&self, files: Range<usize>, lookup: &Lookup<'_>) -> Result<DeleteRuns> {
        let mut found = DeleteRuns::with_capacity(files.len());
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let mut last = Neighbour::default();
        for file in files {
            runs.clear();
            self.find((file, self.groups_of(file, lookup, &mut last)), lookup, &mut runs)?;
            found.push(&mut runs)?;
        }
        Ok(found)
    }

    /// The same where partitions have many delete files.
    fn by_partition(&self, files: Range<usize>, lookup: &Lookup<'_>) -> Result<DeleteRuns> {
        let mut found = DeleteRuns::with_capacity(files.len());
        let mut groups: Vec<Option<&PartitionGroups>> = Vec::new();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let mut places: Vec<Range<usize>> = Vec::new();
        let mut last = Neighbour::default();
        for first in files.clone().step_by(TOGETHER) {
            let block = first..files.end.min(first + TOGETHER);
            groups.clear();
            groups.extend(block.clone().map(|file| self.groups_of(file, lookup, &mut last)));
            runs.clear();
            places.clear();
            places.resize(block.len(), 0..0);
            for at in neighbours(&groups) {
                let start = runs.len();
                let of_file = groups.get(at).copied().flatten();
                self.find((first + at, of_file), lookup, &mut runs)?;
                if let Some(place) = places.get_mut(at) {
                    *place = start..runs.len();
                }
            }
            for place in &places {
                found.push(runs.get_mut(place.clone()).unwrap_or_default())?;
            }
        }
        Ok(found)
    }

    /// The groups of a data file's partition.
    #[inline(always)]
    fn groups_of<'a, 'l>(
        &'a self,
        file: usize,
        lookup: &'l Lookup<'_>,
        last: &mut Neighbour<'a, 'l>,
    ) -> Option<&'a PartitionGroups> {
        let by_partition = &self.groups.by_partition;
        if by_partition.is_empty() {
            return None;
        }
        let key = lookup.files.partition(file);
        match last.partition {
            Some(partition) if partition == key => {}
            _ => *last = Neighbour { partition: Some(key), groups: by_partition.get(&key) },
        }
        last.groups
    }

    fn find(
        &self,
        (file, groups): (usize, Option<&PartitionGroups>),
        lookup: &Lookup<'_>,
        runs: &mut Vec<(u32, u32)>,
    ) -> Result<()> {
        let pairs = &lookup.pairs;
        let sequence = lookup.files.sequence_number(file)?;
        let Groups { by_path, global, .. } = &self.groups;
        if !by_path.is_empty() {
            let group = by_path.get(lookup.paths.value(file)).copied();
            runs.extend(group.and_then(|group| self.positions(group, sequence)));
        }
        if let Some(groups) = groups {
            runs.extend(groups.positions.and_then(|group| self.positions(group, sequence)));
            self.keys(groups.equality, (file, sequence), pairs, runs);
        }
        self.keys(*global, (file, sequence), pairs, runs);
        Ok(())
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

/// The places of data files in an order in which those of the same groups follow each other.
fn neighbours(files: &[Option<&PartitionGroups>]) -> impl Iterator<Item = usize> {
    let numbered = files.iter().zip(0..).map(|(groups, at): (_, u32)| {
        let group = groups.and_then(|groups| groups.equality.or(groups.positions));
        // One number for both is sorted faster than a pair.
        u64::from(group.unwrap_or(u32::MAX)) << 32 | u64::from(at)
    });
    let mut numbered: Vec<u64> = numbered.collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|number| number as u32 as usize)
}

/// Places as first and count; the index has fewer than 2^31 of them.
fn run(places: &Range<usize>) -> (u32, u32) {
    (places.start as u32, places.len() as u32)
}

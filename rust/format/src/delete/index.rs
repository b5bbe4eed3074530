//! The delete files that apply to each data file.
//!
//! A delete file applies by sequence number and by scope: its one data file, its partition (spec and tuple), or the whole
//! table. A lookup takes one hash and one binary search; among many equality deletes of one scope, an interval search
//! finds those with overlapping bounds.

use std::ops::Range;

use arrow_array::{RecordBatch, StringArray};

use super::delete_runs::DeleteRuns;
use super::group_bounds::{GroupBounds, Hulls, Ranges};
use super::groups::{Files, Groups, PartitionGroups, PartitionRef, text_column};
use super::overlap::{Overlap, Pairs};
use super::table_facts::TableFacts;
use crate::error::Result;

/// The most delete files that are compared one by one.
const FEW: usize = 12;
/// Data files per pass, which are looked up partition by partition: the bounds of a partition's delete files then stay
/// in the cache.
const FILES_PER_PASS: usize = 1 << 15;

/// An index of the live delete files of a scan.
#[derive(Debug)]
pub struct DeleteIndex {
    groups: Groups,
    /// The bounds of each group of more than [`FEW`] equality deletes.
    bounds: Vec<Option<Box<GroupBounds>>>,
    overlap: Overlap,
}

/// The data files of a lookup.
struct Lookup<'a> {
    files: Files,
    paths: StringArray,
    pairs: Pairs<'a>,
}

/// The partition of the previous data file, which the next one often shares.
#[derive(Default)]
struct PreviousPartition<'a, 'l> {
    partition: Option<PartitionRef<'l>>,
    groups: Option<&'a PartitionGroups>,
}

impl DeleteIndex {
    /// Index the live delete files of a scan: entry columns with inherited sequence numbers. Without the bounds
    /// columns, equality deletes are paired by sequence number and partition only.
    ///
    /// # Errors
    /// `InvalidArgument` where a column is missing or a sequence number is null, `Corrupt` where
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

    /// Return the rows of the batch of delete files in the order that runs refer to.
    pub fn order(&self) -> &[u32] {
        &self.groups.order
    }

    /// Return the delete files that apply to each data file (entry columns), as runs in [`DeleteIndex::order`].
    ///
    /// # Errors
    /// The errors of [`DeleteIndex::new`]; `InvalidArgument` for more than 2^31 runs.
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

    /// Find the runs of data files in their order.
    fn in_order(&self, files: Range<usize>, lookup: &Lookup<'_>) -> Result<DeleteRuns> {
        let mut found = DeleteRuns::with_capacity(files.len());
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let mut last = PreviousPartition::default();
        for file in files {
            runs.clear();
            self.find((file, self.groups_of(file, lookup, &mut last)), lookup, &mut runs)?;
            found.push(&mut runs)?;
        }
        Ok(found)
    }

    /// Find the runs of data files partition by partition.
    fn by_partition(&self, files: Range<usize>, lookup: &Lookup<'_>) -> Result<DeleteRuns> {
        let mut found = DeleteRuns::with_capacity(files.len());
        let mut groups: Vec<Option<&PartitionGroups>> = Vec::new();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let mut ranges_of_files: Vec<Range<usize>> = Vec::new();
        let mut last = PreviousPartition::default();
        for first in files.clone().step_by(FILES_PER_PASS) {
            let block = first..files.end.min(first + FILES_PER_PASS);
            groups.clear();
            groups.extend(block.clone().map(|file| self.groups_of(file, lookup, &mut last)));
            runs.clear();
            ranges_of_files.clear();
            ranges_of_files.resize(block.len(), 0..0);
            for at in by_group(&groups) {
                let start = runs.len();
                let of_file = groups.get(at).copied().flatten();
                self.find((first + at, of_file), lookup, &mut runs)?;
                if let Some(position) = ranges_of_files.get_mut(at) {
                    *position = start..runs.len();
                }
            }
            for position in &ranges_of_files {
                found.push(runs.get_mut(position.clone()).unwrap_or_default())?;
            }
        }
        Ok(found)
    }

    /// Return the groups of a data file's partition.
    #[inline(always)]
    fn groups_of<'a, 'l>(
        &'a self,
        file: usize,
        lookup: &'l Lookup<'_>,
        last: &mut PreviousPartition<'a, 'l>,
    ) -> Option<&'a PartitionGroups> {
        let by_partition = &self.groups.by_partition;
        if by_partition.is_empty() {
            return None;
        }
        let key = lookup.files.partition(file);
        match last.partition {
            Some(partition) if partition == key => {}
            _ => *last = PreviousPartition { partition: Some(key), groups: by_partition.get(&key) },
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

    /// Return the run of position deletes that apply, including position deletes of the data file's own commit.
    fn positions(&self, group: u32, sequence: i64) -> Option<(u32, u32)> {
        let newer = self.from(group, |found| found < sequence)?;
        Some(run(&newer))
    }

    /// Append the runs of equality deletes that apply: newer than the data file, with bounds that overlap.
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
        let may = |position: &usize| {
            order.get(*position).is_some_and(|row| pairs.might_share_key(file, *row as usize))
        };
        let ranges = bounds.and_then(|bounds| bounds.ranges.as_ref());
        if let Some(ranges) = ranges.filter(|_| newer.len() > FEW) {
            let mut take = |position: usize| {
                if position >= newer.start && may(&position) {
                    runs.push(run(&(position..position + 1)));
                }
            };
            if ranges.overlapping(file, pairs, &mut take) {
                return;
            }
        }
        runs.extend(newer.filter(may).map(|position| run(&(position..position + 1))));
    }

    /// Return the range of a group from the first sequence number that is not `older`.
    fn from(&self, group: u32, older: impl Fn(i64) -> bool) -> Option<Range<usize>> {
        let span = self.groups.spans.get(group as usize)?;
        let numbers = self.groups.sequence_numbers.get(span.clone())?;
        Some(span.start + numbers.partition_point(|found| older(*found))..span.end)
    }
}

/// Return the indices of data files, ordered by group.
fn by_group(files: &[Option<&PartitionGroups>]) -> impl Iterator<Item = usize> {
    let numbered = files.iter().zip(0..).map(|(groups, at): (_, u32)| {
        let group = groups.and_then(|groups| groups.equality.or(groups.positions));
        // One number sorts faster than a pair.
        u64::from(group.unwrap_or(u32::MAX)) << 32 | u64::from(at)
    });
    let mut numbered: Vec<u64> = numbered.collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|number| number as u32 as usize)
}

/// Return a range as first and count; the index has fewer than 2^31 delete files.
fn run(ranges_of_files: &Range<usize>) -> (u32, u32) {
    (ranges_of_files.start as u32, ranges_of_files.len() as u32)
}

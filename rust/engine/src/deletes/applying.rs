//! Select the delete files of a data file from ranges of delete files, without a visit to each file.
//!
//! A thousand data files with a thousand delete files each would otherwise take a million steps.

use std::collections::BTreeMap;
use std::ops::Range;

use super::delete_file::DeleteFile;
use super::key_groups::KeyGroup;

/// The members of key groups that apply to a data file: ascending ranges of the numbers of delete files in each group.
pub(crate) type AppliedGroups = BTreeMap<usize, Vec<Range<u32>>>;

/// The delete files of a scan by content, in the order of the plan.
#[derive(Clone)]
pub(crate) struct ApplyingFiles {
    /// Indexes of the files that hold neither positions nor keys.
    others: Vec<usize>,
    blocks: Vec<Block>,
}

/// Consecutive equality delete files of one partition, which a plan keeps together.
#[derive(Clone)]
struct Block {
    files: Range<usize>,
    /// The key groups of the files, one for each set of compared fields.
    groups: Vec<usize>,
}

impl ApplyingFiles {
    /// Index the delete files of a plan; `members` has the group of each equality delete file that a task needs.
    pub(crate) fn new(files: &[DeleteFile], members: &[Option<usize>]) -> Self {
        let others = files.iter().enumerate();
        let others = others.filter(|(_, file)| !file.holds_positions() && !file.holds_keys());
        let mut blocks: Vec<Block> = Vec::new();
        let mut scope = None;
        for (index, (file, group)) in files.iter().zip(members).enumerate() {
            let Some(group) = group else { continue };
            match blocks.last_mut().filter(|_| scope == Some(&file.scope)) {
                Some(block) => {
                    block.files.end = index + 1;
                    if !block.groups.contains(group) {
                        block.groups.push(*group);
                    }
                }
                None => blocks.push(Block { files: index..index + 1, groups: vec![*group] }),
            }
            scope = Some(&file.scope);
        }
        Self { others: others.map(|(index, _)| index).collect(), blocks }
    }

    /// The index of the first file among `ranges` that holds neither positions nor keys.
    pub(crate) fn other(&self, ranges: &[Range<usize>]) -> Option<usize> {
        ranges.iter().find_map(|range| within(&self.others, range).first().copied())
    }

    /// The members of `groups` among `ranges`, which are ascending.
    pub(crate) fn groups(&self, ranges: &[Range<usize>], groups: &[KeyGroup]) -> AppliedGroups {
        let mut applied = AppliedGroups::new();
        for range in ranges {
            let first = self.blocks.partition_point(|block| block.files.end <= range.start);
            let blocks = self.blocks.iter().skip(first);
            for block in blocks.take_while(|block| block.files.start < range.end) {
                let files = range.start.max(block.files.start)..range.end.min(block.files.end);
                for number in &block.groups {
                    let Some(group) = groups.get(*number) else { continue };
                    // Plans number delete files in 32 bits.
                    let [start, end] = [files.start, files.end]
                        .map(|end| group.files.partition_point(|file| *file < end) as u32);
                    if start < end {
                        push(applied.entry(*number).or_default(), start..end);
                    }
                }
            }
        }
        applied
    }
}

/// Add a range after others, as a part of the last one if they touch.
fn push(ranges: &mut Vec<Range<u32>>, range: Range<u32>) {
    match ranges.last_mut().filter(|last| last.end >= range.start) {
        Some(last) => last.end = last.end.max(range.end),
        None => ranges.push(range),
    }
}

/// The values of an ascending slice in a range.
fn within<'a>(values: &'a [usize], range: &Range<usize>) -> &'a [usize] {
    let [start, end] =
        [range.start, range.end].map(|end| values.partition_point(|value| *value < end));
    values.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::key_groups::key_groups;
    use super::*;

    fn file(content: i32, equality_ids: &[i32], partition: usize) -> DeleteFile {
        DeleteFile {
            content,
            location: String::new(),
            file_format: "PARQUET".into(),
            record_count: 1,
            equality_ids: equality_ids.to_vec(),
            scope: (0, partition.to_string()),
        }
    }

    fn indexed(files: &[DeleteFile]) -> (Vec<KeyGroup>, ApplyingFiles) {
        let all = 0..files.len();
        let (groups, members) = key_groups(files, std::iter::once(&all));
        (groups, ApplyingFiles::new(files, &members))
    }

    #[test]
    fn delete_files_equal_those_of_a_walk_over_all_files() {
        // Two partitions, position delete files between files of three keys, and a file of unknown content.
        let content =
            |number: usize| if number == 57 { 7 } else { 1 + i32::from(!number.is_multiple_of(5)) };
        let ids = |number: usize| [[1].as_slice(), &[2], &[1, 2]][number * number % 3];
        let files: Vec<_> =
            (0..90).map(|number| file(content(number), ids(number), number / 40)).collect();
        let (groups, applying) = indexed(&files);
        for start in 0..90 {
            for ranges in [vec![0..start, start..90], vec![start / 2..start, 80..90]] {
                let mut found = BTreeMap::new();
                for (number, members) in applying.groups(&ranges, &groups) {
                    let members = members.into_iter().flatten();
                    let indexes = members.map(|member| groups[number].files[member as usize]);
                    found.extend(indexes.map(|index| (index, groups[number].field_ids.clone())));
                }
                let all: Vec<usize> = ranges.iter().cloned().flatten().collect();
                let files = &files;
                let of = |wanted: i32| {
                    all.iter().copied().filter(move |index| files[*index].content == wanted)
                };
                let expected: BTreeMap<_, _> =
                    of(2).map(|index| (index, files[index].equality_ids.clone())).collect();
                assert_eq!(found, expected);
                assert_eq!(applying.other(&ranges), of(7).next());
            }
        }
    }

    #[test]
    fn each_data_file_has_one_range_of_each_key_however_many_delete_files_apply() {
        let files: Vec<_> = (0..1_000).map(|number| file(2, &[1 + number % 2], 0)).collect();
        let (groups, applying) = indexed(&files);
        assert_eq!((groups.len(), applying.blocks.len()), (2, 1));
        for start in 0..999 {
            let applied = applying.groups(std::slice::from_ref(&(start..1_000)), &groups);
            assert_eq!(applied.values().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
        }
        let partitions: Vec<_> = (0..1_000).map(|number| file(2, &[1], number / 10)).collect();
        let (groups, applying) = indexed(&partitions);
        assert_eq!((groups.len(), applying.blocks.len()), (100, 100));
        for start in (0..1_000).step_by(10) {
            let ranges = start + 5..start + 10;
            let applied = applying.groups(std::slice::from_ref(&ranges), &groups);
            let members: Vec<_> = applied[&(start / 10)].iter().cloned().flatten().collect();
            assert_eq!((applied.len(), members), (1, vec![5, 6, 7, 8, 9]));
        }
    }
}

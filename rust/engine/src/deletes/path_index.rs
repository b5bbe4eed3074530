//! The loaded position delete files of each data file.
//!
//! Position delete files of a whole partition apply to each of its data files, and hold positions of few. Ten thousand data
//! files with ten thousand delete files would otherwise take a hundred million lookups.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use icefloe_format::delete::PositionDeletes;
use roaring::RoaringBitmap;

/// The loaded position delete files by the data files that they hold positions of.
pub(crate) struct PathIndex {
    /// Indexes of delete files that hold no positions.
    others: RoaringBitmap,
    loaded: RwLock<Loaded>,
}

#[derive(Clone, Default)]
struct Loaded {
    /// Indexes of position delete files that are added, and of all files that hold no positions.
    files: RoaringBitmap,
    /// Indexes of delete files by the path of a data file.
    by_path: HashMap<String, Vec<usize>>,
}

impl Clone for PathIndex {
    /// A forked child clones the index of its parent, of which another thread may hold the lock forever: the clone has
    /// no position delete file then, and they are added again.
    fn clone(&self) -> Self {
        match self.loaded.try_read().map(|loaded| loaded.clone()) {
            Ok(loaded) => Self { others: self.others.clone(), loaded: RwLock::new(loaded) },
            Err(_) => Self::of(self.others.clone()),
        }
    }
}

impl PathIndex {
    /// Create an index without position delete files. `others` are the indexes of delete files that hold no positions.
    pub(crate) fn new(others: impl Iterator<Item = usize>) -> Self {
        Self::of(others.map(number).collect())
    }

    fn of(others: RoaringBitmap) -> Self {
        let loaded = Loaded { files: others.clone(), ..Loaded::default() };
        Self { others, loaded: RwLock::new(loaded) }
    }

    /// Return the indexes of position delete files in `ranges` that are not added.
    pub(crate) fn missing(&self, ranges: &[Range<usize>]) -> Vec<usize> {
        let mut wanted = RoaringBitmap::new();
        for range in ranges {
            wanted.insert_range(number(range.start)..number(range.end));
        }
        wanted -= &self.loaded.read().unwrap_or_else(PoisonError::into_inner).files;
        wanted.into_iter().map(|index| index as usize).collect()
    }

    /// Add the position delete file of an index, unless it is added.
    pub(crate) fn add(&self, index: usize, positions: &PositionDeletes) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        if !loaded.files.insert(number(index)) {
            return;
        }
        for path in positions.paths() {
            match loaded.by_path.get_mut(path) {
                Some(files) => files.push(index),
                None => drop(loaded.by_path.insert(path.to_owned(), vec![index])),
            }
        }
    }

    /// Return the indexes of the added delete files in `ranges` that hold positions of a data file, ascending.
    pub(crate) fn of_file(&self, path: &str, ranges: &[Range<usize>]) -> Vec<usize> {
        let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
        let files = loaded.by_path.get(path).into_iter().flatten().copied();
        let applies = |index: &usize| ranges.iter().any(|range| range.contains(index));
        let mut applying: Vec<usize> = files.filter(applies).collect();
        applying.sort_unstable();
        applying
    }
}

/// Plans number delete files in 32 bits.
fn number(index: usize) -> u32 {
    index as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deletes_of(paths: &[&str]) -> PositionDeletes {
        let mut deletes = PositionDeletes::default();
        for path in paths {
            deletes.insert_slice(path, &[1]).unwrap();
        }
        deletes
    }

    fn files(index: &PathIndex, path: &str, range: Range<usize>) -> Vec<usize> {
        index.of_file(path, std::slice::from_ref(&range))
    }

    #[test]
    fn data_file_has_the_delete_files_of_its_path_in_its_ranges() {
        let index = PathIndex::new([3, 4].into_iter());
        assert_eq!(index.missing(&[0..2, 3..6]), [0, 1, 5]);
        index.add(5, &deletes_of(&["a", "b"]));
        index.add(0, &deletes_of(&["a"]));
        index.add(0, &deletes_of(&["a"]));
        index.add(1, &deletes_of(&["b"]));
        assert_eq!(index.missing(&[0..2, 3..6]), Vec::<usize>::new());
        assert_eq!(index.missing(&[0..4, 4..7]), [2, 6]);
        assert_eq!(index.of_file("a", &[0..2, 3..6]), [0, 5]);
        assert_eq!(files(&index, "a", 1..6), [5]);
        assert_eq!(files(&index, "b", 0..6), [1, 5]);
        assert_eq!(files(&index, "c", 0..6), Vec::<usize>::new());
    }

    #[test]
    fn clone_of_a_locked_index_misses_all_position_delete_files() {
        let index = PathIndex::new(std::iter::once(2));
        index.add(0, &deletes_of(&["a"]));
        assert_eq!(files(&index.clone(), "a", 0..1), [0]);
        assert_eq!(index.clone().missing(&[0..1, 2..4]), [3]);
        let _locked = index.loaded.write().unwrap();
        assert_eq!(index.clone().missing(&[0..1, 2..4]), [0, 3]);
    }
}

//! Which changes are left of those of equal rows, and which of them are halves of an update.

use crate::error::{Error, Result};

/// One row that was inserted or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Hash of all columns.
    pub row: u128,
    /// Hash of the columns that tell which row it is.
    pub key: u128,
    /// Place among the changes, in the order in which they were made.
    pub number: u64,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Whether it is told if it is left. Others take part all the same.
    pub wanted: bool,
}

/// A change that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// The change.
    pub number: u64,
    /// The change that it is told as: the first of equal rows since all changes of them were last undone, as the
    /// Java reference has it.
    pub told_as: u64,
    /// Whether it is half of an update.
    pub half: bool,
}

/// What is left of changes, as far as it is wanted, once those of equal rows that undo each other are taken out, the newest first. They may
/// come in any order, all changes of equal rows among them. If `keyed`, a deletion and an insertion with the same key
/// are halves of an update; then all changes of a key must be among them.
///
/// # Errors
/// `InvalidArgument` for a key that is both deleted and inserted, and more than once.
pub fn left_of(changes: &mut [Change], keyed: bool) -> Result<Vec<Left>> {
    changes.sort_unstable_by_key(|change| (change.row, change.number));
    let mut left = vec![];
    let mut open: Vec<Change> = vec![];
    for equal in changes.chunk_by(|one, other| one.row == other.row) {
        open.clear();
        for change in equal {
            match open.last() {
                Some(last) if last.deleted != change.deleted => drop(open.pop()),
                _ => open.push(*change),
            }
        }
        let Some(first) = open.first().map(|first| first.number) else { continue };
        left.extend(open.iter().map(|change| (*change, first)));
    }
    if keyed {
        return updates(left);
    }
    let told = left.into_iter().filter(|(change, _)| change.wanted);
    Ok(told.map(|(change, told_as)| Left { number: change.number, told_as, half: false }).collect())
}

fn updates(mut left: Vec<(Change, u64)>) -> Result<Vec<Left>> {
    left.sort_unstable_by_key(|(change, _)| (change.key, change.number));
    let mut told = Vec::with_capacity(left.len());
    for same in left.chunk_by(|(one, _), (other, _)| one.key == other.key) {
        let before = same.iter().filter(|(change, _)| change.deleted).count();
        let after = same.len() - before;
        if before > 0 && after > 0 && same.len() > 2 {
            let reason = format!(
                "they do not tell rows apart: {before} rows with the same values were deleted and {after} inserted at once"
            );
            return Err(Error::invalid("identifier columns", reason));
        }
        let half = before == 1 && after == 1;
        let halves = same.iter().filter(|(change, _)| change.wanted);
        told.extend(halves.map(|(change, told_as)| Left {
            number: change.number,
            told_as: *told_as,
            half,
        }));
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes as `-a`, a deletion, or `+a`; after a colon the key. Rows that begin with x are not wanted.
    fn changes(text: &str) -> Vec<Change> {
        let parts = text.split(' ').zip(0..).map(|(change, number)| {
            let (row, key) = change[1..].split_once(':').unwrap_or((&change[1..], ""));
            let hash = |text: &str| text.bytes().fold(0, |hash, byte| hash << 8 | u128::from(byte));
            let (deleted, wanted) = (change.starts_with('-'), !row.starts_with('x'));
            Change { row: hash(row), key: hash(key), number, deleted, wanted }
        });
        parts.collect()
    }

    fn left(text: &str, keyed: bool) -> String {
        let mut changes = changes(text);
        changes.reverse();
        let mut left = left_of(&mut changes, keyed).unwrap();
        left.sort_unstable_by_key(|left| left.number);
        let words = text.split(' ').collect::<Vec<_>>();
        let told = left.iter().map(|left| {
            let half = if left.half { "!" } else { "" };
            format!("{}@{}{half}", words[left.number as usize], left.told_as)
        });
        told.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn equal_changes_undo_each_other_as_often_as_they_occur() {
        assert_eq!(left("-a -b +b +c", false), "-a@0 +c@3");
        assert_eq!(left("-a -a -a +a", false), "-a@0 -a@0");
        assert_eq!(left("-a +a +a", false), "+a@2");
        assert_eq!(left("+a -a +a", false), "+a@2");
        assert_eq!(left("+a +b +a -b", false), "+a@0 +a@0");
    }

    #[test]
    fn halves_of_updates_share_a_key() {
        let text = "-a:1 -b:2 +c:2 +d:3 +e:3 -f:4 +f:4";
        assert_eq!(left(text, true), "-a:1@0 -b:2@1! +c:2@2! +d:3@3 +e:3@4");
        assert_eq!(left("-xa:1 +b:1 +xb:2 -xc:3 +xd:3", true), "+b:1@1!");
        assert_eq!(left("-x +b", false), "+b@1");
        let ambiguous = left_of(&mut changes("-a:1 +b:1 +c:1"), true).unwrap_err();
        assert!(ambiguous.to_string().contains("1 rows"));
    }
}

//! Net changes: equal rows that were inserted and deleted cancel, and a delete and an insert of one key are an update.

use crate::error::{Error, Result};

/// One row that was inserted or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Hash of all columns.
    pub row: u128,
    /// Hash of the key columns.
    pub key: u128,
    /// Ordinal in commit order.
    pub number: u64,
    /// Whether the row was deleted.
    pub deleted: bool,
    /// Whether to report the change. Other changes cancel and pair as well.
    pub wanted: bool,
}

/// A change that remains after cancelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetChange {
    /// Ordinal of the change.
    pub number: u64,
    /// Ordinal of the change that it is reported as: the first change of equal rows since all of them last cancelled,
    /// as in the Java reference.
    pub reported_as: u64,
    /// Whether the change is half of an update.
    pub half: bool,
}

/// Return the changes to report after inserts and deletes of equal rows have cancelled, the newest first.
///
/// `changes` are in any order and include all changes of equal rows. If `keyed`, they include all changes of a key, and a
/// delete and an insert of the same key are the halves of an update.
///
/// # Errors
/// `InvalidArgument` for a key that is both deleted and inserted, and more than once.
pub fn net_changes(changes: &mut [Change], keyed: bool) -> Result<Vec<NetChange>> {
    changes.sort_unstable_by_key(|change| (change.row, change.number));
    let mut net = vec![];
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
        net.extend(open.iter().map(|change| (*change, first)));
    }
    if keyed {
        return with_updates(net);
    }
    let wanted = net.into_iter().filter(|(change, _)| change.wanted);
    let changes = wanted.map(|(change, reported_as)| NetChange {
        number: change.number,
        reported_as,
        half: false,
    });
    Ok(changes.collect())
}

/// Return the net changes, of which a delete and an insert of one key are the halves of an update.
fn with_updates(mut net: Vec<(Change, u64)>) -> Result<Vec<NetChange>> {
    net.sort_unstable_by_key(|(change, _)| (change.key, change.number));
    let mut changes = Vec::with_capacity(net.len());
    for same in net.chunk_by(|(one, _), (other, _)| one.key == other.key) {
        let before = same.iter().filter(|(change, _)| change.deleted).count();
        let after = same.len() - before;
        if before > 0 && after > 0 && same.len() > 2 {
            let reason = format!(
                "expected values that identify one row, got {before} deleted and {after} inserted rows with equal values in one snapshot"
            );
            return Err(Error::invalid("identifier columns", reason));
        }
        let half = before == 1 && after == 1;
        let halves = same.iter().filter(|(change, _)| change.wanted);
        changes.extend(halves.map(|(change, reported_as)| NetChange {
            number: change.number,
            reported_as: *reported_as,
            half,
        }));
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes as `-a`, a deletion, or `+a`; after a colon the key. Changes of rows whose name begins with x are not reported.
    fn changes(text: &str) -> Vec<Change> {
        let parts = text.split(' ').zip(0..).map(|(change, number)| {
            let (row, key) = change[1..].split_once(':').unwrap_or((&change[1..], ""));
            let hash = |text: &str| text.bytes().fold(0, |hash, byte| hash << 8 | u128::from(byte));
            let (deleted, wanted) = (change.starts_with('-'), !row.starts_with('x'));
            Change { row: hash(row), key: hash(key), number, deleted, wanted }
        });
        parts.collect()
    }

    fn net(text: &str, keyed: bool) -> String {
        let mut changes = changes(text);
        changes.reverse();
        let mut net = net_changes(&mut changes, keyed).unwrap();
        net.sort_unstable_by_key(|change| change.number);
        let words = text.split(' ').collect::<Vec<_>>();
        let changes = net.iter().map(|change| {
            let half = if change.half { "!" } else { "" };
            format!("{}@{}{half}", words[change.number as usize], change.reported_as)
        });
        changes.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn equal_changes_cancel_as_often_as_they_occur() {
        assert_eq!(net("-a -b +b +c", false), "-a@0 +c@3");
        assert_eq!(net("-a -a -a +a", false), "-a@0 -a@0");
        assert_eq!(net("-a +a +a", false), "+a@2");
        assert_eq!(net("+a -a +a", false), "+a@2");
        assert_eq!(net("+a +b +a -b", false), "+a@0 +a@0");
    }

    #[test]
    fn halves_of_updates_share_a_key() {
        let text = "-a:1 -b:2 +c:2 +d:3 +e:3 -f:4 +f:4";
        assert_eq!(net(text, true), "-a:1@0 -b:2@1! +c:2@2! +d:3@3 +e:3@4");
        assert_eq!(net("-xa:1 +b:1 +xb:2 -xc:3 +xd:3", true), "+b:1@1!");
        assert_eq!(net("-x +b", false), "+b@1");
        let ambiguous = net_changes(&mut changes("-a:1 +b:1 +c:1"), true).unwrap_err();
        assert!(ambiguous.to_string().contains("1 deleted and 2 inserted"));
    }
}

//! Delete files of one scope as intervals between the bounds of one field.
//!
//! Those that begin before a data file ends are a prefix in the order of lower bounds; of the
//! prefix a tree of maxima finds those that end after it begins. A lookup costs what it finds.

use super::overlap::{OfFile, Overlap, Pairs};
use crate::error::Result;

/// A delete file: its data sequence number and its row.
type Delete = (i64, i32);

/// Delete files by the bounds of one field.
#[derive(Debug)]
pub(super) struct Ranges {
    /// The field's place among the equality fields.
    field: usize,
    /// Delete files that the field's bounds part from no data file.
    unbounded: Vec<Delete>,
    /// The others by ascending lower bound.
    by_lower: Vec<Delete>,
    /// Their rows by ascending upper bound.
    by_upper: Vec<i32>,
    /// Places in `by_upper`, in the order of `by_lower`, below the maxima of pairs of them: the
    /// children of node `n` are `2n` and `2n + 1`, the leaves begin at half the length.
    latest: Vec<u32>,
}

impl Ranges {
    /// Index delete files by the field that parts most of them; `None` where none does.
    ///
    /// # Errors
    /// `InvalidArgument` where bounds cannot be compared.
    pub(super) fn new(
        rows: &[i32],
        sequence_numbers: &[i64],
        overlap: &Overlap,
    ) -> Result<Option<Self>> {
        let Some((field, bounded)) = overlap.parting(rows) else { return Ok(None) };
        let Some((lower, upper)) = overlap.orders(field)? else { return Ok(None) };
        let (mut by_lower, mut unbounded) = (Vec::new(), Vec::new());
        for ((row, sequence), bounded) in rows.iter().zip(sequence_numbers).zip(bounded) {
            let group = if bounded { &mut by_lower } else { &mut unbounded };
            group.push((*sequence, *row));
        }
        let place = |row: i32| row.cast_unsigned() as usize;
        by_lower.sort_by(|left: &Delete, right| lower(place(left.1), place(right.1)));
        let mut ends: Vec<u32> = (0..).take(by_lower.len()).collect();
        let row_at = |at: u32| by_lower.get(at as usize).map_or(0, |(_, row)| *row);
        ends.sort_by(|left, right| upper(place(row_at(*left)), place(row_at(*right))));
        let by_upper = ends.iter().map(|at| row_at(*at)).collect();
        let latest = maxima(&ends);
        Ok(Some(Self { field, unbounded, by_lower, by_upper, latest }))
    }

    /// The delete files whose range overlaps that of a data file, and those without a range; `None`
    /// where the data file has none.
    pub(super) fn overlapping(
        &self,
        file: usize,
        pairs: &Pairs<'_>,
    ) -> Option<impl Iterator<Item = Delete> + '_> {
        let of_file: OfFile<'_> = pairs.of_file(self.field, file)?;
        let begun = self.by_lower.partition_point(|(_, row)| !of_file.is_below(*row));
        let ended = self.by_upper.partition_point(|row| of_file.is_above(*row));
        let ended = u32::try_from(ended).unwrap_or(u32::MAX);
        let found = Found { latest: &self.latest, begun, ended, stack: vec![1] };
        let found = found.filter_map(move |at| self.by_lower.get(at).copied());
        Some(self.unbounded.iter().copied().chain(found))
    }
}

/// `ends` names leaves by ascending upper bound: the tree of the leaves' places in that order.
fn maxima(ends: &[u32]) -> Vec<u32> {
    let leaves = ends.len().next_power_of_two();
    let mut tree = vec![0; leaves * 2];
    for (rank, leaf) in (0..).zip(ends) {
        if let Some(slot) = tree.get_mut(leaves + *leaf as usize) {
            *slot = rank;
        }
    }
    for node in (1..leaves).rev() {
        tree[node] = tree[2 * node].max(tree[2 * node + 1]);
    }
    tree
}

/// Leaves before `begun` whose rank is `ended` or more.
struct Found<'a> {
    latest: &'a [u32],
    begun: usize,
    ended: u32,
    stack: Vec<usize>,
}

impl Iterator for Found<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let leaves = self.latest.len() / 2;
        while let Some(node) = self.stack.pop() {
            if self.latest.get(node).is_none_or(|latest| *latest < self.ended) {
                continue;
            }
            // The first leaf below the node.
            let levels = leaves.ilog2() - node.ilog2();
            let first = (node << levels) - leaves;
            if first >= self.begun {
                continue;
            }
            if node >= leaves {
                return Some(node - leaves);
            }
            self.stack.extend([2 * node + 1, 2 * node]);
        }
        None
    }
}

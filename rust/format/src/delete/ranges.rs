//! Delete files of one scope as intervals between the bounds of one field.
//!
//! Those that begin before a data file ends are a prefix in the order of lower bounds; of the
//! prefix a tree of maxima finds those that end after it begins. A lookup costs what it finds.

use super::overlap::{Overlap, Pairs};

/// Delete files by the bounds of one field.
#[derive(Debug)]
pub(super) struct Ranges {
    /// The field's place among the equality fields.
    field: usize,
    /// Places of delete files that the field's bounds part from no data file.
    unbounded: Vec<usize>,
    /// Those of the others by ascending lower bound.
    bounded: Vec<usize>,
    /// Their lower bounds, ascending.
    lower: Vec<i64>,
    /// Their upper bounds, ascending.
    upper: Vec<i64>,
    /// Places in `upper`, in the order of `lower`, below the maxima of pairs of them: the children
    /// of node `n` are `2n` and `2n + 1`, the leaves begin at half the length.
    latest: Vec<u32>,
}

impl Ranges {
    /// Index delete files, whose places begin at `first`, by the field that parts most of them; `None`
    /// where none does.
    pub(super) fn new(rows: &[u32], first: usize, overlap: &Overlap) -> Option<Self> {
        let (field, is_bounded) = overlap.parting(rows)?;
        let mut unbounded = Vec::new();
        let mut bounded: Vec<((i64, i64), usize)> = Vec::new();
        for ((row, place), is_bounded) in rows.iter().zip(first..).zip(is_bounded) {
            match overlap.bounds(field, *row as usize).filter(|_| is_bounded) {
                Some(bounds) => bounded.push((bounds, place)),
                None => unbounded.push(place),
            }
        }
        bounded.sort_by_key(|((lower, _), _)| *lower);
        let lower = bounded.iter().map(|((lower, _), _)| *lower).collect();
        let mut ends: Vec<(i64, u32)> =
            bounded.iter().zip(0..).map(|(((_, upper), _), at)| (*upper, at)).collect();
        ends.sort_unstable();
        let latest = maxima(&ends);
        let upper = ends.into_iter().map(|(upper, _)| upper).collect();
        let bounded = bounded.into_iter().map(|(_, place)| place).collect();
        Some(Self { field, unbounded, bounded, lower, upper, latest })
    }

    /// Give `take` the places of the delete files whose range may overlap that of a data file, and those without a
    /// range; nothing, and false, where the data file has none.
    pub(super) fn overlapping(
        &self,
        file: usize,
        pairs: &Pairs<'_>,
        take: &mut dyn FnMut(usize),
    ) -> bool {
        let Some((lower, upper)) = pairs.bounds(self.field, file) else { return false };
        let begun = self.lower.partition_point(|start| *start <= upper);
        let ended = self.upper.partition_point(|end| *end < lower);
        self.unbounded.iter().copied().for_each(&mut *take);
        self.visit(1, (begun, u32::try_from(ended).unwrap_or(u32::MAX)), take);
        true
    }

    /// The leaves below a node that lie before `begun` and whose place is `ended` or later.
    fn visit(&self, node: usize, (begun, ended): (usize, u32), take: &mut dyn FnMut(usize)) {
        let leaves = self.latest.len() / 2;
        let first = (node << (leaves.ilog2() - node.ilog2())) - leaves;
        if first >= begun || self.latest.get(node).is_none_or(|latest| *latest < ended) {
            return;
        }
        if node >= leaves {
            self.bounded.get(first).copied().into_iter().for_each(take);
            return;
        }
        self.visit(2 * node, (begun, ended), take);
        self.visit(2 * node + 1, (begun, ended), take);
    }
}

/// The tree of the leaves' places in `ends`, which are upper bounds in order and their leaves.
fn maxima(ends: &[(i64, u32)]) -> Vec<u32> {
    let leaves = ends.len().next_power_of_two();
    let mut tree = vec![0; leaves * 2];
    for (place, (_, leaf)) in (0..).zip(ends) {
        if let Some(slot) = tree.get_mut(leaves + *leaf as usize) {
            *slot = place;
        }
    }
    for node in (1..leaves).rev() {
        tree[node] = tree[2 * node].max(tree[2 * node + 1]);
    }
    tree
}

//! Delete files of one scope as intervals between the bounds of one field.
//!
//! Those that begin before a data file ends are a prefix in the order of lower bounds; of the
//! prefix a tree of maxima finds those that end after it begins. A lookup costs what it finds.

use super::overlap::{Overlap, Pairs};

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
    bounded: Vec<Delete>,
    /// Their lower bounds, ascending.
    lower: Vec<i64>,
    /// Their upper bounds, ascending.
    upper: Vec<i64>,
    /// Places in `upper`, in the order of `lower`, below the maxima of pairs of them: the children
    /// of node `n` are `2n` and `2n + 1`, the leaves begin at half the length.
    latest: Vec<u32>,
}

impl Ranges {
    /// Index delete files by the field that parts most of them; `None` where none does.
    pub(super) fn new(rows: &[i32], sequence_numbers: &[i64], overlap: &Overlap) -> Option<Self> {
        let (field, is_bounded) = overlap.parting(rows)?;
        let numbers = overlap.numbers(field)?;
        let of = |numbers: &[i64], row: i32| {
            numbers.get(row.cast_unsigned() as usize).copied().unwrap_or_default()
        };
        let (mut bounded, mut unbounded) = (Vec::new(), Vec::new());
        for ((row, sequence), is_bounded) in rows.iter().zip(sequence_numbers).zip(is_bounded) {
            let group = if is_bounded { &mut bounded } else { &mut unbounded };
            group.push((*sequence, *row));
        }
        bounded.sort_by_key(|(_, row): &Delete| of(&numbers.lower, *row));
        let lower = bounded.iter().map(|(_, row)| of(&numbers.lower, *row)).collect();
        let mut ends: Vec<(i64, u32)> =
            bounded.iter().zip(0..).map(|((_, row), at)| (of(&numbers.upper, *row), at)).collect();
        ends.sort_unstable();
        let latest = maxima(&ends);
        let upper = ends.into_iter().map(|(upper, _)| upper).collect();
        Some(Self { field, unbounded, bounded, lower, upper, latest })
    }

    /// Give `take` the delete files whose range may overlap that of a data file, and those without a
    /// range; nothing, and false, where the data file has none.
    pub(super) fn overlapping(
        &self,
        file: usize,
        pairs: &Pairs<'_>,
        take: &mut dyn FnMut(Delete),
    ) -> bool {
        let Some((lower, upper)) = pairs.bounds(self.field, file) else { return false };
        let begun = self.lower.partition_point(|start| *start <= upper);
        let ended = self.upper.partition_point(|end| *end < lower);
        self.unbounded.iter().copied().for_each(&mut *take);
        self.visit(1, (begun, u32::try_from(ended).unwrap_or(u32::MAX)), take);
        true
    }

    /// The leaves below a node that lie before `begun` and whose place is `ended` or later.
    fn visit(&self, node: usize, (begun, ended): (usize, u32), take: &mut dyn FnMut(Delete)) {
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

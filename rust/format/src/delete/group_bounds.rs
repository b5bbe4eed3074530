//! The bounds of one group's equality deletes, searched for all of them at once.

use super::overlap::{Extent, Overlap, Pairs};

/// What the bounds of a group's equality deletes tell of many of them at once.
#[derive(Debug)]
pub(super) struct GroupBounds {
    pub(super) hulls: Option<Hulls>,
    pub(super) ranges: Option<Ranges>,
}

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

/// What all of a group's newest delete files hold, for each of their fields.
#[derive(Debug)]
pub(super) struct Hulls {
    fields: Vec<FieldHulls>,
}

#[derive(Debug)]
struct FieldHulls {
    /// The field's place among the equality fields.
    field: usize,
    /// For the `n` newest delete files at `n - 1`: whether all may hold nulls, and values; the highest
    /// of their lower bounds, the lowest of their upper bounds.
    inner: Vec<Extent>,
}

impl Hulls {
    /// `None` where the delete files compare different fields.
    pub(super) fn new(rows: &[u32], overlap: &Overlap) -> Option<Self> {
        let fields = overlap.common_fields(rows)?.iter().map(|field| {
            let mut inner: Vec<Extent> = Vec::with_capacity(rows.len());
            for row in rows.iter().rev() {
                let one = overlap.extent(*field, *row as usize)?;
                inner.push(inner.last().map_or(one, |all| Extent {
                    nulls: all.nulls && one.nulls,
                    values: all.values && one.values,
                    lower: all.lower.max(one.lower),
                    upper: all.upper.min(one.upper),
                }));
            }
            Some(FieldHulls { field: *field, inner })
        });
        Some(Self { fields: fields.collect::<Option<_>>()? })
    }

    /// Whether a data file may share a null or a value with each of the newest delete files in every
    /// field.
    pub(super) fn all_overlap(&self, file: usize, newest: usize, pairs: &Pairs<'_>) -> bool {
        self.fields.iter().all(|field| {
            let inner = newest.checked_sub(1).and_then(|at| field.inner.get(at));
            let shared = |(all, data): (&Extent, Extent)| {
                // Numbers that are the same may stand for bounds that differ.
                let overlap = data.lower < all.upper && all.lower < data.upper;
                data.nulls && all.nulls || data.values && all.values && overlap
            };
            inner.zip(pairs.extent(field.field, file)).is_some_and(shared)
        })
    }
}

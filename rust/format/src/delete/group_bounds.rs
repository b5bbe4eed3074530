//! The bounds of one group's equality deletes, searched for all of them at once.

use super::overlap::{Extent, Overlap, Pairs};

/// The bounds of a group of many equality deletes.
#[derive(Debug)]
pub(super) struct GroupBounds {
    pub(super) hulls: Option<Hulls>,
    pub(super) ranges: Option<Ranges>,
}

/// The delete files of a group as intervals between the bounds of one field.
///
/// Intervals that start before a data file ends are a prefix in the order of lower bounds; the tree of maxima finds
/// the deletes of the prefix that end after the file starts. The cost of a lookup grows with its results.
#[derive(Debug)]
pub(super) struct Ranges {
    /// Index of the field among the equality fields.
    field: usize,
    /// Positions of the delete files without both bounds of the field.
    unbounded: Vec<usize>,
    /// Positions of the other delete files, by ascending lower bound.
    bounded: Vec<usize>,
    /// Their lower bounds, ascending.
    lower: Vec<i64>,
    /// Their upper bounds, ascending.
    upper: Vec<i64>,
    /// A tree of maxima over indices in `upper`, whose leaves are in the order of `lower`: the children of node `n` are
    /// `2n` and `2n + 1`, and the leaves start at half the length.
    latest: Vec<u32>,
}

impl Ranges {
    /// Index delete files, whose positions start at `first`, by the field with most bounds; `None` if no field has
    /// bounds.
    pub(super) fn new(rows: &[u32], first: usize, overlap: &Overlap) -> Option<Self> {
        let (field, is_bounded) = overlap.best_bounded_field(rows)?;
        let mut unbounded = Vec::new();
        let mut bounded: Vec<((i64, i64), usize)> = Vec::new();
        for ((row, position), is_bounded) in rows.iter().zip(first..).zip(is_bounded) {
            match overlap.bounds(field, *row as usize).filter(|_| is_bounded) {
                Some(bounds) => bounded.push((bounds, position)),
                None => unbounded.push(position),
            }
        }
        bounded.sort_by_key(|((lower, _), _)| *lower);
        let lower = bounded.iter().map(|((lower, _), _)| *lower).collect();
        let mut ends: Vec<(i64, u32)> =
            bounded.iter().zip(0..).map(|(((_, upper), _), at)| (*upper, at)).collect();
        ends.sort_unstable();
        let latest = maxima(&ends);
        let upper = ends.into_iter().map(|(upper, _)| upper).collect();
        let bounded = bounded.into_iter().map(|(_, position)| position).collect();
        Some(Self { field, unbounded, bounded, lower, upper, latest })
    }

    /// Pass the positions of the delete files that may overlap a data file to `take`, including those without bounds.
    /// Returns false, without a call, if the data file has no bounds.
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

    /// Pass the leaves below a node that are before `begun` and whose index in `upper` is at least `ended`.
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

/// Build the tree of maxima from the sorted upper bounds, each with its leaf.
fn maxima(ends: &[(i64, u32)]) -> Vec<u32> {
    let leaves = ends.len().next_power_of_two();
    let mut tree = vec![0; leaves * 2];
    for (position, (_, leaf)) in (0..).zip(ends) {
        if let Some(slot) = tree.get_mut(leaves + *leaf as usize) {
            *slot = position;
        }
    }
    for node in (1..leaves).rev() {
        tree[node] = tree[2 * node].max(tree[2 * node + 1]);
    }
    tree
}

/// The range that the newest delete files of a group have in common, for each field.
///
/// If every delete file spans all keys, comparing each of them with each data file costs the product of both. The
/// highest lower bound and the lowest upper bound of the newest files answer for all of them at once.
#[derive(Debug)]
pub(super) struct Hulls {
    fields: Vec<FieldHulls>,
}

#[derive(Debug)]
struct FieldHulls {
    /// Index of the field among the equality fields.
    field: usize,
    /// At `n - 1`, for the `n` newest delete files: whether all may have nulls, and values; the highest lower bound and
    /// the lowest upper bound.
    inner: Vec<Extent>,
}

impl Hulls {
    /// Create the common ranges; `None` where the delete files have different equality fields.
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

    /// Whether a data file may share a null or a value with every one of the newest delete files, in every field.
    pub(super) fn all_overlap(&self, file: usize, newest: usize, pairs: &Pairs<'_>) -> bool {
        self.fields.iter().all(|field| {
            let inner = newest.checked_sub(1).and_then(|at| field.inner.get(at));
            let shared = |(all, data): (&Extent, Extent)| {
                // Equal numbers may stand for different bounds.
                let overlap = data.lower < all.upper && all.lower < data.upper;
                data.nulls && all.nulls || data.values && all.values && overlap
            };
            inner.zip(pairs.extent(field.field, file)).is_some_and(shared)
        })
    }
}

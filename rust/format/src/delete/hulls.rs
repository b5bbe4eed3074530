//! Whether a data file overlaps every newer equality delete of a scope, answered at once.
//!
//! Where keys come in no order, each file spans them all: comparing each with each would cost the
//! product of both. Of the newest delete files, however many, the highest lower bound and the
//! lowest upper bound tell whether a range meets them all.

use super::overlap::{Extent, Overlap, Pairs};

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

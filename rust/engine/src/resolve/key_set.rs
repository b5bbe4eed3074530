//! The keys of equality deletes that apply to a data file.

use std::ops::Range;
use std::sync::Arc;

use icefloe_format::delete::{EqualityKeys, KeyRange};
use icefloe_format::predicate::{
    BoundLeaf, BoundPredicate, Operator, Predicate, Term, UnboundLeaf, bind,
};
use icefloe_format::spec::Schema;

use super::prune::prune;
use crate::error::Result;

/// Keys of equality delete files that compare the same fields.
#[derive(Clone)]
pub(crate) struct KeySet {
    pub(crate) field_ids: Vec<i32>,
    /// The key fields as a schema of their own.
    pub(crate) schema: Arc<Schema>,
    pub(crate) keys: Arc<EqualityKeys>,
    /// The delete files whose keys apply, as ascending ranges of their numbers; all of them if `None`.
    pub(crate) sources: Option<Arc<[Range<u32>]>>,
    /// A predicate that every row with one of the keys satisfies.
    pub(crate) bounds: BoundPredicate,
}

impl KeySet {
    /// Return the keys of `field_ids`, fields of `schema`, from all of their files.
    ///
    /// # Errors
    /// `InvalidArgument` for a field that the schema lacks.
    pub(crate) fn new(
        field_ids: Vec<i32>,
        schema: Arc<Schema>,
        keys: EqualityKeys,
    ) -> Result<Self> {
        let bounds = key_bounds(&field_ids, &schema, &keys.ranges())?;
        Ok(Self { field_ids, schema, keys: Arc::new(keys), sources: None, bounds })
    }
}

/// Return a predicate that every row with one of the keys satisfies, made of the range of each key field.
///
/// # Errors
/// `InvalidArgument` for a field that the schema lacks.
fn key_bounds(field_ids: &[i32], schema: &Schema, ranges: &[KeyRange]) -> Result<BoundPredicate> {
    let mut all = Predicate::AlwaysTrue;
    for (id, range) in field_ids.iter().zip(ranges) {
        // A schema of the field alone: fields of several schemas may share a name.
        let alone = prune(schema, &[*id]);
        let Some(name) = alone.full_name(*id) else { continue };
        let present =
            UnboundLeaf { op: Operator::NotNull, term: Term::Reference(name), literals: vec![] };
        let Predicate::Leaf(present) = bind(&Predicate::Leaf(present), &alone, true)? else {
            continue;
        };
        let leaf = |op, literals| Predicate::Leaf(BoundLeaf { op, literals, ..present.clone() });
        let values = match (&range.values, range.has_values) {
            (Some((least, most)), _) => leaf(Operator::GtEq, vec![least.clone()])
                .and(leaf(Operator::LtEq, vec![most.clone()])),
            (None, true) => Predicate::AlwaysTrue,
            (None, false) => Predicate::AlwaysFalse,
        };
        let null = match range.has_null {
            true => leaf(Operator::IsNull, vec![]),
            false => Predicate::AlwaysFalse,
        };
        all = all.and(values.or(null));
    }
    Ok(all)
}

//! One partition field that questions about its column are projected on, and what can be said of its values.

use super::bind::set_leaf;
use super::literal::{ordinal, ordinal_datum};
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate};
use crate::error::Result;
use crate::spec::{Datum, PartitionField, PrimitiveType};
use crate::transform::Transform;

/// Which rows a projection must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Inclusive,
    Strict,
}

/// One partition field to project on.
pub(super) struct Target<'a> {
    pub(super) field: &'a PartitionField,
    pub(super) source: PrimitiveType,
    pub(super) direction: Direction,
}

impl Target<'_> {
    /// Whether old writers may have given rows of one result before 1970 the next one up.
    pub(super) fn may_be_misplaced(&self) -> bool {
        match self.field.transform {
            Transform::Year | Transform::Month => true,
            Transform::Day | Transform::Hour => self.source != PrimitiveType::Date,
            _ => false,
        }
    }

    /// A leaf about the partition field.
    pub(super) fn leaf(&self, op: Operator, literals: Vec<Datum>) -> Result<BoundPredicate> {
        Ok(Predicate::Leaf(BoundLeaf {
            op,
            field_id: self.field.field_id,
            field_type: self.field.transform.result_type(&self.source)?,
            transform: None,
            name: self.field.name.clone(),
            nested: false,
            literals,
        }))
    }

    /// A leaf about the transformed first literal.
    pub(super) fn transformed(
        &self,
        op: Operator,
        leaf: &BoundLeaf,
    ) -> Result<Option<BoundPredicate>> {
        match leaf.literals.first().map(|datum| self.apply(datum)).transpose()?.flatten() {
            Some(datum) => self.leaf(op, vec![datum]).map(Some),
            None => Ok(None),
        }
    }

    /// Equal values have equal results, so `=` and IN project inclusively, their negations
    /// strictly.
    pub(super) fn equality(&self, leaf: &BoundLeaf) -> Result<Option<BoundPredicate>> {
        use Operator::{Eq, In, NotEq, NotIn};
        let set_op = match (self.direction, leaf.op) {
            (Direction::Inclusive, Eq | In) => In,
            (Direction::Strict, NotEq | NotIn) => NotIn,
            _ => return Ok(None),
        };
        let mut results = Vec::with_capacity(leaf.literals.len());
        for datum in &leaf.literals {
            let Some(result) = self.apply(datum)? else { return Ok(None) };
            results.extend(
                self.misplaced(&result).filter(|_| ordinal(&result).is_some_and(|n| n < 0)),
            );
            results.push(result);
        }
        match set_leaf(set_op, results) {
            Some((op, literals)) => self.leaf(op, literals).map(Some),
            None => Ok(None),
        }
    }

    /// Old writers rounded times before 1970 towards zero, one too high. Where that was so, the
    /// partition value they gave to rows of this one.
    pub(super) fn misplaced(&self, result: &Datum) -> Option<Datum> {
        if self.may_be_misplaced() { moved(result, 1) } else { None }
    }

    pub(super) fn apply(&self, datum: &Datum) -> Result<Option<Datum>> {
        self.field.transform.apply(datum)
    }
}

/// The value `step` units away; `None` at the end of the type.
pub(super) fn moved(datum: &Datum, step: i128) -> Option<Datum> {
    ordinal_datum(&datum.primitive_type(), ordinal(datum)?.checked_add(step)?)
}

//! Projection: converts a predicate on columns to a predicate on partition values.
//!
//! The inclusive projection is true for the partition of every matching row. The strict projection is true only for
//! partitions whose rows all match.

use std::cmp::Ordering;
use std::num::NonZeroU32;

use super::literal::{ordinal, ordinal_datum};
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate, set_leaf};
use crate::error::Result;
use crate::spec::{Datum, PartitionField, PartitionSpec, PrimitiveType, Schema, Transform};

/// Project a predicate inclusively: the result is true for every partition with a matching row. Its leaves refer to
/// partition field ids.
///
/// # Errors
/// `InvalidArgument` where a transform does not apply to its source column.
pub fn project_inclusive(
    predicate: &BoundPredicate,
    schema: &Schema,
    spec: &PartitionSpec,
) -> Result<BoundPredicate> {
    let project = |leaf: &BoundLeaf| project_leaf(leaf, schema, spec, Direction::Inclusive);
    predicate.push_not_down().try_map(&mut { project })
}

/// Project a predicate strictly: the result is true only for partitions whose rows all match. Its leaves refer to
/// partition field ids.
///
/// # Errors
/// `InvalidArgument` where a transform does not apply to its source column.
pub fn project_strict(
    predicate: &BoundPredicate,
    schema: &Schema,
    spec: &PartitionSpec,
) -> Result<BoundPredicate> {
    let project = |leaf: &BoundLeaf| project_leaf(leaf, schema, spec, Direction::Strict);
    predicate.push_not_down().try_map(&mut { project })
}

/// Project one leaf on all partition fields of its column: inclusive projections combine with AND, strict projections
/// with OR.
pub(super) fn project_leaf(
    leaf: &BoundLeaf,
    schema: &Schema,
    spec: &PartitionSpec,
    direction: Direction,
) -> Result<BoundPredicate> {
    let mut projected = match direction {
        Direction::Inclusive => Predicate::AlwaysTrue,
        Direction::Strict => Predicate::AlwaysFalse,
    };
    for field in spec.fields.iter().filter(|field| field.source_id == leaf.field_id) {
        let Some(source) = schema.primitive_type(field.source_id) else { continue };
        let target = Target { field, source, direction };
        if let Some(one) = target.project(leaf)? {
            let one = target.with_wrapped_partitions(leaf, one)?;
            projected = match direction {
                Direction::Inclusive => projected.and(one),
                Direction::Strict => projected.or(one),
            };
        }
    }
    Ok(projected)
}

impl Target<'_> {
    /// Project a leaf; `None` where it implies nothing about the field.
    fn project(&self, leaf: &BoundLeaf) -> Result<Option<BoundPredicate>> {
        use Operator::{IsNan, IsNull, NotNan, NotNull};
        if let Some(transform) = &leaf.transform {
            return self.term(leaf, transform);
        }
        match (&self.field.transform, leaf.op) {
            (Transform::Void | Transform::Unknown(_), _) => Ok(None),
            (Transform::Identity, op) => self.leaf(op, leaf.literals.clone()).map(Some),
            // Every other transform returns null exactly for null.
            (_, IsNull | NotNull) => self.leaf(leaf.op, Vec::new()).map(Some),
            (_, IsNan | NotNan) => Ok(None),
            (Transform::Bucket(_), _) => self.equality(leaf),
            (Transform::Truncate(width), _) if self.is_byte_string() => {
                project_prefix(self, leaf, *width)
            }
            _ => self.ordered(leaf),
        }
    }

    /// Project a leaf with a transform, on a field of the same transform or of identity.
    fn term(&self, leaf: &BoundLeaf, transform: &Transform) -> Result<Option<BoundPredicate>> {
        match &self.field.transform {
            same if same == transform => project_results(self, leaf),
            Transform::Identity => {
                let (field_id, name) = (self.field.field_id, self.field.name.clone());
                let over_values = BoundLeaf { field_id, name, nested: false, ..leaf.clone() };
                Ok(Some(Predicate::Leaf(over_values)))
            }
            _ => Ok(None),
        }
    }

    fn is_numeric(&self) -> bool {
        matches!(self.field.transform, Transform::Truncate(_))
    }

    fn is_byte_string(&self) -> bool {
        matches!(self.source, PrimitiveType::String | PrimitiveType::Binary)
    }

    /// Project a comparison on a transform of integers that preserves order: numeric truncate and time.
    fn ordered(&self, leaf: &BoundLeaf) -> Result<Option<BoundPredicate>> {
        use Direction::{Inclusive, Strict};
        use Operator::{Gt, GtEq, Lt, LtEq};
        let (op, step) = match (self.direction, leaf.op) {
            (Inclusive, Lt) => (LtEq, -1),
            (Inclusive, LtEq) => (LtEq, 0),
            (Inclusive, Gt) => (GtEq, 1),
            (Inclusive, GtEq) => (GtEq, 0),
            (Strict, Lt) => (Lt, 0),
            (Strict, LtEq) => (Lt, 1),
            (Strict, Gt) => (Gt, 0),
            (Strict, GtEq) => (Gt, -1),
            _ => return self.equality(leaf),
        };
        // The least and the greatest value of a type have no neighbour.
        let Some(moved) = leaf.literals.first().and_then(|datum| offset_by(datum, step)) else {
            return Ok(None);
        };
        let Some(result) = self.apply(&moved)? else { return Ok(None) };
        if self.is_numeric() && ordinal(&result) > ordinal(&moved) {
            return Ok(None);
        }
        let negative_limit = if self.direction == Inclusive { -1 } else { 0 };
        let widened = matches!((self.direction, op), (Inclusive, LtEq) | (Strict, Gt))
            && ordinal(&result).is_some_and(|n| n <= negative_limit);
        let result = match self.misplaced(&result) {
            Some(next) if widened => next,
            _ => result,
        };
        self.leaf(op, vec![result]).map(Some)
    }
}

/// The kind of a projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Inclusive,
    Strict,
}

/// A partition field to project on.
pub(super) struct Target<'a> {
    pub(super) field: &'a PartitionField,
    pub(super) source: PrimitiveType,
    pub(super) direction: Direction,
}

impl Target<'_> {
    /// Return whether old writers may have stored times before 1970 in the next higher partition.
    fn may_be_misplaced(&self) -> bool {
        match self.field.transform {
            Transform::Year | Transform::Month => true,
            Transform::Day | Transform::Hour => self.source != PrimitiveType::Date,
            _ => false,
        }
    }

    /// Return a leaf on the partition field.
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

    /// Return a leaf on the partition field with the transformed first literal.
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

    /// Project an equality: `=` and IN inclusively, their negations strictly, as equal values have equal results.
    fn equality(&self, leaf: &BoundLeaf) -> Result<Option<BoundPredicate>> {
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

    /// Return the partition value that old writers, which rounded times before 1970 towards zero, stored instead of
    /// a result.
    fn misplaced(&self, result: &Datum) -> Option<Datum> {
        if self.may_be_misplaced() { offset_by(result, 1) } else { None }
    }

    pub(super) fn apply(&self, datum: &Datum) -> Result<Option<Datum>> {
        self.field.transform.apply(datum)
    }
}

/// Return the value at a distance of `step` units; `None` where it is out of range.
pub(super) fn offset_by(datum: &Datum, step: i128) -> Option<Datum> {
    ordinal_datum(&datum.primitive_type(), ordinal(datum)?.checked_add(step)?)
}

/// Project a leaf with a transform on a field of the same transform; `None` where it implies nothing.
///
/// The test is unchanged but for old writers, which stored rows of a time `n < 0` in the partition `n + 1`: a
/// partition `p <= 0` may contain rows of `p - 1`.
fn project_results(target: &Target<'_>, leaf: &BoundLeaf) -> Result<Option<BoundPredicate>> {
    if !target.may_be_misplaced() {
        return target.leaf(leaf.op, leaf.literals.clone()).map(Some);
    }
    use Direction::{Inclusive, Strict};
    use Operator::{Eq, Gt, GtEq, In, Lt, LtEq, NotEq, NotIn};
    let below = |datum: &Datum, limit: i128| ordinal(datum).is_some_and(|n| n < limit);
    match (target.direction, leaf.op) {
        (Inclusive, Eq | In) => members(target, In, with_next_partitions(&leaf.literals)),
        (Strict, NotEq | NotIn) => members(target, NotIn, with_next_partitions(&leaf.literals)),
        (Strict, Eq | In) => members(target, In, without(&leaf.literals, |it| below(it, 1))),
        (Inclusive, NotEq | NotIn) => {
            members(target, NotIn, without(&leaf.literals, |it| below(it, 1)))
        }
        (Inclusive, Lt) => widened(target, leaf, |it| below(it, 1)),
        (Inclusive, LtEq) => widened(target, leaf, |it| below(it, 0)),
        (Strict, Gt) => widened(target, leaf, |it| below(it, 0)),
        (Strict, GtEq) => widened(target, leaf, |it| below(it, 1)),
        _ => target.leaf(leaf.op, leaf.literals.clone()).map(Some),
    }
}

/// Return the results, and the partitions in which old writers stored them.
fn with_next_partitions(literals: &[Datum]) -> Vec<Datum> {
    let before = literals.iter().filter(|it| ordinal(it).is_some_and(|n| n < 0));
    before.filter_map(|it| offset_by(it, 1)).chain(literals.iter().cloned()).collect()
}

fn without(literals: &[Datum], dropped: impl Fn(&Datum) -> bool) -> Vec<Datum> {
    literals.iter().filter(|it| !dropped(it)).cloned().collect()
}

fn members(
    target: &Target<'_>,
    op: Operator,
    literals: Vec<Datum>,
) -> Result<Option<BoundPredicate>> {
    match set_leaf(op, literals) {
        Some((op, literals)) => target.leaf(op, literals).map(Some),
        None if op == Operator::In => Ok(Some(Predicate::AlwaysFalse)),
        None => Ok(None),
    }
}

/// Return a comparison with its literal incremented where `affected`.
fn widened(
    target: &Target<'_>,
    leaf: &BoundLeaf,
    affected: impl Fn(&Datum) -> bool,
) -> Result<Option<BoundPredicate>> {
    let moved_up = |it: &Datum| if affected(it) { offset_by(it, 1) } else { Some(it.clone()) };
    match leaf.literals.first().and_then(moved_up) {
        Some(literal) => target.leaf(leaf.op, vec![literal]).map(Some),
        None => Ok(None),
    }
}

/// Project a leaf on the first `width` characters (string) or bytes (binary); `None` where it implies nothing.
fn project_prefix(
    target: &Target<'_>,
    leaf: &BoundLeaf,
    width: NonZeroU32,
) -> Result<Option<BoundPredicate>> {
    use Direction::{Inclusive, Strict};
    use Operator::{Gt, GtEq, Lt, LtEq, NotStartsWith, StartsWith};
    match (target.direction, leaf.op) {
        (Inclusive, Lt | LtEq) => target.transformed(LtEq, leaf),
        (Inclusive, Gt | GtEq) => target.transformed(GtEq, leaf),
        (Strict, Lt | LtEq) => target.transformed(Lt, leaf),
        (Strict, Gt | GtEq) => target.transformed(Gt, leaf),
        (_, StartsWith | NotStartsWith) => starts_with(target, leaf, width),
        _ => target.equality(leaf),
    }
}

fn starts_with(
    target: &Target<'_>,
    leaf: &BoundLeaf,
    width: NonZeroU32,
) -> Result<Option<BoundPredicate>> {
    let Some(Datum::String(prefix)) = leaf.literals.first() else { return Ok(None) };
    let width = usize::try_from(width.get()).unwrap_or(usize::MAX);
    match (prefix.chars().count().cmp(&width), leaf.op, target.direction) {
        (Ordering::Less, op, _) => target.leaf(op, leaf.literals.clone()).map(Some),
        (Ordering::Equal, Operator::StartsWith, _) => {
            target.leaf(Operator::Eq, leaf.literals.clone()).map(Some)
        }
        (Ordering::Equal, _, _) => target.leaf(Operator::NotEq, leaf.literals.clone()).map(Some),
        // The partition value is shorter than the prefix: it can disprove a match but not prove one.
        (Ordering::Greater, Operator::StartsWith, Direction::Inclusive)
        | (Ordering::Greater, Operator::NotStartsWith, Direction::Strict) => {
            target.transformed(leaf.op, leaf)
        }
        (Ordering::Greater, _, _) => Ok(None),
    }
}

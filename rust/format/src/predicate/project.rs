//! Projection: a question about a column becomes one about its partition values.
//!
//! The inclusive projection holds for the partition of every row that satisfies the predicate.
//! The strict projection holds only for partitions whose every row satisfies it.

use super::literal::ordinal;
use super::project_target::{Direction, Target, moved};
use super::project_term::project_results;
use super::project_text::project_prefix;
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate};
use crate::error::Result;
use crate::spec::{Datum, PartitionSpec, PrimitiveType, Schema};
use crate::transform::Transform;

/// What may hold for a partition in which some row satisfies `predicate`. Leaves ask about
/// partition field ids.
///
/// # Errors
/// `InvalidArgument` where a transform cannot take its source column.
pub fn project_inclusive(
    predicate: &BoundPredicate,
    schema: &Schema,
    spec: &PartitionSpec,
) -> Result<BoundPredicate> {
    let project = |leaf: &BoundLeaf| project_leaf(leaf, schema, spec, Direction::Inclusive);
    predicate.push_not_down().try_map(&mut { project })
}

/// What holds only for a partition in which every row satisfies `predicate`. Leaves ask about
/// partition field ids.
///
/// # Errors
/// `InvalidArgument` where a transform cannot take its source column.
pub fn project_strict(
    predicate: &BoundPredicate,
    schema: &Schema,
    spec: &PartitionSpec,
) -> Result<BoundPredicate> {
    let project = |leaf: &BoundLeaf| project_leaf(leaf, schema, spec, Direction::Strict);
    predicate.push_not_down().try_map(&mut { project })
}

/// Several partition fields of one column: each inclusive projection must hold, one strict
/// projection is enough.
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
            projected = match direction {
                Direction::Inclusive => projected.and(one),
                Direction::Strict => projected.or(one),
            };
        }
    }
    Ok(projected)
}

impl Target<'_> {
    /// `None` where nothing can be said.
    fn project(&self, leaf: &BoundLeaf) -> Result<Option<BoundPredicate>> {
        use Operator::{IsNan, IsNull, NotNan, NotNull};
        if let Some(transform) = &leaf.transform {
            return self.term(leaf, transform);
        }
        match (&self.field.transform, leaf.op) {
            (Transform::Void | Transform::Unknown(_), _) => Ok(None),
            (Transform::Identity, op) => self.leaf(op, leaf.literals.clone()).map(Some),
            // Every other transform gives null for null and nothing else.
            (_, IsNull | NotNull) => self.leaf(leaf.op, Vec::new()).map(Some),
            (_, IsNan | NotNan) => Ok(None),
            (Transform::Bucket(_), _) => self.equality(leaf),
            (Transform::Truncate(width), _) if self.is_byte_string() => {
                project_prefix(self, leaf, *width)
            }
            _ => self.ordered(leaf),
        }
    }

    /// A leaf about a transform of the column: the partition field has the results themselves, or
    /// the values to take them of.
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

    /// Transforms of integers that keep their order: numeric truncate and time.
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
        // A literal at the end of its type has no neighbour: nothing is said of it.
        let Some(moved) = leaf.literals.first().and_then(|datum| moved(datum, step)) else {
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
        let projected = self.leaf(op, vec![result])?;
        self.beside_wrapped(op, projected).map(Some)
    }

    /// Truncating the least ints and longs wraps around, to one value that no other row has. That
    /// partition holds lesser rows than its value says.
    fn beside_wrapped(&self, op: Operator, projected: BoundPredicate) -> Result<BoundPredicate> {
        let least = match self.source {
            PrimitiveType::Int => Datum::Int(i32::MIN),
            PrimitiveType::Long => Datum::Long(i64::MIN),
            _ => return Ok(projected),
        };
        let wrapped = match self.apply(&least)? {
            Some(wrapped) if wrapped != least => vec![wrapped],
            _ => return Ok(projected),
        };
        Ok(match (self.direction, op) {
            (Direction::Inclusive, Operator::LtEq) => {
                projected.or(self.leaf(Operator::Eq, wrapped)?)
            }
            (Direction::Strict, Operator::Gt) => {
                projected.and(self.leaf(Operator::NotEq, wrapped)?)
            }
            _ => projected,
        })
    }
}

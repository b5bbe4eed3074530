//! Projection on partitions of integers whose truncation overflows.
//!
//! The multiple below the least ints and longs may be out of range. Their partition is then a value near the greatest
//! one, as in the reference, and they share it with the values that belong there. A column of longs may have been
//! one of ints, so partitions of its older files hold the least ints in the same way.

use std::ops::RangeInclusive;

use super::literal::{ordinal, ordinal_datum};
use super::project::{Direction, Target};
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate, set_leaf};
use crate::error::Result;
use crate::spec::{Datum, PrimitiveType, Transform};

/// The least values of a column and the partition value that their truncation wraps around to.
struct Wrapped {
    values: RangeInclusive<i128>,
    partition: i128,
}

impl Target<'_> {
    /// Correct the projection of a leaf for the partitions that the least ints and longs share with greater values: an
    /// inclusive projection leaves none with a match out, a strict one takes none in with another value.
    pub(super) fn with_wrapped_partitions(
        &self,
        leaf: &BoundLeaf,
        projected: BoundPredicate,
    ) -> Result<BoundPredicate> {
        let (searched, op) = match self.direction {
            Direction::Inclusive => (leaf.op, Operator::In),
            Direction::Strict => (leaf.op.negated(), Operator::NotIn),
        };
        let mut missing = Vec::new();
        for wrapped in self.wrapped()? {
            let compared = match &leaf.transform {
                Some(transform) => self.result_of(transform, *wrapped.values.start())?,
                None => Some(wrapped.values),
            };
            let exists = compared.is_some_and(|values| holds_within(searched, leaf, &values));
            let is_known = match self.direction {
                Direction::Inclusive => holds_at(&projected, wrapped.partition),
                Direction::Strict => !holds_at(&projected, wrapped.partition),
            };
            if exists && !is_known {
                missing.extend(ordinal_datum(&self.source, wrapped.partition));
            }
        }
        let Some((op, partitions)) = set_leaf(op, missing) else { return Ok(projected) };
        let partitions = self.leaf(op, partitions)?;
        Ok(match self.direction {
            Direction::Inclusive => projected.or(partitions),
            Direction::Strict => projected.and(partitions),
        })
    }

    /// Return the partitions of least values that the column may have had.
    fn wrapped(&self) -> Result<Vec<Wrapped>> {
        let Transform::Truncate(width) = self.field.transform else { return Ok(Vec::new()) };
        let least = match self.source {
            PrimitiveType::Int => vec![Datum::Int(i32::MIN)],
            PrimitiveType::Long => vec![Datum::Int(i32::MIN), Datum::Long(i64::MIN)],
            _ => Vec::new(),
        };
        let width = i128::from(width.get());
        let mut found = Vec::new();
        for one in least {
            let (Some(first), Some(result)) = (ordinal(&one), self.apply(&one)?) else { continue };
            if let Some(partition) = ordinal(&result).filter(|it| *it > first) {
                let last = first.div_euclid(width) * width + width - 1;
                found.push(Wrapped { values: first..=last, partition });
            }
        }
        Ok(found)
    }

    /// Return the result of a transform for a value of the column, as a range.
    fn result_of(
        &self,
        transform: &Transform,
        value: i128,
    ) -> Result<Option<RangeInclusive<i128>>> {
        let Some(value) = ordinal_datum(&self.source, value) else { return Ok(None) };
        let result = transform.apply(&value)?;
        Ok(result.and_then(|result| ordinal(&result)).map(|result| result..=result))
    }
}

/// Return whether a projection holds for a partition value.
fn holds_at(projected: &BoundPredicate, partition: i128) -> bool {
    let holds = |side: &BoundPredicate| holds_at(side, partition);
    match projected {
        Predicate::AlwaysTrue => true,
        Predicate::AlwaysFalse => false,
        Predicate::Not(inner) => !holds(inner),
        Predicate::And(left, right) => holds(left) && holds(right),
        Predicate::Or(left, right) => holds(left) || holds(right),
        Predicate::Leaf(leaf) => holds_within(leaf.op, leaf, &(partition..=partition)),
    }
}

/// Return whether an operator holds with the literals of a leaf for at least one integer of a range.
fn holds_within(op: Operator, leaf: &BoundLeaf, values: &RangeInclusive<i128>) -> bool {
    let (least, greatest) = (*values.start(), *values.end());
    let first = leaf.literals.first().and_then(ordinal);
    let mut within = leaf.literals.iter().filter_map(ordinal).filter(|it| values.contains(it));
    match op {
        Operator::Lt => first.is_some_and(|it| least < it),
        Operator::LtEq => first.is_some_and(|it| least <= it),
        Operator::Gt => first.is_some_and(|it| greatest > it),
        Operator::GtEq => first.is_some_and(|it| greatest >= it),
        Operator::Eq | Operator::In => within.next().is_some(),
        // The literals of a leaf are distinct.
        Operator::NotEq | Operator::NotIn => {
            i128::try_from(within.count()).is_ok_and(|count| count <= greatest - least)
        }
        Operator::NotNull | Operator::NotNan => true,
        Operator::IsNull | Operator::IsNan | Operator::StartsWith | Operator::NotStartsWith => {
            false
        }
    }
}

//! Projection on truncated strings and binaries.

use std::cmp::Ordering;
use std::num::NonZeroU32;

use super::project_target::{Direction, Target};
use super::tree::{BoundLeaf, BoundPredicate, Operator};
use crate::error::Result;
use crate::spec::Datum;

/// What a leaf about the source says about its first `width` characters (string) or bytes
/// (binary); `None` where it says nothing.
pub(super) fn project_prefix(
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
        // The partition value keeps less than the prefix: it can refute it, never prove it.
        (Ordering::Greater, Operator::StartsWith, Direction::Inclusive)
        | (Ordering::Greater, Operator::NotStartsWith, Direction::Strict) => {
            target.transformed(leaf.op, leaf)
        }
        (Ordering::Greater, _, _) => Ok(None),
    }
}

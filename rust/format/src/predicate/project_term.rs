//! Projection of a question about a transform on the partition field of that very transform.

use super::bind::set_leaf;
use super::literal::ordinal;
use super::project_target::{Direction, Target, moved};
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate};
use crate::error::Result;
use crate::spec::Datum;

/// The question asked of the partition value. `None` where it says nothing.
///
/// It is the same question, but for old writers: rows of a time `n < 0` may lie in the partition
/// `n + 1`, so that a partition `p <= 0` may have rows of `p - 1`.
pub(super) fn project_results(
    target: &Target<'_>,
    leaf: &BoundLeaf,
) -> Result<Option<BoundPredicate>> {
    if !target.may_be_misplaced() {
        return target.leaf(leaf.op, leaf.literals.clone()).map(Some);
    }
    use Direction::{Inclusive, Strict};
    use Operator::{Eq, Gt, GtEq, In, Lt, LtEq, NotEq, NotIn};
    let below = |datum: &Datum, limit: i128| ordinal(datum).is_some_and(|n| n < limit);
    match (target.direction, leaf.op) {
        (Inclusive, Eq | In) => members(target, In, beside_next(&leaf.literals)),
        (Strict, NotEq | NotIn) => members(target, NotIn, beside_next(&leaf.literals)),
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

/// The results and where old writers put their rows.
fn beside_next(literals: &[Datum]) -> Vec<Datum> {
    let before = literals.iter().filter(|it| ordinal(it).is_some_and(|n| n < 0));
    before.filter_map(|it| moved(it, 1)).chain(literals.iter().cloned()).collect()
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

/// A comparison whose literal moves up by one where `affected`.
fn widened(
    target: &Target<'_>,
    leaf: &BoundLeaf,
    affected: impl Fn(&Datum) -> bool,
) -> Result<Option<BoundPredicate>> {
    let moved_up = |it: &Datum| if affected(it) { moved(it, 1) } else { Some(it.clone()) };
    match leaf.literals.first().and_then(moved_up) {
        Some(literal) => target.leaf(leaf.op, vec![literal]).map(Some),
        None => Ok(None),
    }
}

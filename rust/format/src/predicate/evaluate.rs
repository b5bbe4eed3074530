//! One evaluator over facts about N entries: which might match, and which must match.
//!
//! A leaf splits an entry's rows into nulls, NaN and values. Nulls and NaN satisfy an operator or
//! do not, whatever the literal; for values the bounds either prove that all satisfy it or
//! nothing. Some value might satisfy an operator unless all are proved to satisfy its negation.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_ord::cmp;
use arrow_ord::ord::make_comparator;
use arrow_schema::SortOptions;
use arrow_select::nullif::nullif;

use super::bounds::literal_array;
use super::compare::{datum_bytes, mismatch, satisfies, test_bytes};
use super::stats::{ColumnFacts, ColumnStats};
use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate};
use crate::error::Result;
use crate::spec::PrimitiveType;

/// Which entries might have a row that satisfies the predicate: off proves that none does.
///
/// # Errors
/// Those of the statistics.
pub fn evaluate_inclusive(
    predicate: &BoundPredicate,
    stats: &dyn ColumnStats,
) -> Result<BooleanArray> {
    evaluate(predicate, stats, might_match)
}

/// In which entries every row must satisfy the predicate: on proves that all do.
///
/// # Errors
/// Those of the statistics.
pub fn evaluate_strict(
    predicate: &BoundPredicate,
    stats: &dyn ColumnStats,
) -> Result<BooleanArray> {
    evaluate(predicate, stats, must_match)
}

/// The answer of one leaf for every entry.
pub(super) type LeafRule = fn(&BoundLeaf, &ColumnFacts) -> Result<BooleanBuffer>;

fn evaluate(
    predicate: &BoundPredicate,
    stats: &dyn ColumnStats,
    rule: LeafRule,
) -> Result<BooleanArray> {
    let mut known = HashMap::new();
    let mask = tree(&predicate.push_not_down(), stats, rule, &mut known)?;
    Ok(BooleanArray::new(mask, None))
}

fn tree(
    predicate: &BoundPredicate,
    stats: &dyn ColumnStats,
    rule: LeafRule,
    known: &mut HashMap<i32, ColumnFacts>,
) -> Result<BooleanBuffer> {
    Ok(match predicate {
        Predicate::AlwaysTrue => BooleanBuffer::new_set(stats.entries()),
        Predicate::AlwaysFalse => BooleanBuffer::new_unset(stats.entries()),
        Predicate::And(left, right) => {
            &tree(left, stats, rule, known)? & &tree(right, stats, rule, known)?
        }
        Predicate::Or(left, right) => {
            &tree(left, stats, rule, known)? | &tree(right, stats, rule, known)?
        }
        Predicate::Not(_) => tree(&predicate.push_not_down(), stats, rule, known)?,
        Predicate::Leaf(leaf) => {
            let facts = match known.entry(leaf.field_id) {
                Entry::Occupied(facts) => facts.into_mut(),
                Entry::Vacant(slot) => slot.insert(usable(leaf, stats.facts(leaf)?)?),
            };
            rule(leaf, facts)?
        }
    })
}

fn might_match(leaf: &BoundLeaf, facts: &ColumnFacts) -> Result<BooleanBuffer> {
    let none_of_values = all_values_satisfy(leaf.op.negated(), leaf, facts)?;
    let mut mask = &facts.may_have_values & &!&none_of_values;
    if leaf.op.accepts_null() {
        mask = &mask | &facts.may_be_null;
    }
    if leaf.op.accepts_nan() {
        mask = &mask | &facts.may_be_nan;
    }
    Ok(mask)
}

fn must_match(leaf: &BoundLeaf, facts: &ColumnFacts) -> Result<BooleanBuffer> {
    let mut mask = &!&facts.may_have_values | &all_values_satisfy(leaf.op, leaf, facts)?;
    if !leaf.op.accepts_null() {
        mask = &mask & &!&facts.may_be_null;
    }
    if !leaf.op.accepts_nan() {
        mask = &mask & &!&facts.may_be_nan;
    }
    Ok(mask)
}

/// Implementations disagree on whether uuids order as signed or unsigned numbers, so bounds of a
/// uuid say something only where they are equal.
fn usable(leaf: &BoundLeaf, mut facts: ColumnFacts) -> Result<ColumnFacts> {
    if leaf.field_type != PrimitiveType::Uuid {
        return Ok(facts);
    }
    let Some((lower, upper)) = facts.lower.take().zip(facts.upper.take()) else {
        return Ok(facts);
    };
    let differ = BooleanArray::new(!&equal_bounds(&lower, &upper, leaf)?, None);
    let kept = nullif(&lower, &differ).map_err(|_| mismatch(&lower, &leaf.literals))?;
    facts.lower = Some(kept.clone());
    facts.upper = Some(kept);
    Ok(facts)
}

/// In which entries every value that is neither null nor NaN is proved to satisfy `op`.
fn all_values_satisfy(
    op: Operator,
    leaf: &BoundLeaf,
    facts: &ColumnFacts,
) -> Result<BooleanBuffer> {
    let entries = facts.may_have_values.len();
    let nothing = || Ok(BooleanBuffer::new_unset(entries));
    let literals = leaf.literals.as_slice();
    let on = |bounds: &Option<ArrayRef>, op| match bounds {
        Some(bounds) => satisfies(bounds, op, literals),
        None => nothing(),
    };
    let both = facts.lower.as_ref().zip(facts.upper.as_ref());
    match op {
        Operator::NotNull | Operator::NotNan => Ok(BooleanBuffer::new_set(entries)),
        Operator::IsNull | Operator::IsNan => nothing(),
        Operator::Lt | Operator::LtEq => on(&facts.upper, op),
        Operator::Gt | Operator::GtEq => on(&facts.lower, op),
        Operator::Eq | Operator::In => match both {
            Some((lower, upper)) => {
                Ok(&equal_bounds(lower, upper, leaf)? & &satisfies(lower, op, literals)?)
            }
            None => nothing(),
        },
        Operator::NotEq | Operator::NotIn => {
            let (first, last) = (literals.get(..1), literals.last().map(std::slice::from_ref));
            let Some((first, last)) = first.zip(last) else { return nothing() };
            let below = match &facts.upper {
                Some(upper) => satisfies(upper, Operator::Lt, first)?,
                None => nothing()?,
            };
            let above = match &facts.lower {
                Some(lower) => satisfies(lower, Operator::Gt, last)?,
                None => nothing()?,
            };
            let outside = &below | &above;
            match both {
                Some((lower, upper)) if literals.len() > 1 => {
                    Ok(&outside | &between_literals(lower, upper, leaf)?)
                }
                _ => Ok(outside),
            }
        }
        // What lies between two strings with a prefix has the prefix.
        Operator::StartsWith => Ok(&on(&facts.lower, op)? & &on(&facts.upper, op)?),
        Operator::NotStartsWith => {
            let Some(prefix) = literals.first().and_then(datum_bytes) else { return nothing() };
            let cut = |value: &[u8]| value.get(..prefix.len()).unwrap_or(value).to_vec();
            let above = prefix_test(&facts.lower, entries, |lower| *cut(lower) > *prefix);
            let below = prefix_test(&facts.upper, entries, |upper| *cut(upper) < *prefix);
            Ok(&above | &below)
        }
    }
}

fn prefix_test(
    bounds: &Option<ArrayRef>,
    entries: usize,
    test: impl Fn(&[u8]) -> bool,
) -> BooleanBuffer {
    let mask = bounds.as_ref().and_then(|bounds| {
        let mask = test_bytes(bounds, test)?;
        Some(match bounds.nulls() {
            Some(nulls) => &mask & nulls.inner(),
            None => mask,
        })
    });
    mask.unwrap_or_else(|| BooleanBuffer::new_unset(entries))
}

fn equal_bounds(lower: &ArrayRef, upper: &ArrayRef, leaf: &BoundLeaf) -> Result<BooleanBuffer> {
    let equal = cmp::eq(lower, upper).map_err(|_| mismatch(upper, &leaf.literals))?;
    Ok(match equal.nulls() {
        Some(nulls) => equal.values() & nulls.inner(),
        None => equal.values().clone(),
    })
}

/// In which entries no literal lies within the bounds; literals are sorted.
fn between_literals(lower: &ArrayRef, upper: &ArrayRef, leaf: &BoundLeaf) -> Result<BooleanBuffer> {
    let literals = literal_array(&leaf.field_type, &leaf.literals)?;
    let order = |bounds: &ArrayRef| {
        make_comparator(bounds, &literals, SortOptions::default())
            .map_err(|_| mismatch(bounds, &leaf.literals))
    };
    let (against_lower, against_upper) = (order(lower)?, order(upper)?);
    let count = literals.len();
    Ok(BooleanBuffer::collect_bool(lower.len(), |entry| {
        if lower.is_null(entry) || upper.is_null(entry) {
            return false;
        }
        let (mut from, mut to) = (0, count);
        while from < to {
            let middle = from.midpoint(to);
            if against_lower(entry, middle) == Ordering::Greater {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from == count || against_upper(entry, from) == Ordering::Less
    }))
}

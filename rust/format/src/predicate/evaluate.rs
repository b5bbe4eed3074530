//! Inclusive and strict evaluation over facts about entries: which might match, and which must match.
//!
//! A leaf splits an entry's rows into nulls, NaN and values. Whether an operator is true for null and for NaN does not
//! depend on the literal. For values, the bounds prove that it is true for all of them, or prove nothing. Some value
//! might satisfy an operator unless all values are proved to satisfy its negation. An entry with nulls might match by
//! its values, but `!=` and `not in` never match all of its rows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_ord::cmp;

use super::compare::{Test, datum_bytes, test_bytes, true_where};
use super::leaf_facts::usable;
use super::nodes::{Node, gather};
use super::prefix_keys::PrefixKeys;
use super::stats::{ColumnFacts, ColumnStats};
use super::tree::{BoundLeaf, BoundPredicate, Operator};
use crate::error::Result;
use crate::spec::{Datum, Transform};

/// Return which entries might have a matching row: an unset bit proves that no row matches.
///
/// # Errors
/// Errors of the statistics.
pub fn evaluate_inclusive(
    predicate: &BoundPredicate,
    stats: &dyn ColumnStats,
) -> Result<BooleanArray> {
    Pruner::new(predicate).might_match(stats)
}

/// Return the entries whose rows must all match: a set bit proves that every row matches.
///
/// # Errors
/// Errors of the statistics.
pub fn evaluate_strict(
    predicate: &BoundPredicate,
    stats: &dyn ColumnStats,
) -> Result<BooleanArray> {
    Pruner::new(predicate).must_match(stats)
}

/// A predicate prepared once to prune many batches of entries.
///
/// Evaluation makes one pass over a column of entries per step, and computes the facts of each field once. Sets are
/// searched in logarithmic time, so sets of any size are used.
#[derive(Debug, Clone)]
pub struct Pruner {
    root: Node<BoundLeaf>,
}

impl Pruner {
    /// Prepare a predicate for evaluation.
    pub fn new(predicate: &BoundPredicate) -> Self {
        Self { root: gather(predicate, &mut |leaf| leaf) }
    }

    /// Return which entries might have a matching row; see [`evaluate_inclusive`].
    ///
    /// # Errors
    /// Errors of the statistics.
    pub fn might_match(&self, stats: &dyn ColumnStats) -> Result<BooleanArray> {
        self.evaluate(stats, might_match)
    }

    /// Return which entries have only matching rows; see [`evaluate_strict`].
    ///
    /// # Errors
    /// Errors of the statistics.
    pub fn must_match(&self, stats: &dyn ColumnStats) -> Result<BooleanArray> {
        self.evaluate(stats, must_match)
    }

    fn evaluate(&self, stats: &dyn ColumnStats, rule: LeafRule) -> Result<BooleanArray> {
        let entries = stats.entries();
        let walk =
            |stats: &dyn ColumnStats| Walk { stats, rule, known: HashMap::new() }.mask(&self.root);
        if entries <= ENTRIES_AT_ONCE {
            return Ok(BooleanArray::new(walk(stats)?, None));
        }
        let mut answers = BooleanBufferBuilder::new(entries);
        for start in (0..entries).step_by(ENTRIES_AT_ONCE) {
            let Some(part) = stats.slice(start, ENTRIES_AT_ONCE.min(entries - start)) else {
                return Ok(BooleanArray::new(walk(stats)?, None));
            };
            answers.append_buffer(&walk(part.as_ref())?);
        }
        Ok(BooleanArray::new(answers.finish(), None))
    }
}

/// Entries per pass: the statistics of this many files, with dozens of columns, fit in the second-level cache.
const ENTRIES_AT_ONCE: usize = 2_048;

/// A function that evaluates one leaf for every entry.
type LeafRule = fn(&BoundLeaf, &Known) -> Result<BooleanBuffer>;

/// The facts about a column, with prefix keys of bounds that are byte strings.
struct Known {
    facts: ColumnFacts,
    lower: Option<PrefixKeys>,
    upper: Option<PrefixKeys>,
}

impl Known {
    fn new(facts: ColumnFacts) -> Self {
        let lower = facts.lower.as_ref().and_then(PrefixKeys::of);
        let upper = facts.upper.as_ref().and_then(PrefixKeys::of);
        Self { facts, lower, upper }
    }

    /// Return where the lower bound satisfies a comparison.
    fn lower(&self, op: Operator, literals: &[Datum]) -> Result<BooleanBuffer> {
        self.bound(self.facts.lower.as_ref(), self.lower.as_ref(), op, literals)
    }

    /// Return where the upper bound satisfies a comparison.
    fn upper(&self, op: Operator, literals: &[Datum]) -> Result<BooleanBuffer> {
        self.bound(self.facts.upper.as_ref(), self.upper.as_ref(), op, literals)
    }

    fn bound(
        &self,
        bounds: Option<&ArrayRef>,
        keys: Option<&PrefixKeys>,
        op: Operator,
        literals: &[Datum],
    ) -> Result<BooleanBuffer> {
        let literal = literals.first().and_then(datum_bytes);
        let by_key = keys.zip(literal).and_then(|(keys, literal)| keys.test(op, literal));
        match (by_key, bounds) {
            (Some(mask), _) => Ok(mask),
            (None, Some(bounds)) => Test::new(op, literals).mask(bounds),
            (None, None) => Ok(BooleanBuffer::new_unset(self.facts.may_have_values.len())),
        }
    }
}

/// An evaluation of a predicate.
struct Walk<'a> {
    stats: &'a dyn ColumnStats,
    rule: LeafRule,
    known: HashMap<(i32, Option<Transform>), Known>,
}

impl Walk<'_> {
    fn mask(&mut self, node: &Node<BoundLeaf>) -> Result<BooleanBuffer> {
        let entries = self.stats.entries();
        match node {
            Node::True => Ok(BooleanBuffer::new_set(entries)),
            Node::False => Ok(BooleanBuffer::new_unset(entries)),
            Node::All(parts) => {
                let mut all = BooleanBuffer::new_set(entries);
                for part in parts {
                    all &= &self.mask(part)?;
                    if all.count_set_bits() == 0 {
                        break;
                    }
                }
                Ok(all)
            }
            Node::Any(parts) => {
                let mut any = BooleanBuffer::new_unset(entries);
                for part in parts {
                    any |= &self.mask(part)?;
                    if any.count_set_bits() == entries {
                        break;
                    }
                }
                Ok(any)
            }
            Node::Leaf(leaf) => {
                let facts = match self.known.entry((leaf.field_id, leaf.transform.clone())) {
                    Entry::Occupied(facts) => facts.into_mut(),
                    Entry::Vacant(slot) => {
                        slot.insert(Known::new(usable(leaf, self.stats.facts(leaf)?)?))
                    }
                };
                (self.rule)(leaf, facts)
            }
        }
    }
}

fn might_match(leaf: &BoundLeaf, known: &Known) -> Result<BooleanBuffer> {
    let none_of_values = all_values_satisfy(leaf.op.negated(), leaf, known)?;
    let facts = &known.facts;
    let mut mask = &facts.may_have_values & &!&none_of_values;
    if leaf.op.accepts_null() {
        mask = &mask | &facts.may_be_null;
    }
    if leaf.op.accepts_nan() {
        mask = &mask | &facts.may_be_nan;
    }
    Ok(mask)
}

fn must_match(leaf: &BoundLeaf, known: &Known) -> Result<BooleanBuffer> {
    let facts = &known.facts;
    let mut mask = &!&facts.may_have_values | &all_values_satisfy(leaf.op, leaf, known)?;
    if !leaf.op.accepts_null() {
        mask = &mask & &!&facts.may_be_null;
    }
    if !leaf.op.accepts_nan() {
        mask = &mask & &!&facts.may_be_nan;
    }
    Ok(mask)
}

/// Return the entries whose values other than null and NaN are all proved to satisfy `op`.
fn all_values_satisfy(op: Operator, leaf: &BoundLeaf, known: &Known) -> Result<BooleanBuffer> {
    let facts = &known.facts;
    let entries = facts.may_have_values.len();
    let nothing = || BooleanBuffer::new_unset(entries);
    let literals = leaf.literals.as_slice();
    match op {
        Operator::NotNull | Operator::NotNan => Ok(BooleanBuffer::new_set(entries)),
        Operator::IsNull | Operator::IsNan => Ok(nothing()),
        Operator::Lt | Operator::LtEq => known.upper(op, literals),
        Operator::Gt | Operator::GtEq => known.lower(op, literals),
        Operator::Eq | Operator::In => match facts.lower.as_ref().zip(facts.upper.as_ref()) {
            Some((lower, upper)) => {
                let equal = true_where(cmp::eq(lower, upper), upper, leaf)?;
                Ok(&equal & &known.lower(op, literals)?)
            }
            None => Ok(nothing()),
        },
        Operator::NotEq | Operator::NotIn => none_within(leaf, known),
        // Every string between two strings with a prefix has the prefix.
        Operator::StartsWith => Ok(&known.lower(op, literals)? & &known.upper(op, literals)?),
        Operator::NotStartsWith => {
            let Some(prefix) = literals.first().and_then(datum_bytes) else { return Ok(nothing()) };
            let cut = |value: &[u8]| value.get(..prefix.len()).unwrap_or(value).cmp(prefix);
            let above = prefix_test(&facts.lower, entries, |lower| cut(lower).is_gt());
            let below = prefix_test(&facts.upper, entries, |upper| cut(upper).is_lt());
            Ok(&above | &below)
        }
    }
}

/// Return the entries without a literal between their bounds.
fn none_within(leaf: &BoundLeaf, known: &Known) -> Result<BooleanBuffer> {
    let literals = leaf.literals.as_slice();
    let last = literals.last().map(std::slice::from_ref).unwrap_or_default();
    let below = known.upper(Operator::Lt, literals)?;
    let outside = &below | &known.lower(Operator::Gt, last)?;
    match known.facts.lower.as_ref().zip(known.facts.upper.as_ref()) {
        Some((lower, upper)) if literals.len() > 1 => {
            Ok(&outside | &Test::new(Operator::NotIn, literals).none_between(lower, upper)?)
        }
        _ => Ok(outside),
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

//! Residuals: what is left of a predicate once a file's partition is known.

use std::collections::HashMap;

use arrow_array::BooleanArray;

use super::evaluate::{evaluate_inclusive, evaluate_strict};
use super::partition_stats::PartitionTuples;
use super::project::{Direction, project_leaf};
use super::stats::ColumnStats;
use super::tree::{BoundLeaf, BoundPredicate, Predicate};
use crate::error::Result;
use crate::spec::{Partition, PartitionSpec, Schema};

/// What is left to filter in the files of N partitions, as few predicates as there are.
#[derive(Debug, Clone, PartialEq)]
pub struct Residuals {
    /// The distinct predicates.
    pub predicates: Vec<BoundPredicate>,
    /// For each partition, the index of its predicate.
    pub index: Vec<usize>,
}

/// What is left to filter in a file of one partition. A leaf that the partition proves becomes
/// true, one that it refutes becomes false, the others stay.
///
/// # Errors
/// `InvalidArgument` where the tuple is not of the spec or a transform cannot take its column.
pub fn residual(
    predicate: &BoundPredicate,
    spec: &PartitionSpec,
    schema: &Schema,
    partition: &Partition,
) -> Result<BoundPredicate> {
    let partition_type = spec.partition_type(schema);
    let tuples =
        PartitionTuples::from_partitions(&partition_type, std::slice::from_ref(partition))?;
    let mut found = residuals(predicate, spec, schema, &tuples)?;
    Ok(found.predicates.pop().unwrap_or(Predicate::AlwaysTrue))
}

/// [`residual`] for many partitions of one spec at once.
///
/// # Errors
/// See [`residual`].
pub fn residuals(
    predicate: &BoundPredicate,
    spec: &PartitionSpec,
    schema: &Schema,
    tuples: &PartitionTuples,
) -> Result<Residuals> {
    let predicate = predicate.push_not_down();
    let mut verdicts = Vec::new();
    for leaf in predicate.leaves() {
        verdicts.push(Verdicts::of(leaf, spec, schema, tuples)?);
    }
    let mut known: HashMap<Vec<Verdict>, usize> = HashMap::new();
    let mut predicates = Vec::new();
    let mut index = Vec::with_capacity(tuples.entries());
    for tuple in 0..tuples.entries() {
        let pattern: Vec<Verdict> = verdicts.iter().map(|leaf| leaf.at(tuple)).collect();
        let place = match known.get(&pattern) {
            Some(place) => *place,
            None => {
                predicates.push(simplify(&predicate, &pattern)?);
                known.insert(pattern, predicates.len() - 1);
                predicates.len() - 1
            }
        };
        index.push(place);
    }
    Ok(Residuals { predicates, index })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Verdict {
    Proved,
    Refuted,
    Open,
}

struct Verdicts {
    might_match: BooleanArray,
    must_match: BooleanArray,
}

impl Verdicts {
    fn of(
        leaf: &BoundLeaf,
        spec: &PartitionSpec,
        schema: &Schema,
        tuples: &PartitionTuples,
    ) -> Result<Self> {
        let inclusive = project_leaf(leaf, schema, spec, Direction::Inclusive)?;
        let strict = project_leaf(leaf, schema, spec, Direction::Strict)?;
        Ok(Self {
            might_match: evaluate_inclusive(&inclusive, tuples)?,
            must_match: evaluate_strict(&strict, tuples)?,
        })
    }

    fn at(&self, tuple: usize) -> Verdict {
        if self.must_match.value(tuple) {
            Verdict::Proved
        } else if self.might_match.value(tuple) {
            Verdict::Open
        } else {
            Verdict::Refuted
        }
    }
}

fn simplify(predicate: &BoundPredicate, pattern: &[Verdict]) -> Result<BoundPredicate> {
    let mut verdicts = pattern.iter();
    predicate.try_map(&mut |leaf| {
        Ok(match verdicts.next() {
            Some(Verdict::Proved) => Predicate::AlwaysTrue,
            Some(Verdict::Refuted) => Predicate::AlwaysFalse,
            _ => Predicate::Leaf(leaf.clone()),
        })
    })
}

//! Residuals: the leaves of a predicate that a file's partition does not decide.

use std::collections::HashMap;

use arrow_array::BooleanArray;

use super::evaluate::{evaluate_inclusive, evaluate_strict};
use super::partition_stats::PartitionTuples;
use super::project::{Direction, project_leaf};
use super::stats::ColumnStats;
use super::tree::{BoundLeaf, BoundPredicate, Predicate};
use crate::error::Result;
use crate::spec::{Partition, PartitionSpec, Schema};

/// The distinct residuals of many partitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Residuals {
    /// The distinct residuals.
    pub predicates: Vec<BoundPredicate>,
    /// For each partition, the index of its residual.
    pub index: Vec<usize>,
}

/// Return the residual of a predicate for one partition. Leaves that the partition proves become true, leaves that it
/// disproves become false.
///
/// # Errors
/// `InvalidArgument` where the tuple does not fit the spec or a transform does not apply to its column.
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

/// Return the residuals of a predicate for many partitions of one spec.
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
        let position = match known.get(&pattern) {
            Some(position) => *position,
            None => {
                predicates.push(simplify(&predicate, &pattern)?);
                known.insert(pattern, predicates.len() - 1);
                predicates.len() - 1
            }
        };
        index.push(position);
    }
    Ok(Residuals { predicates, index })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Verdict {
    Proved,
    Disproved,
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
            Verdict::Disproved
        }
    }
}

fn simplify(predicate: &BoundPredicate, pattern: &[Verdict]) -> Result<BoundPredicate> {
    let mut verdicts = pattern.iter();
    predicate.try_map(&mut |leaf| {
        Ok(match verdicts.next() {
            Some(Verdict::Proved) => Predicate::AlwaysTrue,
            Some(Verdict::Disproved) => Predicate::AlwaysFalse,
            _ => Predicate::Leaf(leaf.clone()),
        })
    })
}

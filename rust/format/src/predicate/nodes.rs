//! The form of a predicate for evaluation: without NOT, with flattened chains of AND and OR, and with the equalities of
//! one column merged into one set.

use hashbrown::HashMap;

use super::tree::{BoundLeaf, BoundPredicate, Operator, Predicate, set_leaf};
use crate::spec::Datum;

/// A node; chains of AND or OR have all their parts as children.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node<T> {
    True,
    False,
    All(Vec<Self>),
    Any(Vec<Self>),
    Leaf(T),
}

/// The operator of a chain: AND or OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chain {
    All,
    Any,
}

/// Convert a predicate to nodes. `x = 1 or x in (2, 3)` becomes `x in (1, 2, 3)`, and `x != 1 and x != 2` becomes
/// `x not in (1, 2)`.
pub(super) fn gather<T>(
    predicate: &BoundPredicate,
    make: &mut impl FnMut(BoundLeaf) -> T,
) -> Node<T> {
    node(&predicate.push_not_down(), make)
}

fn node<T>(predicate: &BoundPredicate, make: &mut impl FnMut(BoundLeaf) -> T) -> Node<T> {
    let kind = match predicate {
        Predicate::AlwaysTrue => return Node::True,
        Predicate::AlwaysFalse => return Node::False,
        Predicate::Leaf(leaf) => return Node::Leaf(make(leaf.clone())),
        Predicate::Not(_) => return gather(predicate, make),
        Predicate::And(..) => Chain::All,
        Predicate::Or(..) => Chain::Any,
    };
    let mut parts = Vec::new();
    flatten(predicate, kind, &mut parts);
    let (leaves, others): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| matches!(part, Predicate::Leaf(_)));
    let leaves = leaves.into_iter().filter_map(|part| match part {
        Predicate::Leaf(leaf) => Some(leaf),
        _ => None,
    });
    let mut nodes: Vec<Node<T>> =
        merged(kind, leaves).into_iter().map(|leaf| Node::Leaf(make(leaf))).collect();
    nodes.extend(others.into_iter().map(|part| node(part, make)));
    match kind {
        Chain::All => Node::All(nodes),
        Chain::Any => Node::Any(nodes),
    }
}

fn flatten<'a>(predicate: &'a BoundPredicate, kind: Chain, parts: &mut Vec<&'a BoundPredicate>) {
    let mut open = vec![predicate];
    while let Some(part) = open.pop() {
        match (part, kind) {
            (Predicate::And(left, right), Chain::All)
            | (Predicate::Or(left, right), Chain::Any) => {
                open.push(right);
                open.push(left);
            }
            _ => parts.push(part),
        }
    }
}

/// Merge the equalities of each column into one set, at the position of the first.
fn merged<'a>(kind: Chain, leaves: impl Iterator<Item = &'a BoundLeaf>) -> Vec<BoundLeaf> {
    let (one, many) = match kind {
        Chain::Any => (Operator::Eq, Operator::In),
        Chain::All => (Operator::NotEq, Operator::NotIn),
    };
    let mut positions = HashMap::new();
    let mut found: Vec<BoundLeaf> = Vec::new();
    for leaf in leaves {
        if leaf.op != one && leaf.op != many {
            found.push(leaf.clone());
            continue;
        }
        let position =
            *positions.entry((leaf.field_id, leaf.transform.clone())).or_insert(found.len());
        match found.get_mut(position) {
            Some(set) => set.literals.extend(leaf.literals.iter().cloned()),
            None => found.push(BoundLeaf { op: many, ..leaf.clone() }),
        }
    }
    for position in positions.into_values() {
        if let Some(set) = found.get_mut(position) {
            let literals: Vec<Datum> = std::mem::take(&mut set.literals);
            if let Some((op, literals)) = set_leaf(many, literals) {
                (set.op, set.literals) = (op, literals);
            }
        }
    }
    found
}

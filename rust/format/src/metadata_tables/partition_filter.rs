//! The part of a filter on a metadata table that the partition of a file decides.

use crate::predicate::{BoundLeaf, BoundPredicate, Predicate};
use crate::spec::StructType;

/// Return the inclusive projection of a filter without NOT on the partition tuples of one spec: it is false only for
/// tuples of files that the filter rejects.
///
/// Fields of `unified`, the type of the column `partition`, have the ids of partition fields. Conditions on other
/// columns, and on fields that the spec holds in another type, might hold of any file.
pub fn partition_filter(
    filter: &BoundPredicate,
    unified: &StructType,
    own: &StructType,
) -> BoundPredicate {
    let part = |side: &BoundPredicate| Box::new(partition_filter(side, unified, own));
    match filter {
        Predicate::AlwaysFalse => Predicate::AlwaysFalse,
        Predicate::And(left, right) => Predicate::And(part(left), part(right)),
        Predicate::Or(left, right) => match (*part(left), *part(right)) {
            (Predicate::AlwaysTrue, _) | (_, Predicate::AlwaysTrue) => Predicate::AlwaysTrue,
            (left, right) => Predicate::Or(Box::new(left), Box::new(right)),
        },
        Predicate::Leaf(leaf) if has_field_in_both(leaf, unified, own) => {
            // Every tuple exists, so the struct around the field is never null.
            Predicate::Leaf(BoundLeaf { nested: false, ..leaf.clone() })
        }
        Predicate::AlwaysTrue | Predicate::Not(_) | Predicate::Leaf(_) => Predicate::AlwaysTrue,
    }
}

fn has_field_in_both(leaf: &BoundLeaf, unified: &StructType, own: &StructType) -> bool {
    let has = |fields: &StructType| {
        fields.fields.iter().any(|field| {
            field.id == leaf.field_id && field.field_type.as_primitive() == Some(leaf.field_type)
        })
    };
    leaf.transform.is_none() && has(unified) && has(own)
}

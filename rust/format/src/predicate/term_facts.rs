//! What facts about a column say about a transform of it.

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_ord::cmp;
use arrow_schema::DataType;
use arrow_select::nullif::nullif;

use super::compare::{held, mismatch};
use super::stats::ColumnFacts;
use super::tree::BoundLeaf;
use crate::error::Result;
use crate::spec::PrimitiveType;
use crate::transform::Transform;

/// Facts about the results of a transform, from facts about its source.
///
/// Bounds of the source bound the results of a transform that keeps the order. Those of any other
/// are known where the bounds are equal, for then all values are.
///
/// # Errors
/// Those of the transform.
pub(super) fn facts_of_results(
    leaf: &BoundLeaf,
    transform: &Transform,
    facts: ColumnFacts,
) -> Result<ColumnFacts> {
    let bounds = facts.lower.as_ref().zip(facts.upper.as_ref());
    let bounds = match bounds {
        Some((lower, upper)) if transform.preserves_order() => {
            let results = (apply(leaf, transform, lower)?, apply(leaf, transform, upper)?);
            Some(unwrapped(leaf, lower, upper, results)?)
        }
        Some((lower, upper)) => {
            let known = &held(cmp::eq(lower, upper), upper, leaf)?;
            let result = keep(&apply(leaf, transform, lower)?, known, leaf)?;
            Some((result.clone(), result))
        }
        None => None,
    };
    let (lower, upper) = bounds.unzip();
    let nothing = BooleanBuffer::new_unset(facts.may_be_null.len());
    let facts = ColumnFacts { may_be_nan: nothing, lower: None, upper: None, ..facts };
    facts.with_bounds(&leaf.value_type(), lower, upper)
}

/// Bounds of byte strings are binary, and a string's may be cut within a character.
fn apply(leaf: &BoundLeaf, transform: &Transform, bounds: &ArrayRef) -> Result<ArrayRef> {
    let source = match (bounds.data_type(), leaf.field_type, transform) {
        (DataType::Binary, PrimitiveType::String, Transform::Truncate(_)) => {
            // What is no text becomes null, which is unknown.
            let texts = cast(bounds, &DataType::Utf8).map_err(|_| mismatch(bounds, &[]))?;
            return transform.apply_array(&texts, &leaf.field_type);
        }
        (DataType::Binary, _, _) => PrimitiveType::Binary,
        _ => leaf.field_type,
    };
    transform.apply_array(bounds, &source)
}

/// Truncating the least ints and longs wraps around: what may hold one of them beside others has no
/// bounds.
fn unwrapped(
    leaf: &BoundLeaf,
    lower: &ArrayRef,
    upper: &ArrayRef,
    (least, greatest): (ArrayRef, ArrayRef),
) -> Result<(ArrayRef, ArrayRef)> {
    if !matches!(leaf.field_type, PrimitiveType::Int | PrimitiveType::Long)
        || !matches!(leaf.transform, Some(Transform::Truncate(_)))
    {
        return Ok((least, greatest));
    }
    let in_order = held(cmp::lt_eq(&least, lower), lower, leaf)?;
    let known = &in_order | &held(cmp::eq(lower, upper), upper, leaf)?;
    Ok((keep(&least, &known, leaf)?, keep(&greatest, &known, leaf)?))
}

fn keep(bounds: &ArrayRef, known: &BooleanBuffer, leaf: &BoundLeaf) -> Result<ArrayRef> {
    let unknown = BooleanArray::new(!known, None);
    nullif(bounds, &unknown).map_err(|_| mismatch(bounds, &leaf.literals))
}

//! The facts that a leaf's literals are compared with: facts of its column, of a transform's results, or of UUIDs
//! whose bounds a writer ordered in one of two ways.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_ord::cmp;
use arrow_schema::DataType;
use arrow_select::nullif::nullif;

use super::compare::{mismatch, true_where};
use super::stats::ColumnFacts;
use super::tree::BoundLeaf;
use crate::error::Result;
use crate::spec::{PrimitiveType, Transform};

/// Return the facts that a leaf's literals are compared with.
pub(super) fn usable(leaf: &BoundLeaf, mut facts: ColumnFacts) -> Result<ColumnFacts> {
    if let Some(transform) = &leaf.transform {
        return facts_of_results(leaf, transform, facts);
    }
    // Writers order UUIDs in two ways.
    if leaf.field_type == PrimitiveType::Uuid {
        let entries = facts.may_have_values.len();
        let bounds = bounds_by_bytes(facts.lower.as_ref(), facts.upper.as_ref(), entries);
        facts.lower = Some(Arc::new(bounds.0));
        facts.upper = Some(Arc::new(bounds.1));
    }
    Ok(facts)
}

/// Derive facts about the results of a transform from facts about its source.
///
/// A transform that preserves order maps bounds to bounds. For other transforms, the result is known where the bounds
/// are equal, as then all values are.
///
/// # Errors
/// Errors of the transform.
fn facts_of_results(
    leaf: &BoundLeaf,
    transform: &Transform,
    facts: ColumnFacts,
) -> Result<ColumnFacts> {
    let bounds = facts.lower.as_ref().zip(facts.upper.as_ref());
    let bounds = match bounds {
        Some((lower, upper)) if transform.preserves_order() => {
            let results = (apply(leaf, transform, lower)?, apply(leaf, transform, upper)?);
            Some(without_overflow(leaf, lower, upper, results)?)
        }
        Some((lower, upper)) => {
            let known = &true_where(cmp::eq(lower, upper), upper, leaf)?;
            let result = null_unless(&apply(leaf, transform, lower)?, known, leaf)?;
            Some((result.clone(), result))
        }
        None => None,
    };
    let (lower, upper) = bounds.unzip();
    let nothing = BooleanBuffer::new_unset(facts.may_be_null.len());
    let facts = ColumnFacts { may_be_nan: nothing, lower: None, upper: None, ..facts };
    facts.with_bounds(&leaf.value_type(), lower, upper)
}

/// Transform bounds. Bounds of byte strings are binary, and a string's bound may be truncated within a character.
fn apply(leaf: &BoundLeaf, transform: &Transform, bounds: &ArrayRef) -> Result<ArrayRef> {
    let source = match (bounds.data_type(), leaf.field_type, transform) {
        (DataType::Binary, PrimitiveType::String, Transform::Truncate(_)) => {
            // Invalid UTF-8 becomes null, which is unknown.
            let texts = cast(bounds, &DataType::Utf8).map_err(|_| mismatch(bounds, &[]))?;
            return transform.apply_array(&texts, &leaf.field_type);
        }
        (DataType::Binary, _, _) => PrimitiveType::Binary,
        _ => leaf.field_type,
    };
    transform.apply_array(bounds, &source)
}

/// Remove the bounds of entries in which truncation wraps around: truncating the least ints and longs overflows.
fn without_overflow(
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
    let in_order = true_where(cmp::lt_eq(&least, lower), lower, leaf)?;
    let known = &in_order | &true_where(cmp::eq(lower, upper), upper, leaf)?;
    Ok((null_unless(&least, &known, leaf)?, null_unless(&greatest, &known, leaf)?))
}

fn null_unless(bounds: &ArrayRef, known: &BooleanBuffer, leaf: &BoundLeaf) -> Result<ArrayRef> {
    let unknown = BooleanArray::new(!known, None);
    nullif(bounds, &unknown).map_err(|_| mismatch(bounds, &leaf.literals))
}

/// The sign bits of both halves. Flipping them converts the order of signed halves to the order of bytes.
const SIGNS: u128 = 1 << 127 | 1 << 63;
/// The sign bit of a half.
const SIGN: u64 = 1 << 63;

/// Return the least and the greatest value by bytes between two bounds, in either order of the writer. A missing bound is
/// unknown. `None` where both are missing, or the bounds are in neither order.
fn enclosing(lower: Option<u128>, upper: Option<u128>) -> Option<(u128, u128)> {
    if lower.is_none() && upper.is_none() {
        return None;
    }
    let by_bytes = (lower.unwrap_or(0), upper.unwrap_or(u128::MAX));
    let by_halves =
        (lower.map_or(0, |bound| bound ^ SIGNS), upper.map_or(u128::MAX, |bound| bound ^ SIGNS));
    let by_bytes = (by_bytes.0 <= by_bytes.1).then_some(by_bytes);
    let (start, end) = by_halves;
    let by_halves = (start <= end).then(|| (least(start, end), greatest(start, end)));
    match (by_bytes, by_halves) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

/// Return the least value by bytes whose flipped form is between `start` and `end`.
fn least(start: u128, end: u128) -> u128 {
    let flipped = |from: u64, to: u64| if to >= SIGN { from.max(SIGN) } else { from };
    extreme(start, end, flipped)
}

/// Return the greatest value by bytes whose flipped form is between `start` and `end`.
fn greatest(start: u128, end: u128) -> u128 {
    let flipped = |from: u64, to: u64| if from < SIGN { to.min(SIGN - 1) } else { to };
    extreme(start, end, flipped)
}

/// Choose the high half within the bounds, then the low half within the bounds for that high half.
fn extreme(start: u128, end: u128, choose: impl Fn(u64, u64) -> u64) -> u128 {
    let ((first, start), (last, end)) = (halves(start), halves(end));
    let high = choose(first, last);
    let from = if high == first { start } else { 0 };
    let to = if high == last { end } else { u64::MAX };
    let low = choose(from, to);
    (u128::from(high) << 64 | u128::from(low)) ^ SIGNS
}

fn halves(value: u128) -> (u64, u64) {
    let [bytes, rest] = [value >> 64, value & u128::from(u64::MAX)];
    (u64::try_from(bytes).unwrap_or(u64::MAX), u64::try_from(rest).unwrap_or(u64::MAX))
}

/// Convert stored bounds to bounds by bytes; null is unknown.
fn bounds_by_bytes(
    lower: Option<&ArrayRef>,
    upper: Option<&ArrayRef>,
    entries: usize,
) -> (BinaryArray, BinaryArray) {
    let all: Vec<_> = (0..entries)
        .map(|entry| enclosing(bound(lower, entry), bound(upper, entry)))
        .map(|found| found.map(|(least, greatest)| (least.to_be_bytes(), greatest.to_be_bytes())))
        .collect();
    (
        all.iter().map(|bounds| bounds.map(|(least, _)| least)).collect(),
        all.iter().map(|bounds| bounds.map(|(_, greatest)| greatest)).collect(),
    )
}

/// Return the bound of one entry; `None` where it is unknown or does not have 16 bytes.
fn bound(bounds: Option<&ArrayRef>, entry: usize) -> Option<u128> {
    let bounds = bounds?.as_binary_opt::<i32>()?;
    if entry >= bounds.len() || bounds.is_null(entry) {
        return None;
    }
    bounds.value(entry).try_into().ok().map(u128::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values whose halves are near the least, the greatest and a change of sign.
    fn values() -> impl Strategy<Value = u128> {
        let half =
            || prop_oneof![any::<u64>(), 0..4_u64, SIGN - 3..SIGN + 4, u64::MAX - 3..=u64::MAX];
        (half(), half()).prop_map(|(high, low)| u128::from(high) << 64 | u128::from(low))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn bounds_of_either_order_enclose_every_value(
            file in proptest::collection::vec(values(), 1..6),
            has_lower in any::<bool>(),
            has_upper in any::<bool>(),
        ) {
            for flip in [0, SIGNS] {
                let lower = file.iter().copied().min_by_key(|value| value ^ flip);
                let upper = file.iter().copied().max_by_key(|value| value ^ flip);
                let found = enclosing(lower.filter(|_| has_lower), upper.filter(|_| has_upper));
                let (least, greatest) = found.unwrap_or((0, u128::MAX));
                prop_assert!(file.iter().all(|value| (least..=greatest).contains(value)));
            }
        }

        #[test]
        fn bounds_enclose_no_more_than_needed(lower in values(), upper in values()) {
            let within = |value: u128| {
                let by_halves = lower ^ SIGNS <= value ^ SIGNS && value ^ SIGNS <= upper ^ SIGNS;
                (lower <= value && value <= upper) || by_halves
            };
            if let Some((least, greatest)) = enclosing(Some(lower), Some(upper)) {
                prop_assert!(within(least) && within(greatest));
            } else {
                prop_assert!(!within(lower) && !within(upper));
            }
        }
    }

    #[test]
    fn bounds_of_one_sign_are_unchanged() {
        // UUIDs of version 7, whose low half has its first bit set.
        let (lower, upper) = (0x0190 << 112 | 1 << 63 | 5, 0x0191 << 112 | 1 << 63 | 7);
        let (least, greatest) = enclosing(Some(lower), Some(upper)).unwrap();
        assert_eq!(least >> 64, lower >> 64);
        assert_eq!(greatest >> 64, upper >> 64);
        assert_eq!(enclosing(Some(lower), Some(lower)), Some((lower, lower)));
        assert_eq!(enclosing(None, None), None);
    }
}

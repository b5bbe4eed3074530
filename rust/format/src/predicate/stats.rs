//! Facts about a column in each of N entries: files, manifests, row groups or partition tuples.
//!
//! Facts are one-sided: an unset flag proves that the entry has no such value; a set flag, a null bound and a missing
//! array prove nothing. [`ColumnFacts::unknown`] might match every predicate and must match none.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Float32Array, Float64Array, Int64Array, new_null_array,
};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_schema::DataType;

use super::mask::{pack, pack_pairs};
use super::tree::BoundLeaf;
use crate::error::{Error, Result};
use crate::spec::{ArrowName, PrimitiveType, primitive_to_arrow, single_values};

/// A source of facts about N entries.
pub trait ColumnStats {
    /// Return the number of entries.
    fn entries(&self) -> usize;

    /// Return the facts about the leaf's field, one per entry. Called once per field and evaluation.
    ///
    /// # Errors
    /// `Corrupt` where stored statistics cannot be decoded.
    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts>;

    /// Return some of the entries, if that is cheap: the facts about a few thousand entries stay in the cache.
    fn slice(&self, _start: usize, _entries: usize) -> Option<Box<dyn ColumnStats>> {
        None
    }
}

/// Facts about one column, one per entry.
#[derive(Debug, Clone)]
pub struct ColumnFacts {
    /// Unset: the entry has no null.
    pub may_be_null: BooleanBuffer,
    /// Unset: the entry has no NaN.
    pub may_be_nan: BooleanBuffer,
    /// Unset: the entry has no values other than null and NaN.
    pub may_have_values: BooleanBuffer,
    /// Lower bounds of all values other than null and NaN; null is unknown.
    pub(super) lower: Option<ArrayRef>,
    /// Upper bounds of all values other than null and NaN; null is unknown.
    pub(super) upper: Option<ArrayRef>,
}

/// Counts per entry; null, a negative count and a missing array are unknown.
#[derive(Debug, Clone, Default)]
pub struct ColumnCounts {
    /// Rows.
    pub records: Option<Int64Array>,
    /// Values, including null and NaN.
    pub values: Option<Int64Array>,
    /// Nulls.
    pub nulls: Option<Int64Array>,
    /// NaN.
    pub nans: Option<Int64Array>,
}

impl ColumnFacts {
    /// Return facts that prove nothing, for N entries.
    pub fn unknown(field_type: &PrimitiveType, entries: usize) -> Self {
        let set = BooleanBuffer::new_set(entries);
        let nan =
            if is_floating(field_type) { set.clone() } else { BooleanBuffer::new_unset(entries) };
        Self {
            may_be_null: set.clone(),
            may_be_nan: nan,
            may_have_values: set,
            lower: None,
            upper: None,
        }
    }

    /// Derive facts from counts and bounds. Bounds have the field's Arrow type (binary is accepted for strings), one per
    /// entry; NaN is unknown.
    ///
    /// # Errors
    /// `Mismatch` where a bound array has another type.
    pub fn from_counts(
        field_type: &PrimitiveType,
        entries: usize,
        counts: &ColumnCounts,
        lower: Option<ArrayRef>,
        upper: Option<ArrayRef>,
    ) -> Result<Self> {
        let (records, values) = (known(&counts.records, entries), known(&counts.values, entries));
        let (nulls, nans) = (known(&counts.nulls, entries), known(&counts.nans, entries));
        let some = !&zeros(records, entries);
        let all_null = equal(values, nulls, entries);
        let present = &some & &!&all_null;
        let facts = if is_floating(field_type) {
            Self {
                may_be_null: &some & &!&zeros(nulls, entries),
                may_be_nan: &present & &!&zeros(nans, entries),
                may_have_values: &present & &!&all_nan(values, nulls, nans, entries),
                lower: None,
                upper: None,
            }
        } else {
            Self {
                may_be_null: &some & &!&zeros(nulls, entries),
                may_be_nan: BooleanBuffer::new_unset(entries),
                may_have_values: present,
                lower: None,
                upper: None,
            }
        };
        facts.with_bounds(field_type, lower, upper)
    }

    /// Return lower bounds of all values other than null and NaN; null is unknown. Bounds of byte strings are binary.
    pub fn lower(&self) -> Option<&ArrayRef> {
        self.lower.as_ref()
    }

    /// Return upper bounds; see [`ColumnFacts::lower`].
    pub fn upper(&self) -> Option<&ArrayRef> {
        self.upper.as_ref()
    }

    /// Replace the bounds; see [`ColumnFacts::from_counts`].
    ///
    /// # Errors
    /// `Mismatch` where a bound array has another type.
    pub fn with_bounds(
        mut self,
        field_type: &PrimitiveType,
        lower: Option<ArrayRef>,
        upper: Option<ArrayRef>,
    ) -> Result<Self> {
        self.lower = lower.map(|bounds| comparable(field_type, &bounds)).transpose()?;
        self.upper = upper.map(|bounds| comparable(field_type, &bounds)).transpose()?;
        Ok(self)
    }
}

/// Return the counts if there is one per entry.
fn known(counts: &Option<Int64Array>, entries: usize) -> Option<&Int64Array> {
    counts.as_ref().filter(|counts| counts.len() == entries)
}

/// Clear the bits of null counts.
fn where_valid(mask: BooleanBuffer, counts: &Int64Array) -> BooleanBuffer {
    match counts.nulls() {
        Some(nulls) => &mask & nulls.inner(),
        None => mask,
    }
}

/// Return where a count is known to be 0.
fn zeros(counts: Option<&Int64Array>, entries: usize) -> BooleanBuffer {
    match counts {
        Some(counts) => where_valid(pack(counts.values(), |count| count == 0), counts),
        None => BooleanBuffer::new_unset(entries),
    }
}

/// Return where all values are known to be null.
fn equal(values: Option<&Int64Array>, nulls: Option<&Int64Array>, entries: usize) -> BooleanBuffer {
    let Some((values, nulls)) = values.zip(nulls) else {
        return BooleanBuffer::new_unset(entries);
    };
    let mask = pack_pairs(values.values(), nulls.values(), |all, null| null >= 0 && all == null);
    where_valid(where_valid(mask, values), nulls)
}

/// Return where all non-null values are known to be NaN.
fn all_nan(
    values: Option<&Int64Array>,
    nulls: Option<&Int64Array>,
    nans: Option<&Int64Array>,
    entries: usize,
) -> BooleanBuffer {
    let Some(((values, nulls), nans)) = values.zip(nulls).zip(nans) else {
        return BooleanBuffer::new_unset(entries);
    };
    let mask = BooleanBuffer::collect_bool(entries, |entry| {
        let (all, null) = (values.value(entry), nulls.value(entry));
        all >= 0 && null >= 0 && all.checked_sub(null) == Some(nans.value(entry))
    });
    where_valid(where_valid(where_valid(mask, values), nulls), nans)
}

/// Return whether the type has NaN.
pub(super) fn is_floating(field_type: &PrimitiveType) -> bool {
    matches!(field_type, PrimitiveType::Float | PrimitiveType::Double)
}

/// Normalise bounds for comparison: byte strings as binary, without NaN and -0.0.
fn comparable(field_type: &PrimitiveType, bounds: &ArrayRef) -> Result<ArrayRef> {
    use DataType as D;
    let expected = bound_type(field_type);
    let bounds = match bounds.data_type() {
        found if *found == expected => Arc::clone(bounds),
        D::FixedSizeBinary(_) if expected == D::Binary => {
            Arc::new(bounds.as_fixed_size_binary().iter().collect::<BinaryArray>())
        }
        found => cast(bounds, &expected).map_err(|_| Error::Mismatch {
            column: "bounds".to_owned(),
            found: ArrowName(found).to_string(),
            expected: ArrowName(&expected).to_string(),
        })?,
    };
    Ok(match expected {
        D::Float32 => {
            let values = bounds.as_primitive::<Float32Type>().iter();
            let values = values.map(|value| value.filter(|v| !v.is_nan()).map(|v| v + 0.0));
            Arc::new(values.collect::<Float32Array>())
        }
        D::Float64 => {
            let values = bounds.as_primitive::<Float64Type>().iter();
            let values = values.map(|value| value.filter(|v| !v.is_nan()).map(|v| v + 0.0));
            Arc::new(values.collect::<Float64Array>())
        }
        _ => bounds,
    })
}

/// Return the Arrow type of bounds: the field's type, or binary for byte strings, as a string's bound may be truncated
/// within a character.
fn bound_type(field_type: &PrimitiveType) -> DataType {
    match field_type {
        PrimitiveType::String
        | PrimitiveType::Binary
        | PrimitiveType::Fixed(_)
        | PrimitiveType::Uuid => DataType::Binary,
        other => primitive_to_arrow(other),
    }
}

/// Decode the binary bounds of one field; null where there is none. The length of a bound shows whether it was written
/// before its column was promoted. Spec: Appendix D.
///
/// # Errors
/// `Corrupt` where a value has an invalid length.
pub(super) fn decode_bounds<'a>(
    field_type: &PrimitiveType,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<ArrayRef> {
    use PrimitiveType as P;
    match field_type {
        P::String | P::Binary | P::Fixed(_) | P::Uuid => {
            Ok(Arc::new(values.collect::<BinaryArray>()))
        }
        // All values of this type are null.
        P::Unknown => Ok(new_null_array(&DataType::Null, values.count())),
        _ => single_values::decode_values(field_type, values),
    }
}

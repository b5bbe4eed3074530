//! What is known of a column in each of N entries: files, manifests, row groups, partition tuples.
//!
//! Every fact is one-sided. A flag that is off proves that the entry has no such value; a flag
//! that is on, a null bound or an absent array proves nothing. So a source that knows nothing is
//! [`ColumnFacts::unknown`], which might match everything and must match nothing.

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
use crate::spec::{PrimitiveType, primitive_to_arrow, single_values};

/// A source of facts about N entries.
pub trait ColumnStats {
    /// How many entries there are.
    fn entries(&self) -> usize;

    /// The facts of the leaf's field, one per entry. Asked once per field and evaluation.
    ///
    /// # Errors
    /// `Corrupt` where stored statistics cannot be decoded.
    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts>;

    /// Some of the entries, where parts can be had for little: facts about a part that the cache
    /// holds are found sooner than about all entries.
    fn slice(&self, _start: usize, _entries: usize) -> Option<Box<dyn ColumnStats>> {
        None
    }
}

/// Facts about one column, one per entry.
#[derive(Debug, Clone)]
pub struct ColumnFacts {
    /// Off: the entry has no null.
    pub may_be_null: BooleanBuffer,
    /// Off: the entry has no NaN.
    pub may_be_nan: BooleanBuffer,
    /// Off: the entry has nothing but nulls and NaN, or no rows.
    pub may_have_values: BooleanBuffer,
    /// A bound at or below every value that is neither null nor NaN; null is unknown.
    pub(super) lower: Option<ArrayRef>,
    /// A bound at or above every value that is neither null nor NaN; null is unknown.
    pub(super) upper: Option<ArrayRef>,
}

/// Counts per entry; a null, a negative or an absent array is unknown.
#[derive(Debug, Clone, Default)]
pub struct ColumnCounts {
    /// Rows.
    pub records: Option<Int64Array>,
    /// Values, with nulls and NaN.
    pub values: Option<Int64Array>,
    /// Nulls.
    pub nulls: Option<Int64Array>,
    /// NaN.
    pub nans: Option<Int64Array>,
}

impl ColumnFacts {
    /// Nothing is known of any of N entries.
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

    /// Facts from counts and bounds. Bounds are of the field's Arrow type (strings may also be
    /// binary), one per entry; NaN is taken as unknown.
    ///
    /// # Errors
    /// `Mismatch` where a bound array is of another type.
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

    /// Bounds at or below every value that is neither null nor NaN; null is unknown. Byte strings
    /// are binary.
    pub fn lower(&self) -> Option<&ArrayRef> {
        self.lower.as_ref()
    }

    /// Bounds at or above every value; see [`ColumnFacts::lower`].
    pub fn upper(&self) -> Option<&ArrayRef> {
        self.upper.as_ref()
    }

    /// The same facts with these bounds; see [`ColumnFacts::from_counts`].
    ///
    /// # Errors
    /// `Mismatch` where a bound array is of a type that has no bounds.
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

/// Counts of every entry; a shorter array says nothing.
fn known(counts: &Option<Int64Array>, entries: usize) -> Option<&Int64Array> {
    counts.as_ref().filter(|counts| counts.len() == entries)
}

/// Which of the counts are valid; the values of others mean nothing.
fn where_valid(mask: BooleanBuffer, counts: &Int64Array) -> BooleanBuffer {
    match counts.nulls() {
        Some(nulls) => &mask & nulls.inner(),
        None => mask,
    }
}

/// Where a count is known to be 0.
fn zeros(counts: Option<&Int64Array>, entries: usize) -> BooleanBuffer {
    match counts {
        Some(counts) => where_valid(pack(counts.values(), |count| count == 0), counts),
        None => BooleanBuffer::new_unset(entries),
    }
}

/// Where all of the values are known to be nulls.
fn equal(values: Option<&Int64Array>, nulls: Option<&Int64Array>, entries: usize) -> BooleanBuffer {
    let Some((values, nulls)) = values.zip(nulls) else {
        return BooleanBuffer::new_unset(entries);
    };
    let mask = pack_pairs(values.values(), nulls.values(), |all, null| null >= 0 && all == null);
    where_valid(where_valid(mask, values), nulls)
}

/// Where all of the values that are not null are known to be NaN.
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

/// Whether the type has NaN.
pub(super) fn is_floating(field_type: &PrimitiveType) -> bool {
    matches!(field_type, PrimitiveType::Float | PrimitiveType::Double)
}

/// Bounds in the form that kernels compare: byte strings as binary, no NaN, no -0.0.
fn comparable(field_type: &PrimitiveType, bounds: &ArrayRef) -> Result<ArrayRef> {
    use DataType as D;
    let expected = bound_type(field_type);
    let bounds = match bounds.data_type() {
        found if *found == expected => Arc::clone(bounds),
        D::FixedSizeBinary(_) if expected == D::Binary => {
            Arc::new(bounds.as_fixed_size_binary().iter().collect::<BinaryArray>())
        }
        found => cast(bounds, &expected).map_err(|_| Error::Mismatch {
            column: "of bounds".to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
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

/// The Arrow type of bounds: that of the field, but binary for every
/// byte string. A string's bound may be cut within a character and is still a bound.
fn bound_type(field_type: &PrimitiveType) -> DataType {
    match field_type {
        PrimitiveType::String
        | PrimitiveType::Binary
        | PrimitiveType::Fixed(_)
        | PrimitiveType::Uuid => DataType::Binary,
        other => primitive_to_arrow(other),
    }
}

/// Decode single values (Appendix D) of one field; null where there is none. A value stored
/// before its column was promoted is recognised by its length.
///
/// # Errors
/// `Corrupt` where a value has a length that its type has not.
pub(super) fn decode_bounds<'a>(
    field_type: &PrimitiveType,
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<ArrayRef> {
    use PrimitiveType as P;
    match field_type {
        P::String | P::Binary | P::Fixed(_) | P::Uuid => {
            Ok(Arc::new(values.collect::<BinaryArray>()))
        }
        // There is nothing to know of values that are all null.
        P::Unknown => Ok(new_null_array(&DataType::Null, values.count())),
        _ => single_values::decode_values(field_type, values),
    }
}

//! Kernels that test the values of an array against an operator with literals.
//!
//! No comparison is true for null or NaN here; floats compare by IEEE 754, so -0.0 equals 0.0.
//! Strings, fixed, uuid and binary compare as unsigned bytes.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, Scalar};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_ord::cmp;
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::literal_set::{ByteMembers, Members, Native};
use super::tree::{BoundLeaf, Operator};
use crate::error::{Error, Result};
use crate::spec::{ArrowName, Datum};

/// An operator with its literals, prepared once for many arrays.
#[derive(Debug, Clone)]
pub(super) struct Test {
    op: Operator,
    literals: Literals,
}

#[derive(Debug, Clone)]
enum Literals {
    Boolean(Vec<bool>),
    Int(Members<i32>),
    Long(Members<i64>),
    Decimal(Members<i128>),
    Float(Members<f32>),
    Double(Members<f64>),
    Bytes(ByteMembers),
    /// No literals, or literals of several types.
    Void,
}

/// Dispatch on an array's type and on the literals.
macro_rules! natives {
    ($array:expr, $literals:expr, $run:ident, $void:expr) => {{
        use DataType as D;
        let array = $array;
        match (array.data_type(), $literals) {
            (D::Int32, Literals::Int(it)) => $run!(it, Int32Type),
            (D::Date32, Literals::Int(it)) => $run!(it, Date32Type),
            (D::Int64, Literals::Long(it)) => $run!(it, Int64Type),
            (D::Time64(TimeUnit::Microsecond), Literals::Long(it)) => {
                $run!(it, Time64MicrosecondType)
            }
            (D::Timestamp(TimeUnit::Microsecond, _), Literals::Long(it)) => {
                $run!(it, TimestampMicrosecondType)
            }
            (D::Timestamp(TimeUnit::Nanosecond, _), Literals::Long(it)) => {
                $run!(it, TimestampNanosecondType)
            }
            (D::Decimal128(..), Literals::Decimal(it)) => $run!(it, Decimal128Type),
            (D::Float32, Literals::Float(it)) => $run!(it, Float32Type),
            (D::Float64, Literals::Double(it)) => $run!(it, Float64Type),
            _ => $void,
        }
    }};
}

impl Test {
    /// Prepare `Lt`, `LtEq`, `Gt`, `GtEq`, `Eq`, `In` or `StartsWith` with sorted literals.
    pub(super) fn new(op: Operator, literals: &[Datum]) -> Self {
        Self { op, literals: Literals::new(op, literals).unwrap_or(Literals::Void) }
    }

    /// Return which values satisfy the test: one bit per value, unset for null and NaN.
    ///
    /// # Errors
    /// `Mismatch` where the array's type differs from the literals'.
    pub(super) fn mask(&self, array: &ArrayRef) -> Result<BooleanBuffer> {
        self.slots(array).map(|mask| clear_nulls(mask, array))
    }

    /// Return which values do not satisfy the test, including NaN: one bit per value, unset for null.
    ///
    /// # Errors
    /// See [`Test::mask`].
    pub(super) fn negated_mask(&self, array: &ArrayRef) -> Result<BooleanBuffer> {
        self.slots(array).map(|mask| clear_nulls(!&mask, array))
    }

    /// Return which slots satisfy the test; null slots are arbitrary.
    fn slots(&self, array: &ArrayRef) -> Result<BooleanBuffer> {
        macro_rules! run {
            ($members:expr, $kind:ty) => {
                $members.test(self.op, array.as_primitive::<$kind>().values())
            };
        }
        let mask = natives!(
            array,
            &self.literals,
            run,
            match (&self.literals, array.data_type()) {
                (Literals::Boolean(wanted), DataType::Boolean) => {
                    booleans(array.as_boolean().values(), self.op, wanted)
                }
                (Literals::Bytes(members), _) => byte_strings(array, self.op, members),
                _ => None,
            }
        );
        mask.ok_or_else(|| mismatch(array, &[]))
    }

    /// Return the entries without a literal between their bounds; unset where a bound is null.
    ///
    /// # Errors
    /// `Mismatch` where the type of the bounds differs from the literals'.
    pub(super) fn none_between(&self, lower: &ArrayRef, upper: &ArrayRef) -> Result<BooleanBuffer> {
        if lower.data_type() != upper.data_type() {
            return Err(mismatch(upper, &[]));
        }
        macro_rules! run {
            ($members:expr, $kind:ty) => {
                Some($members.none_between(
                    lower.as_primitive::<$kind>().values(),
                    upper.as_primitive::<$kind>().values(),
                ))
            };
        }
        let mask = natives!(
            lower,
            &self.literals,
            run,
            match (&self.literals, lower.as_binary_opt::<i32>(), upper.as_binary_opt::<i32>()) {
                (Literals::Bytes(members), Some(lower), Some(upper)) => {
                    Some(BooleanBuffer::collect_bool(lower.len(), |entry| {
                        members.none_between(lower.value(entry), upper.value(entry))
                    }))
                }
                // A set of two booleans has both values.
                (Literals::Boolean(_), ..) => Some(BooleanBuffer::new_unset(lower.len())),
                _ => None,
            }
        );
        let mut mask = mask.ok_or_else(|| mismatch(lower, &[]))?;
        for nulls in [lower.nulls(), upper.nulls()].into_iter().flatten() {
            mask = &mask & nulls.inner();
        }
        Ok(mask)
    }
}

impl Literals {
    fn new(op: Operator, literals: &[Datum]) -> Option<Self> {
        fn natives<T: Native>(op: Operator, literals: &[Datum]) -> Option<Members<T>> {
            Members::new(op, literals)
        }
        Some(match literals.first()? {
            Datum::Boolean(_) => Self::Boolean(
                literals
                    .iter()
                    .map(|datum| if let Datum::Boolean(bit) = datum { Some(*bit) } else { None })
                    .collect::<Option<_>>()?,
            ),
            Datum::Int(_) | Datum::Date(_) => Self::Int(natives(op, literals)?),
            Datum::Decimal { .. } => Self::Decimal(natives(op, literals)?),
            Datum::Float(_) => Self::Float(natives(op, literals)?),
            Datum::Double(_) => Self::Double(natives(op, literals)?),
            first if datum_bytes(first).is_some() => {
                let bytes = literals.iter().map(datum_bytes).collect::<Option<Vec<_>>>()?;
                Self::Bytes(ByteMembers::new(op, &bytes)?)
            }
            _ => Self::Long(natives(op, literals)?),
        })
    }
}

/// Clear the bits of null slots.
fn clear_nulls(mask: BooleanBuffer, array: &ArrayRef) -> BooleanBuffer {
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => &mask & nulls.inner(),
        None => mask,
    }
}

/// Return the bytes of a string, fixed, uuid or binary value.
pub(super) fn datum_bytes(datum: &Datum) -> Option<&[u8]> {
    match datum {
        Datum::String(text) => Some(text.as_bytes()),
        Datum::Uuid(bytes) => Some(bytes),
        Datum::Fixed(bytes) | Datum::Binary(bytes) => Some(bytes),
        _ => None,
    }
}

pub(super) fn mismatch(array: &ArrayRef, literals: &[Datum]) -> Error {
    let expected = literals
        .first()
        .map_or_else(|| "the type of the literals".into(), |it| it.primitive_type().to_string());
    Error::Mismatch {
        column: "in the filter".to_owned(),
        found: ArrowName(array.data_type()).to_string(),
        expected,
    }
}

/// Return where a comparison of bounds is true; null is unset.
pub(super) fn true_where(
    compared: Result<BooleanArray, ArrowError>,
    bounds: &ArrayRef,
    leaf: &BoundLeaf,
) -> Result<BooleanBuffer> {
    let compared = compared.map_err(|_| mismatch(bounds, &leaf.literals))?;
    Ok(match compared.nulls() {
        Some(nulls) => compared.values() & nulls.inner(),
        None => compared.values().clone(),
    })
}

fn booleans(values: &BooleanBuffer, op: Operator, wanted: &[bool]) -> Option<BooleanBuffer> {
    let first = *wanted.first()?;
    let holds = |bit: bool| match op {
        Operator::Lt => !bit & first,
        Operator::LtEq => bit <= first,
        Operator::Gt => bit & !first,
        Operator::GtEq => bit >= first,
        Operator::Eq => bit == first,
        Operator::In => wanted.contains(&bit),
        _ => false,
    };
    Some(match (holds(false), holds(true)) {
        (false, false) => BooleanBuffer::new_unset(values.len()),
        (true, true) => BooleanBuffer::new_set(values.len()),
        (false, true) => values.clone(),
        (true, false) => !values,
    })
}

fn byte_strings(array: &ArrayRef, op: Operator, members: &ByteMembers) -> Option<BooleanBuffer> {
    match op {
        Operator::StartsWith => test_bytes(array, |value| value.starts_with(members.first())),
        Operator::In => test_bytes(array, |value| members.contains(value)),
        _ => compare_bytes(array, op, members.first()),
    }
}

/// Apply a test to each value; the results of null slots are arbitrary. `None` where the array does not hold byte
/// strings.
pub(super) fn test_bytes(array: &ArrayRef, test: impl Fn(&[u8]) -> bool) -> Option<BooleanBuffer> {
    use DataType as D;
    macro_rules! run {
        ($values:expr) => {{
            let values = $values;
            BooleanBuffer::collect_bool(values.len(), |row| test(values.value(row).as_ref()))
        }};
    }
    Some(match array.data_type() {
        D::Utf8 => run!(array.as_string::<i32>()),
        D::LargeUtf8 => run!(array.as_string::<i64>()),
        D::Utf8View => run!(array.as_string_view()),
        D::Binary => run!(array.as_binary::<i32>()),
        D::LargeBinary => run!(array.as_binary::<i64>()),
        D::BinaryView => run!(array.as_binary_view()),
        D::FixedSizeBinary(_) => run!(array.as_fixed_size_binary()),
        _ => return None,
    })
}

fn compare_bytes(array: &ArrayRef, op: Operator, literal: &[u8]) -> Option<BooleanBuffer> {
    if let DataType::FixedSizeBinary(_) = array.data_type() {
        return test_bytes(array, |value| holds(op, value, literal));
    }
    let binary = BinaryArray::from_iter_values([literal]);
    let literal = Scalar::new(cast(&binary, array.data_type()).ok()?);
    let mask = match op {
        Operator::Lt => cmp::lt(array, &literal),
        Operator::LtEq => cmp::lt_eq(array, &literal),
        Operator::Gt => cmp::gt(array, &literal),
        Operator::GtEq => cmp::gt_eq(array, &literal),
        Operator::Eq => cmp::eq(array, &literal),
        _ => return None,
    };
    mask.ok().map(|mask| mask.values().clone())
}

fn holds(op: Operator, value: &[u8], literal: &[u8]) -> bool {
    match op {
        Operator::Lt => value < literal,
        Operator::LtEq => value <= literal,
        Operator::Gt => value > literal,
        Operator::GtEq => value >= literal,
        Operator::Eq => value == literal,
        _ => false,
    }
}

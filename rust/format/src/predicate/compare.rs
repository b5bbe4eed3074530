//! One kernel per question: which values of an array satisfy an operator.
//!
//! Null satisfies nothing here, nor does NaN; floats compare by IEEE 754, so -0.0 equals 0.0.
//! Strings, fixed, uuid and binary compare as unsigned bytes.

use std::hash::Hash;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type,
    Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, BinaryArray, Scalar};
use arrow_buffer::BooleanBuffer;
use arrow_cast::cast;
use arrow_ord::cmp;
use arrow_schema::{DataType, TimeUnit};
use hashbrown::HashSet;

use super::tree::Operator;
use crate::error::{Error, Result};
use crate::spec::Datum;

/// Which values satisfy `op`, one of `Lt`, `LtEq`, `Gt`, `GtEq`, `Eq`, `In` and `StartsWith`,
/// with the literals of the array's type. One bit per value; null and NaN give false.
///
/// # Errors
/// `Mismatch` where the array is not of the literals' type.
pub(super) fn satisfies(
    array: &ArrayRef,
    op: Operator,
    literals: &[Datum],
) -> Result<BooleanBuffer> {
    use DataType as D;
    let mask = match array.data_type() {
        D::Boolean => booleans(array.as_boolean().values(), op, literals),
        D::Int32 => natives(array.as_primitive::<Int32Type>().values(), op, literals),
        D::Date32 => natives(array.as_primitive::<Date32Type>().values(), op, literals),
        D::Int64 => natives(array.as_primitive::<Int64Type>().values(), op, literals),
        D::Time64(TimeUnit::Microsecond) => {
            natives(array.as_primitive::<Time64MicrosecondType>().values(), op, literals)
        }
        D::Timestamp(TimeUnit::Microsecond, _) => {
            natives(array.as_primitive::<TimestampMicrosecondType>().values(), op, literals)
        }
        D::Timestamp(TimeUnit::Nanosecond, _) => {
            natives(array.as_primitive::<TimestampNanosecondType>().values(), op, literals)
        }
        D::Decimal128(..) => natives(array.as_primitive::<Decimal128Type>().values(), op, literals),
        D::Float32 => natives(array.as_primitive::<Float32Type>().values(), op, literals),
        D::Float64 => natives(array.as_primitive::<Float64Type>().values(), op, literals),
        _ => byte_strings(array, op, literals),
    };
    let mask = mask.ok_or_else(|| mismatch(array, literals))?;
    Ok(match array.nulls() {
        Some(nulls) => &mask & nulls.inner(),
        None => mask,
    })
}

/// The bytes of a string, fixed, uuid or binary value.
pub(super) fn datum_bytes(datum: &Datum) -> Option<&[u8]> {
    match datum {
        Datum::String(text) => Some(text.as_bytes()),
        Datum::Uuid(bytes) => Some(bytes),
        Datum::Fixed(bytes) | Datum::Binary(bytes) => Some(bytes),
        _ => None,
    }
}

pub(super) fn mismatch(array: &ArrayRef, literals: &[Datum]) -> Error {
    let expected = literals.first().map_or_else(String::new, |d| d.primitive_type().to_string());
    Error::Mismatch {
        column: "of the filter".to_owned(),
        found: array.data_type().to_string(),
        expected,
    }
}

/// Values that are compared without looking at bytes.
trait Native: PartialOrd + Copy {
    /// Equal for equal values.
    type Key: Eq + Hash;
    fn key(self) -> Self::Key;
    fn of(datum: &Datum) -> Option<Self>;
}

impl Native for i32 {
    type Key = Self;
    fn key(self) -> Self {
        self
    }
    fn of(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Int(value) | Datum::Date(value) => Some(*value),
            _ => None,
        }
    }
}

impl Native for i64 {
    type Key = Self;
    fn key(self) -> Self {
        self
    }
    fn of(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Long(value)
            | Datum::Time(value)
            | Datum::Timestamp(value)
            | Datum::Timestamptz(value)
            | Datum::TimestampNs(value)
            | Datum::TimestamptzNs(value) => Some(*value),
            _ => None,
        }
    }
}

impl Native for i128 {
    type Key = Self;
    fn key(self) -> Self {
        self
    }
    fn of(datum: &Datum) -> Option<Self> {
        match datum {
            Datum::Decimal { unscaled, .. } => Some(*unscaled),
            _ => None,
        }
    }
}

impl Native for f32 {
    type Key = u32;
    // Adding zero makes -0.0 the same key as 0.0.
    fn key(self) -> u32 {
        (self + 0.0).to_bits()
    }
    fn of(datum: &Datum) -> Option<Self> {
        if let Datum::Float(value) = datum { Some(*value) } else { None }
    }
}

impl Native for f64 {
    type Key = u64;
    fn key(self) -> u64 {
        (self + 0.0).to_bits()
    }
    fn of(datum: &Datum) -> Option<Self> {
        if let Datum::Double(value) = datum { Some(*value) } else { None }
    }
}

fn natives<T: Native>(values: &[T], op: Operator, literals: &[Datum]) -> Option<BooleanBuffer> {
    let rows = values.len();
    if op == Operator::In {
        let set: Option<HashSet<T::Key>> =
            literals.iter().map(|datum| T::of(datum).map(T::key)).collect();
        let set = set?;
        return Some(BooleanBuffer::collect_bool(rows, |row| set.contains(&values[row].key())));
    }
    let literal = T::of(literals.first()?)?;
    Some(match op {
        Operator::Lt => BooleanBuffer::collect_bool(rows, |row| values[row] < literal),
        Operator::LtEq => BooleanBuffer::collect_bool(rows, |row| values[row] <= literal),
        Operator::Gt => BooleanBuffer::collect_bool(rows, |row| values[row] > literal),
        Operator::GtEq => BooleanBuffer::collect_bool(rows, |row| values[row] >= literal),
        Operator::Eq => BooleanBuffer::collect_bool(rows, |row| values[row] == literal),
        _ => return None,
    })
}

fn booleans(values: &BooleanBuffer, op: Operator, literals: &[Datum]) -> Option<BooleanBuffer> {
    let mut wanted = Vec::with_capacity(literals.len());
    for datum in literals {
        let Datum::Boolean(bit) = datum else { return None };
        wanted.push(*bit);
    }
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

fn byte_strings(array: &ArrayRef, op: Operator, literals: &[Datum]) -> Option<BooleanBuffer> {
    let literals = literals.iter().map(datum_bytes).collect::<Option<Vec<_>>>()?;
    let first = *literals.first()?;
    match op {
        Operator::StartsWith => test_bytes(array, |value| value.starts_with(first)),
        Operator::In => {
            let set: HashSet<&[u8]> = literals.iter().copied().collect();
            test_bytes(array, |value| set.contains(value))
        }
        _ => compare_bytes(array, op, first),
    }
}

/// Apply a test to each value; what it says of a null slot does not matter. `None` where the
/// array holds no byte strings.
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

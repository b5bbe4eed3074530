//! A transform of an Arrow array: the type is looked at once, then one loop runs the scalar rule.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, Int32Array, OffsetSizeTrait, PrimitiveArray, new_null_array};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType;
use fearless_simd::{Level, dispatch};

use super::Transform;
use super::bucket::Buckets;
use super::bytes::{map_bytes, shorten};
use super::hash::{hash_bytes, hash_decimal, hash_long, hash_nanos};
use super::temporal::{
    days_of_micros, days_of_nanos, hours_of_micros, hours_of_nanos, months_of_day, years_of_day,
};
use super::truncate::Width;
use crate::error::{Error, Result};
use crate::spec::arrow_values::{arrow_failure, can_hold, cannot_hold};
use crate::spec::{PrimitiveType, canonical_array, primitive_from_arrow, primitive_to_arrow};

impl Transform {
    /// The results for an array of a source type, in the layout of the result type, of the same length,
    /// null where the input is null. Results of truncating a large string or binary stay large.
    ///
    /// # Errors
    /// `InvalidArgument` where the transform cannot take the source type or the array cannot hold it,
    /// `Unsupported` for a transform that this version does not know.
    pub fn apply_array(&self, array: &dyn Array, source: &PrimitiveType) -> Result<ArrayRef> {
        if let Self::Unknown(_) = self {
            return Err(self.unknown());
        }
        if !self.can_transform(source) {
            return Err(self.cannot_take(source));
        }
        if !can_hold(array.data_type(), source) {
            return Err(cannot_hold(array, source));
        }
        match self {
            Self::Void => Ok(new_null_array(&primitive_to_arrow(source), array.len())),
            Self::Identity => canonical_array(array, source),
            _ => self.apply_encoded(array, source),
        }
    }

    /// The results for an array whose own type says what its values are; see [`Transform::apply_array`].
    ///
    /// # Errors
    /// `InvalidArgument` naming `array` where the transform cannot take its values.
    pub fn apply_untyped(&self, array: &dyn Array) -> Result<ArrayRef> {
        match primitive_from_arrow(array.data_type()) {
            Some(source) if self.can_transform(&source) => self.apply_array(array, &source),
            _ => {
                let reason = format!("{self} cannot be applied to values of {}", array.data_type());
                Err(Error::invalid("array", reason))
            }
        }
    }

    /// A dictionary that is no longer than its keys is transformed by its values.
    fn apply_encoded(&self, array: &dyn Array, source: &PrimitiveType) -> Result<ArrayRef> {
        if let Some(dictionary) = array.as_any_dictionary_opt()
            && dictionary.values().len() <= array.len()
        {
            let values = self.apply_encoded(dictionary.values(), source)?;
            return arrow_select::take::take(&values, dictionary.keys(), None)
                .map_err(|error| arrow_failure(&error));
        }
        self.apply_plain(array, source)
    }

    fn apply_plain(&self, array: &dyn Array, source: &PrimitiveType) -> Result<ArrayRef> {
        let result = match self {
            Self::Bucket(count) => bucket(Buckets::new(*count), array, source)?,
            Self::Truncate(width) => truncate(Width::new(*width), array, source)?,
            _ => temporal(self, &canonical_array(array, source)?),
        };
        result.ok_or_else(|| self.cannot_take(source))
    }
}

fn bucket(buckets: Buckets, array: &dyn Array, source: &PrimitiveType) -> Result<Option<ArrayRef>> {
    let of_bytes = |bytes: &[u8]| buckets.of_hash(hash_bytes(bytes));
    if let Some(results) = map_bytes(array, of_bytes) {
        return Ok(Some(ints(results, array.nulls())));
    }
    let array = canonical_array(array, source)?;
    let results = if let Some(narrow) = int_values(&array) {
        map(narrow, move |value| buckets.of_hash(hash_long(i64::from(value))))
    } else if let Some(wide) = long_values(&array) {
        map(wide, move |value| buckets.of_hash(hash_long(value)))
    } else if let Some(nanos) = array.as_primitive_opt::<TimestampNanosecondType>() {
        map(nanos.values(), move |nanos| buckets.of_hash(hash_nanos(nanos)))
    } else if let Some(decimals) = array.as_primitive_opt::<Decimal128Type>() {
        map(decimals.values(), move |unscaled| buckets.of_hash(hash_decimal(unscaled)))
    } else if let Some(results) = map_bytes(&array, of_bytes) {
        results
    } else {
        return Ok(None);
    };
    Ok(Some(ints(results, array.nulls())))
}

/// The values of an int or a date.
fn int_values(array: &ArrayRef) -> Option<&[i32]> {
    values::<Int32Type>(array).or_else(|| values::<Date32Type>(array))
}

/// The values of a long, or of a time or timestamp in microseconds.
fn long_values(array: &ArrayRef) -> Option<&[i64]> {
    values::<Int64Type>(array)
        .or_else(|| values::<Time64MicrosecondType>(array))
        .or_else(|| values::<TimestampMicrosecondType>(array))
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<&[T::Native]> {
    array.as_primitive_opt::<T>().map(|typed| typed.values().as_ref())
}

/// Results per pass of [`map`]: they stay in the first-level cache between being made and being filled.
const BLOCK: usize = 2_048;

/// The rule for every slot, those of nulls too: it is total, and a loop without branches becomes vector
/// code, of the widest registers that this machine has.
fn map<S: ArrowNativeType, R: ArrowNativeType>(
    values: &[S],
    rule: impl Fn(S) -> R + Copy,
) -> Vec<R> {
    let mut results = Vec::with_capacity(values.len());
    let level = Level::new();
    for block in values.chunks(BLOCK) {
        let start = results.len();
        results.resize(start + block.len(), R::default());
        let unfilled = results.get_mut(start..).unwrap_or_default();
        dispatch!(level, _simd => fill(block, unfilled, rule));
    }
    results
}

/// The rule comes by value: behind a reference its numbers would be loaded again for every slot.
#[inline(always)]
fn fill<S: Copy, R>(values: &[S], results: &mut [R], rule: impl Fn(S) -> R) {
    for (result, value) in results.iter_mut().zip(values) {
        *result = rule(*value);
    }
}

fn ints(results: Vec<i32>, nulls: Option<&NullBuffer>) -> ArrayRef {
    Arc::new(Int32Array::new(results.into(), nulls.cloned()))
}

/// An array of results that are of the source's type.
fn same_type<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    rule: impl Fn(T::Native) -> T::Native + Copy,
) -> ArrayRef {
    let results = map(array.values(), rule);
    let nulls = array.nulls().cloned();
    Arc::new(
        PrimitiveArray::<T>::new(results.into(), nulls).with_data_type(array.data_type().clone()),
    )
}

fn temporal(transform: &Transform, array: &ArrayRef) -> Option<ArrayRef> {
    if let Some(days) = array.as_primitive_opt::<Date32Type>() {
        let results = match transform {
            Transform::Year => map(days.values(), years_of_day),
            Transform::Month => map(days.values(), months_of_day),
            Transform::Day => return Some(Arc::clone(array)),
            _ => return None,
        };
        return Some(ints(results, days.nulls()));
    }
    let (results, nulls) = if let Some(micros) =
        array.as_primitive_opt::<TimestampMicrosecondType>()
    {
        let results = match transform {
            Transform::Year => map(micros.values(), |micros| years_of_day(days_of_micros(micros))),
            Transform::Month => {
                map(micros.values(), |micros| months_of_day(days_of_micros(micros)))
            }
            Transform::Day => map(micros.values(), days_of_micros),
            _ => map(micros.values(), hours_of_micros),
        };
        (results, micros.nulls())
    } else {
        let nanos = array.as_primitive_opt::<TimestampNanosecondType>()?;
        let results = match transform {
            Transform::Year => map(nanos.values(), |nanos| years_of_day(days_of_nanos(nanos))),
            Transform::Month => map(nanos.values(), |nanos| months_of_day(days_of_nanos(nanos))),
            Transform::Day => map(nanos.values(), days_of_nanos),
            _ => map(nanos.values(), hours_of_nanos),
        };
        (results, nanos.nulls())
    };
    if *transform == Transform::Day {
        Some(Arc::new(PrimitiveArray::<Date32Type>::new(results.into(), nulls.cloned())))
    } else {
        Some(ints(results, nulls))
    }
}

fn truncate(width: Width, array: &dyn Array, source: &PrimitiveType) -> Result<Option<ArrayRef>> {
    match array.data_type() {
        DataType::LargeUtf8 => return truncate_strings::<i64>(width, array),
        DataType::LargeBinary => return truncate_binaries::<i64>(width, array),
        _ => {}
    }
    let array = canonical_array(array, source)?;
    Ok(match source {
        PrimitiveType::Int => array
            .as_primitive_opt::<Int32Type>()
            .map(|values| same_type(values, move |value| width.of_int(value))),
        PrimitiveType::Long => array
            .as_primitive_opt::<Int64Type>()
            .map(|values| same_type(values, move |value| width.of_long(value))),
        PrimitiveType::Decimal { .. } => array
            .as_primitive_opt::<Decimal128Type>()
            .map(|values| same_type(values, move |value| width.of_decimal(value))),
        PrimitiveType::String => truncate_strings::<i32>(width, &array)?,
        PrimitiveType::Binary => truncate_binaries::<i32>(width, &array)?,
        _ => None,
    })
}

fn truncate_strings<O: OffsetSizeTrait>(
    width: Width,
    array: &dyn Array,
) -> Result<Option<ArrayRef>> {
    array
        .as_string_opt::<O>()
        .map(|texts| shorten(texts, |text| width.of_str(text).len()))
        .transpose()
}

fn truncate_binaries<O: OffsetSizeTrait>(
    width: Width,
    array: &dyn Array,
) -> Result<Option<ArrayRef>> {
    array
        .as_binary_opt::<O>()
        .map(|values| shorten(values, |bytes| width.of_bytes(bytes).len()))
        .transpose()
}

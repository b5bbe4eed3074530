//! Buckets of arrays.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Int32Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef};

use super::blocks::{ints, map, map_narrowed, map_twice};
use super::bucket::Buckets;
use super::bucket_bytes::of_byte_strings;
use super::hash::{hash_decimal, hash_long, hash_narrow_decimal, micros_of_nanos};
use crate::error::Result;
use crate::spec::{PrimitiveType, canonical_array};

/// The buckets of an array that is not encoded; `None` where its values have none.
pub(super) fn of_array(
    buckets: Buckets,
    array: &dyn Array,
    source: &PrimitiveType,
) -> Result<Option<ArrayRef>> {
    if let Some(results) = of_byte_strings(buckets, array) {
        return Ok(Some(ints(results, array.nulls())));
    }
    let array = canonical_array(array, source)?;
    Ok(of_numbers(buckets, &array).map(|results| ints(results, array.nulls())))
}

fn of_numbers(buckets: Buckets, array: &ArrayRef) -> Option<Vec<i32>> {
    if let Some(narrow) = int_values(array) {
        return Some(map(narrow, move |value| buckets.of_hash(hash_long(i64::from(value)))));
    }
    let of_long = move |value| buckets.of_hash(hash_long(value));
    if let Some(wide) = long_values(array) {
        return Some(map(wide, of_long));
    }
    if let Some(nanos) = values::<TimestampNanosecondType>(array) {
        return Some(map_twice(nanos, micros_of_nanos, of_long));
    }
    let decimals = values::<Decimal128Type>(array)?;
    Some(map_narrowed(
        decimals,
        move |unscaled| buckets.of_hash(hash_narrow_decimal(unscaled)),
        move |unscaled| buckets.of_hash(hash_decimal(unscaled)),
    ))
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

//! Years, months, days and hours of arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, PrimitiveArray};

use super::Transform;
use super::blocks::{ints, map, map_twice, map_where};
use super::temporal::{
    are_near_micros, days_of_micros, days_of_nanos, hours_of_micros, hours_of_nanos,
    hours_of_near_micros, is_near, months_of_day, months_of_near_day, years_of_day,
    years_of_near_day,
};

/// The results for dates or timestamps in their own layouts; `None` where the values have none.
pub(super) fn temporal(transform: &Transform, array: &ArrayRef) -> Option<ArrayRef> {
    if let Some(days) = array.as_primitive_opt::<Date32Type>() {
        let results = match transform {
            Transform::Year => map_where(days.values(), is_near, years_of_near_day, years_of_day),
            Transform::Month => {
                map_where(days.values(), is_near, months_of_near_day, months_of_day)
            }
            Transform::Day => return Some(Arc::clone(array)),
            _ => return None,
        };
        return Some(ints(results, days.nulls()));
    }
    let results = if let Some(micros) = array.as_primitive_opt::<TimestampMicrosecondType>() {
        match transform {
            Transform::Hour => {
                map_where(micros.values(), are_near_micros, hours_of_near_micros, hours_of_micros)
            }
            _ => of_timestamps(transform, micros.values(), days_of_micros),
        }
    } else {
        let nanos = array.as_primitive_opt::<TimestampNanosecondType>()?;
        match transform {
            Transform::Hour => map(nanos.values(), hours_of_nanos),
            _ => of_timestamps(transform, nanos.values(), days_of_nanos),
        }
    };
    if *transform == Transform::Day {
        let nulls = array.nulls().cloned();
        Some(Arc::new(PrimitiveArray::<Date32Type>::new(results.into(), nulls)))
    } else {
        Some(ints(results, array.nulls()))
    }
}

/// Years, months or days. The days of 64-bit microseconds and nanoseconds are all near.
fn of_timestamps(
    transform: &Transform,
    units: &[i64],
    days: impl Fn(i64) -> i32 + Copy,
) -> Vec<i32> {
    match transform {
        Transform::Year => map_twice(units, days, years_of_near_day),
        Transform::Month => map_twice(units, days, months_of_near_day),
        _ => map(units, days),
    }
}

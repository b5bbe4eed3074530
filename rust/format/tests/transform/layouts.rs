//! The Arrow layouts in which a producer may hand over the values of one array.

use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int16Array, Int32Array, Int64Array, RunArray};
use arrow_cast::cast;
use arrow_schema::{DataType, TimeUnit};
use icefloe_format::spec::PrimitiveType;

/// Other layouts that hold the same values.
pub(crate) fn layouts(array: &ArrayRef) -> Vec<ArrayRef> {
    let mut made = vec![array.clone()];
    let others = same_values(array.data_type());
    made.extend(others.iter().map(|layout| cast(array, layout).unwrap()));
    let encoded: Vec<ArrayRef> =
        made.iter().flat_map(|plain| [dictionary(plain), run_ends(plain)]).collect();
    made.extend(encoded);
    made
}

fn same_values(plain: &DataType) -> Vec<DataType> {
    match plain {
        DataType::Utf8 => vec![DataType::LargeUtf8, DataType::Utf8View],
        DataType::Binary => vec![DataType::LargeBinary, DataType::BinaryView],
        DataType::Timestamp(unit, Some(_)) => {
            vec![DataType::Timestamp(*unit, Some("Europe/Berlin".into()))]
        }
        DataType::Decimal128(precision, scale) if *precision <= 9 => vec![
            DataType::Decimal32(*precision, *scale),
            DataType::Decimal64(*precision, *scale),
            DataType::Decimal256(*precision, *scale),
        ],
        DataType::Decimal128(precision, scale) => vec![DataType::Decimal256(*precision, *scale)],
        _ => Vec::new(),
    }
}

/// Every slot points to a value of its own, in reverse; one more value is pointed to by none.
fn dictionary(plain: &ArrayRef) -> ArrayRef {
    let count = plain.len();
    let reversed: Int32Array = (0..i32::try_from(count).unwrap()).rev().collect();
    let values = arrow_select::take::take(plain, &reversed, None).unwrap();
    let unused = arrow_select::take::take(plain, &Int32Array::from(vec![0; count.min(1)]), None);
    let values = arrow_select::concat::concat(&[&values, &unused.unwrap()]).unwrap();
    let keys = (0..i16::try_from(count).unwrap()).rev();
    let keys: Int16Array =
        keys.zip(0..count).map(|(key, row)| plain.is_valid(row).then_some(key)).collect();
    Arc::new(arrow_array::DictionaryArray::try_new(keys, values).unwrap())
}

/// Every run has one slot, so that there are as many values as slots.
fn run_ends(plain: &ArrayRef) -> ArrayRef {
    let ends = Int32Array::from_iter_values(1..=i32::try_from(plain.len()).unwrap());
    Arc::new(RunArray::<Int32Type>::try_new(&ends, plain).unwrap())
}

/// Every value three times in a row, by run ends; the values themselves say what to expect.
pub(crate) fn threefold(plain: &ArrayRef) -> ArrayRef {
    let ends =
        Int64Array::from_iter_values((1..=i64::try_from(plain.len()).unwrap()).map(|n| 3 * n));
    Arc::new(RunArray::<Int64Type>::try_new(&ends, plain).unwrap())
}

/// Layouts whose values are promoted: narrower integers, coarser timestamps, dates in milliseconds.
pub(crate) fn promoted() -> Vec<(ArrayRef, PrimitiveType)> {
    use PrimitiveType as P;
    let numbers = Int64Array::from(vec![Some(-3), None, Some(0), Some(100)]);
    let zoned = |unit| DataType::Timestamp(unit, Some("UTC".into()));
    let unzoned = |unit| DataType::Timestamp(unit, None);
    let mut arrays = Vec::new();
    for (layout, source) in [
        (DataType::Int8, P::Int),
        (DataType::Int16, P::Int),
        (DataType::Int8, P::Long),
        (DataType::Time32(TimeUnit::Second), P::Time),
        (DataType::Time32(TimeUnit::Millisecond), P::Time),
        (unzoned(TimeUnit::Second), P::Timestamp),
        (unzoned(TimeUnit::Millisecond), P::Timestamp),
        (unzoned(TimeUnit::Microsecond), P::TimestampNs),
        (zoned(TimeUnit::Second), P::Timestamptz),
        (zoned(TimeUnit::Millisecond), P::TimestamptzNs),
    ] {
        arrays.push((through_width(&numbers, &layout), source));
    }
    let counts = Int64Array::from(vec![Some(3), None, Some(0), Some(100)]);
    for (layout, source) in [
        (DataType::UInt8, P::Int),
        (DataType::UInt16, P::Int),
        (DataType::UInt16, P::Long),
        (DataType::UInt32, P::Long),
    ] {
        arrays.push((cast(&counts, &layout).unwrap(), source));
    }
    let millis: Int64Array = numbers.unary(|day| day * 86_400_000);
    arrays.push((cast(&millis, &DataType::Date64).unwrap(), P::Date));
    arrays
}

/// Numbers reach a 32-bit time by way of 32-bit integers.
fn through_width(numbers: &Int64Array, layout: &DataType) -> ArrayRef {
    match layout {
        DataType::Time32(_) => cast(&cast(numbers, &DataType::Int32).unwrap(), layout).unwrap(),
        _ => cast(numbers, layout).unwrap(),
    }
}

//! Adding the values of a column to a sketch, in their binary form.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteViewType, Date32Type, Decimal128Type, Float32Type, Float64Type,
    Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, GenericByteViewArray};
use arrow_schema::{DataType, TimeUnit};

use super::hash::{halves_hash, short_hash, value_hash};
use super::theta::ThetaSketch;
use crate::spec::ArrowName;
use crate::{Error, Result};

/// The most bytes of a value inside its view.
const INLINE_BYTES: u32 = 12;

/// Add the values of a column of a primitive type. Nulls, and strings and binaries without bytes, are not counted, as in the
/// Java reference.
///
/// # Errors
/// [`Error::InvalidArgument`] for a column of another type.
pub fn add_values(sketch: &mut ThetaSketch, column: &ArrayRef) -> Result<()> {
    match column.data_type() {
        DataType::Boolean => {
            let values = column.as_boolean().iter().flatten();
            values.for_each(|value| sketch.add(short_hash(u64::from(value), 1)));
        }
        DataType::Int32 => numbers::<Int32Type>(sketch, column, |value| (value as u32).into(), 4),
        DataType::Date32 => numbers::<Date32Type>(sketch, column, |value| (value as u32).into(), 4),
        DataType::Int64 => numbers::<Int64Type>(sketch, column, |value| value as u64, 8),
        DataType::Float32 => {
            numbers::<Float32Type>(sketch, column, |value| value.to_bits().into(), 4);
        }
        DataType::Float64 => numbers::<Float64Type>(sketch, column, f64::to_bits, 8),
        DataType::Time64(TimeUnit::Microsecond) => {
            numbers::<Time64MicrosecondType>(sketch, column, |value| value as u64, 8);
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            numbers::<TimestampMicrosecondType>(sketch, column, |value| value as u64, 8);
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            numbers::<TimestampNanosecondType>(sketch, column, |value| value as u64, 8);
        }
        DataType::Decimal128(..) => decimals(sketch, column),
        DataType::Utf8 => texts(sketch, column.as_string::<i32>().iter().flatten()),
        DataType::LargeUtf8 => texts(sketch, column.as_string::<i64>().iter().flatten()),
        DataType::Utf8View => views(sketch, column.as_string_view()),
        DataType::Binary => texts(sketch, column.as_binary::<i32>().iter().flatten()),
        DataType::LargeBinary => texts(sketch, column.as_binary::<i64>().iter().flatten()),
        DataType::BinaryView => views(sketch, column.as_binary_view()),
        DataType::FixedSizeBinary(_) => {
            texts(sketch, column.as_fixed_size_binary().iter().flatten());
        }
        DataType::Null => {}
        other => {
            let reason = format!(
                "expected a primitive type, got {}; choose other columns",
                ArrowName(other)
            );
            return Err(Error::invalid("distinct values", reason));
        }
    }
    Ok(())
}

fn numbers<T: ArrowPrimitiveType>(
    sketch: &mut ThetaSketch,
    column: &ArrayRef,
    bits: impl Fn(T::Native) -> u64,
    length: u64,
) {
    let array = column.as_primitive::<T>();
    if array.null_count() == 0 {
        array.values().iter().for_each(|value| sketch.add(short_hash(bits(*value), length)));
    } else {
        let values = array.iter().flatten();
        values.for_each(|value| sketch.add(short_hash(bits(value), length)));
    }
}

fn texts<'a, T: AsRef<[u8]> + 'a + ?Sized>(
    sketch: &mut ThetaSketch,
    values: impl Iterator<Item = &'a T>,
) {
    let values = values.map(AsRef::<[u8]>::as_ref).filter(|bytes: &&[u8]| !bytes.is_empty());
    values.for_each(|bytes| sketch.add(value_hash(bytes)));
}

/// Strings or binaries as views: one of at most 12 bytes is inside its view, after its length.
fn views<T: ByteViewType>(sketch: &mut ThetaSketch, array: &GenericByteViewArray<T>) {
    for (row, view) in array.views().iter().enumerate() {
        let length = *view as u32;
        if length == 0 || array.is_null(row) {
            continue;
        }
        sketch.add(if length <= INLINE_BYTES {
            halves_hash((*view >> 32) as u64, (*view >> 96) as u64, length.into())
        } else {
            let value: &[u8] = array.value(row).as_ref();
            value_hash(value)
        });
    }
}

/// Decimals in the fewest bytes, big-endian; the loop avoids an allocation for each value.
fn decimals(sketch: &mut ThetaSketch, column: &ArrayRef) {
    let array = column.as_primitive::<Decimal128Type>();
    let mut last: Option<i128> = None;
    for value in array.iter().flatten() {
        if last == Some(value) {
            continue;
        }
        last = Some(value);
        sketch.add(match i64::try_from(value) {
            Ok(value) => {
                let length = fewest_length(value.into());
                let reversed = (value as u64).swap_bytes() >> (64 - 8 * length);
                short_hash(reversed, u64::from(length))
            }
            Err(_) => value_hash(fewest(&value.to_be_bytes())),
        });
    }
}

/// The shortest two's complement form of a number.
fn fewest(bytes: &[u8; 16]) -> &[u8] {
    let length = fewest_length(i128::from_be_bytes(*bytes)) as usize;
    bytes.get(16 - length..).unwrap_or(bytes)
}

/// The bytes of the shortest two's complement form of a number, 1 to 16.
fn fewest_length(value: i128) -> u32 {
    let magnitude = if value < 0 { !value } else { value };
    (129 - magnitude.leading_zeros()).div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::fewest;
    use crate::spec::{Datum, single_value};

    #[test]
    fn fewest_bytes_are_the_binary_form_of_decimals() {
        let edges = [0, 1, -1, 127, 128, -128, -129, 32_767, -32_768, i128::MAX, i128::MIN];
        for unscaled in edges {
            let datum = Datum::Decimal { unscaled, precision: 38, scale: 2 };
            assert_eq!(
                fewest(&unscaled.to_be_bytes()),
                single_value::to_bytes(&datum),
                "{unscaled}"
            );
        }
    }
}

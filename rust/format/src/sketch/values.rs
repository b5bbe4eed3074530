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
/// The values that are remembered while hashes are added.
const SEEN: usize = 1 << (64 - SEEN_SHIFT);
const SEEN_SHIFT: u32 = 54;
/// An odd number whose multiples differ in their upper bits.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Add the values of a column of a primitive type. Nulls, and strings and binaries without bytes, are not counted, as in the
/// Java reference.
///
/// # Errors
/// [`Error::InvalidArgument`] for a column of another type.
pub fn add_values(sketch: &mut ThetaSketch, column: &ArrayRef) -> Result<()> {
    match column.data_type() {
        DataType::Boolean => {
            let values = column.as_boolean().iter().flatten().map(u64::from);
            add_hashes(sketch, values, |value| value, |value| short_hash(value, 1));
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
    let hash = |value| short_hash(value, length);
    if array.null_count() == 0 {
        let values = array.values().iter().map(|value| bits(*value));
        add_hashes(sketch, values, |value| value, hash);
    } else {
        let values = array.iter().flatten().map(bits);
        add_hashes(sketch, values, |value| value, hash);
    }
}

/// Add the hashes of values. While a sketch is exact, the values seen last are remembered by some of their bits, which are
/// fewer to compute than the hash of a value that repeats.
fn add_hashes<V: Copy + PartialEq>(
    sketch: &mut ThetaSketch,
    mut values: impl Iterator<Item = V>,
    bits: impl Fn(V) -> u64,
    hash: impl Fn(V) -> u64,
) {
    if !sketch.is_exact() {
        values.for_each(|value| sketch.add(hash(value)));
        return;
    }
    let Some(first) = values.next() else { return };
    sketch.add(hash(first));
    let mut seen = [first; SEEN];
    for value in values {
        let place = (bits(value).wrapping_mul(MIXER) >> SEEN_SHIFT) as usize % SEEN;
        if seen[place] != value {
            seen[place] = value;
            sketch.add(hash(value));
        }
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
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let mut long = vec![];
    let short = array.views().iter().enumerate().filter(|(row, view)| {
        let length = **view as u32;
        let is_counted = length > 0 && nulls.is_none_or(|nulls| nulls.is_valid(*row));
        if is_counted && length > INLINE_BYTES {
            long.push(*row);
        }
        is_counted && length <= INLINE_BYTES
    });
    let hash =
        |view: u128| halves_hash((view >> 32) as u64, (view >> 96) as u64, (view as u32).into());
    add_hashes(sketch, short.map(|(_, view)| *view), folded, hash);
    for row in long {
        let value: &[u8] = array.value(row).as_ref();
        sketch.add(value_hash(value));
    }
}

/// Decimals in the fewest bytes, big-endian.
fn decimals(sketch: &mut ThetaSketch, column: &ArrayRef) {
    let array = column.as_primitive::<Decimal128Type>();
    let hash = |value: i128| match i64::try_from(value) {
        Ok(value) => {
            let length = fewest_length(value.into());
            let reversed = (value as u64).swap_bytes() >> (64 - 8 * length);
            short_hash(reversed, u64::from(length))
        }
        Err(_) => value_hash(fewest(&value.to_be_bytes())),
    };
    let bits = |value: i128| folded(value.cast_unsigned());
    if array.null_count() == 0 {
        add_hashes(sketch, array.values().iter().copied(), bits, hash);
    } else {
        add_hashes(sketch, array.iter().flatten(), bits, hash);
    }
}

fn folded(value: u128) -> u64 {
    value as u64 ^ (value >> 64) as u64
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

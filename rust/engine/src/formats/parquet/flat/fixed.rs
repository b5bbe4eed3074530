//! Decoding of fixed-width values: numbers, times, decimals and FIXED_LEN_BYTE_ARRAY.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, make_array};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use parquet::basic::Type as PhysicalType;
use parquet::errors::{ParquetError, Result};

use super::encoded::{Encoded, ended};
use super::retain::retain;
use super::validity::Validity;
use super::value_type::{Page, ValueType};

/// A conversion from a fixed-width Parquet type to an Arrow native type.
pub(crate) trait Stored: Send + Sync + 'static {
    type Value: ArrowNativeType;

    const PHYSICAL: PhysicalType;

    /// Append the PLAIN values of `bytes`, of `width` bytes each.
    fn append(bytes: &[u8], width: usize, values: &mut Vec<Self::Value>);

    /// Convert an integer decoded from DELTA_BINARY_PACKED.
    fn of_delta(value: i64) -> Self::Value;
}

macro_rules! stored {
    ($name:ident, $from:ty, $to:ty, $physical:ident, $delta:expr) => {
        pub(crate) struct $name;

        impl Stored for $name {
            type Value = $to;

            const PHYSICAL: PhysicalType = PhysicalType::$physical;

            fn append(bytes: &[u8], _: usize, values: &mut Vec<$to>) {
                let (stored, _) = bytes.as_chunks::<{ size_of::<$from>() }>();
                values
                    .extend(stored.iter().map(|value| <$to>::from(<$from>::from_le_bytes(*value))));
            }

            fn of_delta(value: i64) -> $to {
                let of: fn(i64) -> $to = $delta;
                of(value)
            }
        }
    };
}

// The sum of 32-bit differences wraps around: the low 32 bits are the value.
stored!(Int32, i32, i32, INT32, |value| value as i32);
stored!(Int64, i64, i64, INT64, |value| value);
stored!(Float32, f32, f32, FLOAT, |_| 0.0);
stored!(Float64, f64, f64, DOUBLE, |_| 0.0);
stored!(Decimal32, i32, i128, INT32, |value| i128::from(value as i32));
stored!(Decimal64, i64, i128, INT64, i128::from);

/// Decimals stored as big-endian bytes, at most 16.
pub(crate) struct DecimalBytes;

impl Stored for DecimalBytes {
    type Value = i128;

    const PHYSICAL: PhysicalType = PhysicalType::FIXED_LEN_BYTE_ARRAY;

    fn append(bytes: &[u8], width: usize, values: &mut Vec<i128>) {
        values.extend(bytes.chunks_exact(width).map(|value| {
            let sign = if value.first().is_some_and(|first| *first >= 0x80) { 0xff } else { 0 };
            let mut wide = [sign; 16];
            wide[16 - width..].copy_from_slice(value);
            i128::from_be_bytes(wide)
        }));
    }

    fn of_delta(_: i64) -> i128 {
        0
    }
}

/// A column of fixed-width values, decoded to an Arrow type.
pub(crate) struct Fixed<S> {
    pub(crate) data_type: DataType,
    /// Bytes of a stored value.
    pub(crate) width: usize,
    pub(crate) stored: PhantomData<S>,
}

/// The entries of a dictionary, padded with default values to a power of two.
pub(crate) struct FixedDictionary<T> {
    values: Vec<T>,
    entries: usize,
}

impl<S: Stored> Fixed<S> {
    fn read(
        &self,
        bytes: &[u8],
        encoded: &mut Encoded,
        count: usize,
        values: &mut Vec<S::Value>,
    ) -> Result<()> {
        let expected = values.len() + count;
        match encoded {
            Encoded::Delta(delta) => {
                values.reserve(count);
                delta.each(bytes, count, |value| values.push(S::of_delta(value)))?;
            }
            encoded => {
                let append = &mut |stored: &[u8]| S::append(stored, self.width, values);
                encoded.fixed(bytes, (self.width, count), append)?;
            }
        }
        (values.len() == expected).then_some(()).ok_or_else(ended)
    }
}

impl<S: Stored> ValueType for Fixed<S> {
    type Values = Vec<S::Value>;
    type Dictionary = FixedDictionary<S::Value>;

    fn physical(&self) -> (PhysicalType, usize) {
        (S::PHYSICAL, self.width)
    }

    fn dictionary(&self, bytes: &[u8], entries: usize) -> Result<Self::Dictionary> {
        let mut values = Vec::new();
        self.read(bytes, &mut Encoded::Plain { at: 0 }, entries, &mut values)?;
        values.resize(entries.next_power_of_two(), S::Value::default());
        Ok(FixedDictionary { values, entries })
    }

    fn values(&self, rows: usize) -> Self::Values {
        Vec::with_capacity(rows)
    }

    fn append(
        &self,
        page: Page<'_, Self::Dictionary>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut Self::Values,
    ) -> Result<()> {
        let Some(dictionary) = page.dictionary else {
            return self.read(page.bytes, encoded, count, values);
        };
        // The number of values is a power of two: masked keys need no bounds check.
        let mask = dictionary.values.len() - 1;
        let entries = &dictionary.values[..=mask];
        encoded.key_blocks(page.bytes, (count, dictionary.entries), page.keys, |keys| {
            values.extend(keys.iter().map(|key| entries[*key as usize & mask]));
        })?;
        Ok(())
    }

    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut Self::Values) {
        validity.spread(values, rows, valid, S::Value::default());
    }

    fn retain(&self, values: &mut Self::Values, kept: &BooleanBuffer) -> bool {
        retain(values, kept);
        true
    }

    fn finish(&self, values: Self::Values, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let data = ArrayData::builder(self.data_type.clone())
            .len(values.len())
            .add_buffer(ScalarBuffer::from(values).into_inner())
            .nulls(nulls);
        data.build().map(make_array).map_err(|error| ParquetError::ArrowError(error.to_string()))
    }
}

/// A column of FIXED_LEN_BYTE_ARRAY values, decoded to fixed-size binaries.
pub(crate) struct FixedBytes {
    /// Bytes of a value, at least 1.
    pub(crate) width: usize,
}

impl ValueType for FixedBytes {
    type Values = Vec<u8>;
    type Dictionary = Vec<u8>;

    fn physical(&self) -> (PhysicalType, usize) {
        (PhysicalType::FIXED_LEN_BYTE_ARRAY, self.width)
    }

    fn dictionary(&self, bytes: &[u8], entries: usize) -> Result<Self::Dictionary> {
        let size = entries.checked_mul(self.width);
        Ok(size.and_then(|size| bytes.get(..size)).ok_or_else(ended)?.to_vec())
    }

    fn values(&self, rows: usize) -> Self::Values {
        Vec::with_capacity(rows.saturating_mul(self.width))
    }

    fn append(
        &self,
        page: Page<'_, Self::Dictionary>,
        encoded: &mut Encoded,
        count: usize,
        values: &mut Self::Values,
    ) -> Result<()> {
        let width = self.width;
        let Some(dictionary) = page.dictionary else {
            let expected = values.len() + count * width;
            let append = &mut |stored: &[u8]| values.extend_from_slice(stored);
            encoded.fixed(page.bytes, (width, count), append)?;
            return (values.len() == expected).then_some(()).ok_or_else(ended);
        };
        page.keys.clear();
        encoded.keys(page.bytes, (count, dictionary.len() / width), page.keys)?;
        for key in page.keys.iter() {
            let start = *key as usize * width;
            values.extend_from_slice(&dictionary[start..start + width]);
        }
        Ok(())
    }

    fn spread(&self, validity: &Validity, rows: usize, valid: usize, values: &mut Self::Values) {
        // Spread the ordinals of the values, then copy each value to the row of its ordinal.
        let mut ordinals: Vec<usize> = (1..=valid).collect();
        validity.spread(&mut ordinals, rows, valid, 0);
        let start = values.len() - valid * self.width;
        let dense = values.split_off(start);
        values.reserve(rows * self.width);
        for ordinal in ordinals {
            let value = ordinal.checked_sub(1).map(|index| index * self.width);
            match value.and_then(|start| dense.get(start..start + self.width)) {
                Some(value) => values.extend_from_slice(value),
                None => values.resize(values.len() + self.width, 0),
            }
        }
    }

    fn finish(&self, values: Self::Values, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let width = i32::try_from(self.width)?;
        let array = FixedSizeBinaryArray::try_new(width, Buffer::from(values), nulls);
        Ok(Arc::new(array.map_err(|error| ParquetError::ArrowError(error.to_string()))?))
    }
}

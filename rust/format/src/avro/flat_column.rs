//! Columns of fixed-width values.

use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, NullBufferBuilder};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

use super::forecast::Forecast;
use crate::{Error, Result};

/// Values of one native type, and their Arrow type.
#[derive(Debug)]
pub(super) struct FlatColumn<T> {
    data_type: DataType,
    values: Vec<T>,
    nulls: NullBufferBuilder,
}

impl<T: Default + Clone> FlatColumn<T> {
    pub(super) fn new(data_type: DataType) -> Self {
        Self { data_type, values: Vec::new(), nulls: NullBufferBuilder::new(0) }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: T) {
        self.values.push(value);
        self.nulls.append_non_null();
    }

    pub(super) fn reserve(&mut self, forecast: Forecast) {
        forecast.reserve(&mut self.values);
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    pub(super) fn null_bytes(&self) -> usize {
        size_of::<T>()
    }

    pub(super) fn push_nulls(&mut self, count: usize) {
        self.values.resize(self.values.len() + count, T::default());
        self.nulls.append_n_nulls(count);
    }
}

impl<T: ArrowNativeType> FlatColumn<T> {
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let values = std::mem::take(&mut self.values);
        let (length, nulls) = (values.len(), self.nulls.finish());
        flat_array(self.data_type.clone(), length, Buffer::from_vec(values), nulls)
    }
}

/// Create an array of one buffer of fixed-width values.
pub(super) fn flat_array(
    data_type: DataType,
    length: usize,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let data = ArrayData::builder(data_type).len(length).add_buffer(values).nulls(nulls);
    Ok(make_array(data.build().map_err(|error| invalid_column(&error))?))
}

/// Return the error for values that form no valid array, such as strings that are not UTF-8.
pub(super) fn invalid_column(error: &ArrowError) -> Error {
    Error::corrupt("Avro column", error.to_string())
}

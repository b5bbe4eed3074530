//! The interface of growing columns, and what a reader requests of them.

use std::sync::Arc;

use arrow_array::ArrayRef;

use super::cursor::{Cursor, Malformed};
use super::forecast::Forecast;
use super::schema::AvroType;
use crate::Result;
use crate::spec::types::Type;

/// The parts of the requested fields to skip.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Ids of fields to skip; their columns are all null.
    pub skipped_fields: Vec<i32>,
    /// Keys to decode in maps from int, in ascending order; `None` for all.
    pub map_keys: Option<Arc<[i32]>>,
    /// Whether values of maps from int may be null, as in data files but not in manifests.
    pub null_map_values: bool,
    /// Ids of optional fields that are null in every row if the writer has them twice or with a type that does not
    /// fit; other such fields are errors.
    pub dispensable_fields: &'static [i32],
}

/// A column that grows by one Avro value at a time. Columns of nested types are generic over it.
pub trait ColumnDecoder: Sized {
    /// Return a column of type `wanted` for a field written as `written`; `None` if the writer has no such field.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the written type does not fit.
    fn compile(wanted: &Type, written: Option<&AvroType>, selection: &Selection) -> Result<Self>;

    /// Read one value, which may be null.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes do not hold such a value.
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed>;

    /// Append nulls.
    fn push_nulls(&mut self, count: usize);

    /// Reserve capacity for values of the blocks to come. Small columns do not need it.
    fn reserve(&mut self, forecast: Forecast);

    /// Return the bytes of the values read, including the values of nulls.
    fn bytes(&self) -> usize;

    /// Return the bytes of one null. A null takes the room of a value in fixed-width columns.
    fn null_bytes(&self) -> usize;

    /// Return the values read; the column is empty afterwards and can be read into again.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the values form no valid array.
    fn finish(&mut self) -> Result<ArrayRef>;
}

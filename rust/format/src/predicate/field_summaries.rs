//! The columns of the partition field summaries in a manifest list. Spec: Manifest Lists.

use arrow_array::cast::AsArray;
use arrow_array::{BinaryArray, BooleanArray, ListArray, StructArray};

use crate::{Error, Result};

/// The summaries of all manifests, one row for each manifest and partition field.
pub(crate) struct FieldSummaries<'a> {
    pub(crate) contains_null: &'a BooleanArray,
    pub(crate) contains_nan: &'a BooleanArray,
    pub(crate) lower: &'a BinaryArray,
    pub(crate) upper: &'a BinaryArray,
}

impl<'a> FieldSummaries<'a> {
    /// Return the columns of the items of `partitions`, a column of lists of summaries.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a column is missing or has another type.
    pub(crate) fn of(partitions: &'a ListArray) -> Result<Self> {
        let unexpected = |name: &str| {
            let reason = format!("the type does not fit; expected summaries with {name}");
            Error::invalid("column partitions", reason)
        };
        let summaries: &StructArray =
            partitions.values().as_struct_opt().ok_or_else(|| unexpected("fields"))?;
        let flag = |name: &str| {
            let column = summaries.column_by_name(name).and_then(|column| column.as_boolean_opt());
            column.ok_or_else(|| unexpected(name))
        };
        let bound = |name: &str| {
            let column =
                summaries.column_by_name(name).and_then(|column| column.as_binary_opt::<i32>());
            column.ok_or_else(|| unexpected(name))
        };
        Ok(Self {
            contains_null: flag("contains_null")?,
            contains_nan: flag("contains_nan")?,
            lower: bound("lower_bound")?,
            upper: bound("upper_bound")?,
        })
    }
}

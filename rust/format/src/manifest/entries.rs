//! Manifest entries as columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray, StructArray,
    new_null_array,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::filter::{filter, filter_record_batch};

use super::columns::{entry_schema, typed_entry_schema};
use super::partition::{tuples_from_json, tuples_to_json};
use crate::spec::ArrowName;
use crate::spec::types::StructType;
use crate::{Error, Result};

/// A live file that an earlier snapshot added.
pub const EXISTING: i32 = 0;
/// A live file that this manifest's snapshot added.
pub const ADDED: i32 = 1;
/// A file that this manifest's snapshot removed.
pub const DELETED: i32 = 2;

/// Entries of one partition spec.
///
/// `entries` has the columns of [`entry_schema`] without `partition`. The struct array `partition` has one child per
/// spec field, with the field's name and in the spec's order. Both have the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestColumns {
    /// One row per entry, without the partition.
    pub entries: RecordBatch,
    /// The partition tuples.
    pub partition: StructArray,
}

impl ManifestColumns {
    /// Convert a batch of [`entry_schema`], or of data files, whose status is then added.
    ///
    /// Columns are matched by name and may have any Arrow type that casts to the schema's; missing optional columns are
    /// null.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a required column is missing, has null or does not cast, or a partition is not a
    /// tuple of `partition_type`.
    pub fn from_batch(batch: &RecordBatch, partition_type: &StructType) -> Result<Self> {
        let entries = conform(batch, &typed_entry_schema())?;
        let texts = batch
            .column_by_name("partition")
            .ok_or_else(|| Error::invalid("partition", "the column is missing"))?;
        let texts = cast(texts, &DataType::Utf8).map_err(|error| invalid(&error))?;
        let partition = tuples_from_json(partition_type, texts.as_string())?;
        Ok(Self { entries, partition })
    }

    /// Convert to a batch of [`entry_schema`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the partition columns do not fit `partition_type`.
    pub fn to_batch(&self, partition_type: &StructType) -> Result<RecordBatch> {
        let texts: ArrayRef = Arc::new(tuples_to_json(partition_type, &self.partition)?);
        let schema = entry_schema();
        let columns = schema.fields().iter().map(|field| match field.name().as_str() {
            "partition" => Ok(Arc::clone(&texts)),
            name => self.column(name).cloned(),
        });
        RecordBatch::try_new(Arc::clone(&schema), columns.collect::<Result<_>>()?)
            .map_err(|error| invalid(&error))
    }

    /// Return the number of entries.
    pub fn len(&self) -> usize {
        self.entries.num_rows()
    }

    /// Return whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return the entries for which `mask`, without nulls, is true.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the mask has another length.
    pub fn filter(&self, mask: &BooleanArray) -> Result<Self> {
        let entries = filter_record_batch(&self.entries, mask).map_err(|error| invalid(&error))?;
        let partition = filter(&self.partition, mask).map_err(|error| invalid(&error))?;
        Ok(Self { entries, partition: partition.as_struct().clone() })
    }

    /// Return `length` entries from `offset` on.
    pub fn slice(&self, offset: usize, length: usize) -> Self {
        let partition = self.partition.slice(offset, length);
        Self { entries: self.entries.slice(offset, length), partition }
    }

    /// Return whether the partition tuples of both have the same types.
    pub fn has_types_of(&self, other: &Self) -> bool {
        self.partition.data_type() == other.partition.data_type()
    }

    /// Concatenate the entries of parts of the same spec; `None` for no parts.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the parts' partition types differ.
    pub fn concat(parts: &[Self]) -> Result<Option<Self>> {
        let Some(first) = parts.first() else { return Ok(None) };
        if parts.len() == 1 {
            return Ok(Some(first.clone()));
        }
        let batches = parts.iter().map(|part| &part.entries);
        let entries = arrow_select::concat::concat_batches(&first.entries.schema(), batches)
            .map_err(|error| invalid(&error))?;
        let tuples: Vec<&dyn Array> = parts.iter().map(|part| &part.partition as _).collect();
        let partition = concat(&tuples).map_err(|error| invalid(&error))?;
        Ok(Some(Self { entries, partition: partition.as_struct().clone() }))
    }

    /// Return a mask of the entries that are not deleted.
    ///
    /// # Errors
    /// None for columns of this crate.
    pub fn live(&self) -> Result<BooleanArray> {
        let status = self.statuses()?;
        Ok(status.iter().map(|status| Some(status != Some(DELETED))).collect())
    }

    /// Return the `status` column: [`EXISTING`], [`ADDED`] or [`DELETED`].
    ///
    /// # Errors
    /// None for columns of this crate.
    pub fn statuses(&self) -> Result<&Int32Array> {
        self.ints("status")
    }

    /// Return the `file_path` column.
    ///
    /// # Errors
    /// None for columns of this crate.
    pub fn paths(&self) -> Result<&StringArray> {
        let column = self.column("file_path")?;
        column.as_string_opt::<i32>().ok_or_else(|| wrong_type("file_path", "string", column))
    }

    /// Return a column of 32-bit integers by name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is no such column.
    pub fn ints(&self, name: &str) -> Result<&Int32Array> {
        let column = self.column(name)?;
        column.as_primitive_opt::<Int32Type>().ok_or_else(|| wrong_type(name, "int", column))
    }

    /// Return a column of 64-bit integers by name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is no such column.
    pub fn longs(&self, name: &str) -> Result<&Int64Array> {
        let column = self.column(name)?;
        column.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong_type(name, "long", column))
    }

    /// Return a column by name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is no such column.
    pub fn column(&self, name: &str) -> Result<&ArrayRef> {
        self.entries
            .column_by_name(name)
            .ok_or_else(|| Error::invalid(name, "the column is missing"))
    }

    /// Replace the values of some columns.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a column is unknown or has another type or length.
    pub fn with_columns(&self, replaced: Vec<(&str, ArrayRef)>) -> Result<Self> {
        let schema = self.entries.schema();
        let mut columns = self.entries.columns().to_vec();
        for (name, array) in replaced {
            let index = schema.index_of(name).map_err(|error| invalid(&error))?;
            if let Some(column) = columns.get_mut(index) {
                *column = array;
            }
        }
        let entries = RecordBatch::try_new(schema, columns).map_err(|error| invalid(&error))?;
        Ok(Self { entries, partition: self.partition.clone() })
    }
}

/// Convert a batch to the columns and types of `schema`. A missing `status` means added, a missing `content` data.
///
/// # Errors
/// [`Error::InvalidArgument`] if a required column is missing or has null, or a column does not cast.
pub fn conform(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let columns = schema.fields().iter().map(|field| -> Result<ArrayRef> {
        let name = field.name();
        match batch.column_by_name(name) {
            Some(found) if found.data_type() == field.data_type() => Ok(Arc::clone(found)),
            Some(found) => cast(found, field.data_type())
                .map_err(|error| Error::invalid(name, error.to_string())),
            None if name == "status" => Ok(Arc::new(Int32Array::from(vec![ADDED; rows]))),
            None if field.is_nullable() => Ok(new_null_array(field.data_type(), rows)),
            None => Err(Error::invalid(name, "the column is missing")),
        }
    });
    let columns = columns.collect::<Result<_>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(|error| invalid(&error))
}

pub(super) fn invalid(error: &ArrowError) -> Error {
    Error::invalid("entries", error.to_string())
}

fn wrong_type(name: &str, expected: &str, column: &ArrayRef) -> Error {
    Error::invalid(
        name,
        format!(
            "the column has another type; expected {expected}, got {}",
            ArrowName(column.data_type())
        ),
    )
}

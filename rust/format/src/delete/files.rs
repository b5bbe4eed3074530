//! The columns of an entry batch by which a file is placed.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, PrimitiveArray, RecordBatch, StringArray};

use super::groups::PartitionRef;
use crate::error::{Error, Result};

pub(super) struct Files {
    sequence_numbers: PrimitiveArray<Int64Type>,
    spec_ids: PrimitiveArray<Int32Type>,
    partitions: StringArray,
}

impl Files {
    pub(super) fn of(batch: &RecordBatch) -> Result<Self> {
        Ok(Self {
            sequence_numbers: number_column(batch, "sequence_number")?,
            spec_ids: number_column(batch, "spec_id")?,
            partitions: text_column(batch, "partition")?,
        })
    }

    pub(super) fn sequence_number(&self, row: usize) -> Result<i64> {
        if self.sequence_numbers.is_null(row) {
            return Err(Error::invalid("sequence_number", "a live file has none"));
        }
        Ok(self.sequence_numbers.value(row))
    }

    pub(super) fn partition(&self, row: usize) -> PartitionRef<'_> {
        PartitionRef { spec_id: self.spec_ids.value(row), tuple: self.partitions.value(row) }
    }
}

pub(super) fn number_column<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
) -> Result<PrimitiveArray<T>> {
    let column = batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<T>());
    column.cloned().ok_or_else(|| absent(name))
}

pub(super) fn text_column(batch: &RecordBatch, name: &str) -> Result<StringArray> {
    let column = batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    column.cloned().ok_or_else(|| absent(name))
}

fn absent(name: &str) -> Error {
    Error::invalid("entry columns", format!("{name} is absent or of another type"))
}

//! Facts about files from their partition tuples, which are exact.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;

use super::stats::{ColumnFacts, ColumnStats};
use super::tree::BoundLeaf;
use crate::error::Result;
use crate::spec::{Partition, StructType, partitions_to_struct};

/// Partition tuples of one spec. Each holds one value per field, so what might match also must.
#[derive(Debug, Clone)]
pub struct PartitionTuples {
    columns: StructArray,
    field_ids: Vec<i32>,
}

impl PartitionTuples {
    /// Tuples as a struct array whose children are the partition fields in order.
    pub fn new(columns: StructArray, partition_type: &StructType) -> Self {
        Self { columns, field_ids: partition_type.fields.iter().map(|field| field.id).collect() }
    }

    /// Tuples as values.
    ///
    /// # Errors
    /// `InvalidArgument` where a value is not of its field's type.
    pub fn from_partitions(partition_type: &StructType, tuples: &[Partition]) -> Result<Self> {
        Ok(Self::new(partitions_to_struct(partition_type, tuples)?, partition_type))
    }
}

impl ColumnStats for PartitionTuples {
    fn entries(&self) -> usize {
        self.columns.len()
    }

    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts> {
        let unknown = ColumnFacts::unknown(&leaf.field_type, self.entries());
        let position = self.field_ids.iter().position(|id| *id == leaf.field_id);
        let Some(column) = position.and_then(|position| self.columns.columns().get(position))
        else {
            return Ok(unknown);
        };
        let valid = match column.logical_nulls() {
            Some(nulls) => nulls.into_inner(),
            None => BooleanBuffer::new_set(column.len()),
        };
        let nan = &nan_slots(column) & &valid;
        ColumnFacts {
            may_be_null: !&valid,
            may_have_values: &valid & &!&nan,
            may_be_nan: nan,
            ..unknown
        }
        .with_bounds(&leaf.field_type, Some(column.clone()), Some(column.clone()))
    }
}

/// The slots of a float array that hold NaN; a null slot may be either.
pub(super) fn nan_slots(column: &ArrayRef) -> BooleanBuffer {
    match column.data_type() {
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>().values();
            BooleanBuffer::collect_bool(values.len(), |row| values[row].is_nan())
        }
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>().values();
            BooleanBuffer::collect_bool(values.len(), |row| values[row].is_nan())
        }
        _ => BooleanBuffer::new_unset(column.len()),
    }
}

//! Facts from partition values: field summaries of manifests, and partition tuples, which are exact.

use arrow_array::{Array, BinaryArray, BooleanArray, ListArray, StructArray};
use arrow_buffer::BooleanBuffer;

use super::field_summaries::FieldSummaries;
use super::mask::{nan_slots, valid};
use super::stats::{ColumnFacts, ColumnStats, decode_bounds, is_floating};
use super::tree::BoundLeaf;
use crate::error::Result;
use crate::spec::{Partition, StructType, partitions_to_struct};

/// Partition field summaries of manifests of one spec.
///
/// A summary without a lower bound proves that all values of the field are null or NaN: the specification permits
/// omitting bounds for no other reason. A manifest without summaries is unknown.
#[derive(Debug, Clone, Copy)]
pub struct ManifestSummaries<'a> {
    partitions: &'a ListArray,
    partition_type: &'a StructType,
}

impl<'a> ManifestSummaries<'a> {
    /// Create statistics from the `partitions` column of a batch of manifest files.
    pub fn new(partitions: &'a ListArray, partition_type: &'a StructType) -> Self {
        Self { partitions, partition_type }
    }

    /// Return the index of a field's summary for each manifest.
    fn indices(&self, position: usize) -> Vec<Option<usize>> {
        let index = |manifest: usize| {
            let ends = self.partitions.value_offsets().get(manifest..manifest + 2)?;
            let start = usize::try_from(*ends.first()?).ok()?;
            let end = usize::try_from(*ends.last()?).ok()?;
            let found = start + position;
            (self.partitions.is_valid(manifest) && found < end).then_some(found)
        };
        (0..self.partitions.len()).map(index).collect()
    }
}

impl ColumnStats for ManifestSummaries<'_> {
    fn entries(&self) -> usize {
        self.partitions.len()
    }

    fn facts(&self, leaf: &BoundLeaf) -> Result<ColumnFacts> {
        let fields = &self.partition_type.fields;
        let unknown = ColumnFacts::unknown(&leaf.field_type, self.entries());
        let Some(position) = fields.iter().position(|field| field.id == leaf.field_id) else {
            return Ok(unknown);
        };
        let indices = self.indices(position);
        let summaries = FieldSummaries::of(self.partitions)?;
        let has_lower =
            |index: &Option<usize>| index.is_some_and(|index| summaries.lower.is_valid(index));
        let flag = |index: &Option<usize>, column: &BooleanArray| match index {
            Some(index) => column.is_null(*index) || column.value(*index),
            None => true,
        };
        let collect =
            |test: &dyn Fn(usize) -> bool| BooleanBuffer::collect_bool(indices.len(), test);
        let may_be_null = collect(&|entry| flag(&indices[entry], summaries.contains_null));
        let may_be_nan = collect(&|entry| {
            is_floating(&leaf.field_type) && flag(&indices[entry], summaries.contains_nan)
        });
        // A summary without null, NaN and bounds proves nothing.
        let may_have_values = collect(&|entry| {
            indices[entry].is_none()
                || has_lower(&indices[entry])
                || !(may_be_null.value(entry) || may_be_nan.value(entry))
        });
        let bound = |column: &BinaryArray| {
            let bytes = indices.iter().map(|index| {
                index.filter(|index| column.is_valid(*index)).map(|index| column.value(index))
            });
            decode_bounds(&leaf.field_type, bytes)
        };
        let (lower, upper) = (bound(summaries.lower)?, bound(summaries.upper)?);
        ColumnFacts { may_be_null, may_be_nan, may_have_values, ..unknown }.with_bounds(
            &leaf.field_type,
            Some(lower),
            Some(upper),
        )
    }
}

/// Partition tuples of one spec. All rows of an entry share the tuple, so the inclusive and the strict result are
/// equal.
#[derive(Debug, Clone)]
pub struct PartitionTuples {
    columns: StructArray,
    field_ids: Vec<i32>,
}

impl PartitionTuples {
    /// Create statistics from a struct array whose children are the partition fields in order.
    pub fn new(columns: StructArray, partition_type: &StructType) -> Self {
        Self { columns, field_ids: partition_type.fields.iter().map(|field| field.id).collect() }
    }

    /// Create statistics from tuples of values.
    ///
    /// # Errors
    /// `InvalidArgument` where a value does not have its field's type.
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
        let valid = valid(column);
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

//! Facts from partition values: field summaries of manifests, and partition tuples, which are exact.

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, BooleanArray, ListArray, StructArray};
use arrow_buffer::BooleanBuffer;

use super::mask::{nan_slots, valid};
use super::stats::{ColumnFacts, ColumnStats, decode_bounds, is_floating};
use super::tree::BoundLeaf;
use crate::error::{Error, Result};
use crate::spec::{Partition, StructType, partitions_to_struct};

/// Summaries of manifests that share one partition spec.
///
/// Without a lower bound a manifest has no value of the field other than null and NaN: the spec
/// lets a writer leave bounds out for no other reason. A manifest without summaries is unknown.
#[derive(Debug, Clone, Copy)]
pub struct ManifestSummaries<'a> {
    partitions: &'a ListArray,
    partition_type: &'a StructType,
}

impl<'a> ManifestSummaries<'a> {
    /// Summaries from the `partitions` column of manifest file columns, one row per manifest.
    pub fn new(partitions: &'a ListArray, partition_type: &'a StructType) -> Self {
        Self { partitions, partition_type }
    }

    /// Where each manifest's list has the summary of a field.
    fn places(&self, position: usize) -> Vec<Option<usize>> {
        let place = |manifest: usize| {
            let ends = self.partitions.value_offsets().get(manifest..manifest + 2)?;
            let start = usize::try_from(*ends.first()?).ok()?;
            let end = usize::try_from(*ends.last()?).ok()?;
            let found = start + position;
            (self.partitions.is_valid(manifest) && found < end).then_some(found)
        };
        (0..self.partitions.len()).map(place).collect()
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
        let places = self.places(position);
        let summaries = Summaries::of(self.partitions)?;
        let has_lower =
            |place: &Option<usize>| place.is_some_and(|place| summaries.lower.is_valid(place));
        let flag = |place: &Option<usize>, column: &BooleanArray| match place {
            Some(place) => column.is_null(*place) || column.value(*place),
            None => true,
        };
        let collect =
            |test: &dyn Fn(usize) -> bool| BooleanBuffer::collect_bool(places.len(), test);
        let may_be_null = collect(&|entry| flag(&places[entry], summaries.contains_null));
        let may_be_nan = collect(&|entry| {
            is_floating(&leaf.field_type) && flag(&places[entry], summaries.contains_nan)
        });
        // A summary that names neither a null, nor NaN, nor a bound tells nothing.
        let may_have_values = collect(&|entry| {
            places[entry].is_none()
                || has_lower(&places[entry])
                || !(may_be_null.value(entry) || may_be_nan.value(entry))
        });
        let bound = |column: &BinaryArray| {
            let bytes = places.iter().map(|place| {
                place.filter(|place| column.is_valid(*place)).map(|place| column.value(place))
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

struct Summaries<'a> {
    contains_null: &'a BooleanArray,
    contains_nan: &'a BooleanArray,
    lower: &'a BinaryArray,
    upper: &'a BinaryArray,
}

impl<'a> Summaries<'a> {
    fn of(partitions: &'a ListArray) -> Result<Self> {
        let unexpected = |name: &str| {
            Error::invalid("column partitions", format!("its summaries have no {name}"))
        };
        let summaries: &StructArray =
            partitions.values().as_struct_opt().ok_or_else(|| unexpected("fields"))?;
        let flag = |name: &str| {
            let column = summaries.column_by_name(name).and_then(|column| column.as_boolean_opt());
            column.ok_or_else(|| unexpected(name))
        };
        let bytes = |name: &str| {
            let column = summaries.column_by_name(name).and_then(|c| c.as_binary_opt::<i32>());
            column.ok_or_else(|| unexpected(name))
        };
        Ok(Self {
            contains_null: flag("contains_null")?,
            contains_nan: flag("contains_nan")?,
            lower: bytes("lower_bound")?,
            upper: bytes("upper_bound")?,
        })
    }
}

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

//! Transformed columns of a batch, the keys of partitions and sort orders.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, NullArray, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use icefloe_format::spec::{
    Partition, PartitionSpec, PrimitiveType, Schema, SortOrder, Transform, partition_value,
};
use icefloe_format::{Error, Result};

/// A transformed column.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// The column; `None` for the void transform, which reads none and may be of a dropped column.
    source: Option<Source>,
    result: PrimitiveType,
}

/// A column and the transform of its values.
#[derive(Debug, Clone)]
struct Source {
    path: Vec<usize>,
    transform: Transform,
    column_type: PrimitiveType,
}

impl Key {
    /// Return the key of a transform of a column. A void transform needs no column: its keys are null.
    ///
    /// # Errors
    /// `InvalidArgument` where the schema has no such column outside lists and maps, or the
    /// transform does not apply to its type; `Unsupported` for an unknown transform.
    pub(super) fn new(schema: &Schema, source_id: i32, transform: &Transform) -> Result<Self> {
        if let Transform::Unknown(name) = transform {
            return Err(Error::unsupported(format!("writing with the transform {name}")));
        }
        if *transform == Transform::Void {
            return Ok(Self { source: None, result: PrimitiveType::Unknown });
        }
        let found = schema.position_path(source_id).zip(schema.primitive_type(source_id));
        let (path, column_type) = found.ok_or_else(|| {
            let reason = format!(
                "expected the id of a primitive column outside lists and maps, got {source_id}"
            );
            Error::invalid("schema", reason)
        })?;
        let result = transform.result_type(&column_type)?;
        let source = Source { path, transform: transform.clone(), column_type };
        Ok(Self { source: Some(source), result })
    }

    /// Return the keys of a spec's fields in order.
    pub(super) fn of_spec(schema: &Schema, spec: &PartitionSpec) -> Result<Vec<Self>> {
        let fields = spec.fields.iter();
        fields.map(|field| Self::new(schema, field.source_id, &field.transform)).collect()
    }

    /// Return the keys of a sort order's fields in order.
    pub(super) fn of_order(schema: &Schema, order: &SortOrder) -> Result<Vec<Self>> {
        let fields = order.fields.iter();
        fields.map(|field| Self::new(schema, field.source_id, &field.transform)).collect()
    }

    /// Return the type of transformed columns.
    pub(super) fn result(&self) -> &PrimitiveType {
        &self.result
    }

    /// Return the transformed column of a batch.
    pub(super) fn column(&self, batch: &RecordBatch) -> Result<ArrayRef> {
        match &self.source {
            Some(source) => {
                let column = column_at(batch, &source.path)?;
                source.transform.apply_array(&column, &source.column_type)
            }
            None => Ok(Arc::new(NullArray::new(batch.num_rows()))),
        }
    }
}

/// Return the partition tuple in a row of transformed columns.
pub(super) fn partition_at(keys: &[Key], columns: &[ArrayRef], row: usize) -> Result<Partition> {
    let pairs = keys.iter().zip(columns);
    pairs.map(|(key, column)| partition_value(column, row, &key.result)).collect()
}

/// Return a column below structs, null where a struct on the path is null.
fn column_at(batch: &RecordBatch, path: &[usize]) -> Result<ArrayRef> {
    let absent = || Error::invalid("data", "expected key columns at the positions of the schema");
    let (first, rest) = path.split_first().ok_or_else(absent)?;
    let mut column = Arc::clone(batch.columns().get(*first).ok_or_else(absent)?);
    let mut nulls: Option<NullBuffer> = None;
    for position in rest {
        let parent = column.as_struct_opt().ok_or_else(absent)?;
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        column = Arc::clone(parent.columns().get(*position).ok_or_else(absent)?);
    }
    if nulls.is_none() {
        return Ok(column);
    }
    let nulls = NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref());
    let masked = column.to_data().into_builder().nulls(nulls).build();
    masked.map(make_array).map_err(|error| Error::invalid("data", error.to_string()))
}

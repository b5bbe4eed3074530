//! Partition tuples of manifest entries: typed columns inside, JSON text outside.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringArray, StructArray};
use arrow_ord::partition::partition;
use arrow_schema::{DataType, TimeUnit};

use crate::spec::partition_json::{
    Partition, partition_from_json, partition_from_struct, partition_to_json, partitions_to_struct,
};
use crate::spec::types::{PrimitiveType, StructType};
use crate::spec::{Datum, PartitionSpec, Schema};
use crate::{Error, Result};

/// The type of a spec's tuples, each field typed by the first of `schemas` that has its source.
///
/// Specs outlive columns: give the current schema first, then the historical ones. A field whose
/// source none of them has is of the transform's fixed type, or unknown.
pub fn partition_type(spec: &PartitionSpec, schemas: &[Schema]) -> StructType {
    let no_columns = Schema::default();
    let mut merged = spec.partition_type(&no_columns);
    for (position, field) in merged.fields.iter_mut().enumerate() {
        let source_id = spec.fields.get(position).map(|field| field.source_id);
        let schema = schemas.iter().find(|s| source_id.is_some_and(|id| s.type_of(id).is_some()));
        let typed = schema.map(|schema| spec.partition_type(schema));
        if let Some(typed) = typed.and_then(|typed| typed.fields.into_iter().nth(position)) {
            *field = typed;
        }
    }
    merged
}

/// `tuples`' type: `partition_type`, with types that it does not know taken from the columns.
pub fn typed_by_columns(partition_type: &StructType, tuples: &StructArray) -> StructType {
    let mut typed = partition_type.clone();
    for (field, column) in typed.fields.iter_mut().zip(tuples.columns()) {
        if field.field_type.as_primitive() == Some(PrimitiveType::Unknown)
            && let Some(primitive) = primitive_of(column.data_type())
        {
            field.field_type = primitive.into();
        }
    }
    typed
}

/// Each tuple as a JSON array of single values.
///
/// # Errors
/// [`Error::InvalidArgument`] if the columns do not fit the type.
pub fn tuples_to_json(partition_type: &StructType, tuples: &StructArray) -> Result<StringArray> {
    let typed = typed_by_columns(partition_type, tuples);
    if typed.fields.is_empty() {
        return Ok(StringArray::from_iter_values((0..tuples.len()).map(|_| "[]")));
    }
    let mut texts = StringBuilder::with_capacity(tuples.len(), 0);
    for rows in repeated(tuples) {
        let text = partition_to_json(&partition_from_struct(&typed, tuples, rows.start)?);
        rows.for_each(|_| texts.append_value(&text));
    }
    Ok(texts.finish())
}

/// Rows whose tuples are the same one after another, as writers leave them.
fn repeated(tuples: &StructArray) -> Vec<Range<usize>> {
    match partition(tuples.columns()) {
        Ok(repeated) if tuples.null_count() == 0 => repeated.ranges(),
        // A type that is not compared, or tuples that are null themselves.
        _ => (0..tuples.len()).map(|row| row..row + 1).collect(),
    }
}

/// The tuples that [`tuples_to_json`] made, as one column per partition field.
///
/// # Errors
/// [`Error::InvalidArgument`] if a text is null or not a tuple of the type.
pub fn tuples_from_json(partition_type: &StructType, texts: &StringArray) -> Result<StructArray> {
    // Entries by far outnumber partitions, so each distinct text is parsed once.
    let mut parsed: HashMap<&str, Partition> = HashMap::new();
    let mut tuples = Vec::with_capacity(texts.len());
    for text in texts {
        let text = text.ok_or_else(|| Error::invalid("partition", "it is null"))?;
        let tuple = match parsed.get(text) {
            Some(tuple) => tuple.clone(),
            None => {
                let tuple = partition_from_json(partition_type, text)?;
                parsed.insert(text, tuple.clone());
                tuple
            }
        };
        tuples.push(tuple);
    }
    partitions_to_struct(&typed_by_values(partition_type, &tuples), &tuples)
}

/// Where the type does not know, the values do: their JSON tells numbers from text.
fn typed_by_values(partition_type: &StructType, tuples: &[Partition]) -> StructType {
    let mut typed = partition_type.clone();
    for (position, field) in typed.fields.iter_mut().enumerate() {
        if field.field_type.as_primitive() == Some(PrimitiveType::Unknown) {
            let mut values = tuples.iter().filter_map(|tuple| tuple.get(position)?.as_ref());
            if let Some(primitive) = values.next().map(Datum::primitive_type) {
                field.field_type = primitive.into();
            }
        }
    }
    typed
}

fn primitive_of(data_type: &DataType) -> Option<PrimitiveType> {
    Some(match data_type {
        DataType::Boolean => PrimitiveType::Boolean,
        DataType::Int32 => PrimitiveType::Int,
        DataType::Int64 => PrimitiveType::Long,
        DataType::Float32 => PrimitiveType::Float,
        DataType::Float64 => PrimitiveType::Double,
        DataType::Date32 => PrimitiveType::Date,
        DataType::Time64(TimeUnit::Microsecond) => PrimitiveType::Time,
        DataType::Timestamp(TimeUnit::Microsecond, None) => PrimitiveType::Timestamp,
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => PrimitiveType::Timestamptz,
        DataType::Timestamp(TimeUnit::Nanosecond, None) => PrimitiveType::TimestampNs,
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => PrimitiveType::TimestamptzNs,
        DataType::Utf8 => PrimitiveType::String,
        DataType::Binary => PrimitiveType::Binary,
        DataType::FixedSizeBinary(length) => PrimitiveType::Fixed(u32::try_from(*length).ok()?),
        DataType::Decimal128(precision, scale) => {
            PrimitiveType::Decimal { precision: *precision, scale: *scale }
        }
        _ => return None,
    })
}

//! Written files, and their columns for a commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Int32Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames,
    PrimitiveBuilder,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, Int32Array, Int64Array, RecordBatch, StringArray, new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::columns::data_file_schema;

use super::file_format::FileFormat;
use super::metrics::ColumnMetrics;
use crate::error::Result;

/// A new data file or delete file.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenFile {
    /// 0 for rows of the table, 1 for position deletes, 2 for equality deletes.
    pub content: i32,
    /// The file's format.
    pub format: FileFormat,
    /// Location of the file.
    pub location: String,
    /// Partition spec id.
    pub spec_id: i32,
    /// The partition tuple as a JSON array.
    pub partition: String,
    /// Rows in the file.
    pub record_count: i64,
    /// Size in bytes.
    pub file_size_bytes: i64,
    /// Metrics by field id.
    pub metrics: ColumnMetrics,
    /// Offsets of the row groups or stripes; empty for Avro.
    pub split_offsets: Vec<i64>,
    /// Field ids of the key columns of equality deletes; empty for other files.
    pub equality_ids: Vec<i32>,
    /// Sort order id, if the rows are sorted.
    pub sort_order_id: Option<i32>,
    /// The data file of all deleted positions, if it is one.
    pub referenced_data_file: Option<String>,
}

/// Return the files in columns of `data_file_schema`.
///
/// # Errors
/// `InvalidArgument` for columns that differ from the schema, which cannot occur.
pub fn data_file_batch(files: &[WrittenFile]) -> Result<RecordBatch> {
    let schema = data_file_schema();
    let columns = schema.fields().iter().map(|field| column(field, files));
    let columns = columns.collect::<Result<Vec<_>, ArrowError>>();
    let batch = columns.and_then(|columns| RecordBatch::try_new(schema, columns));
    batch.map_err(|error| FormatError::invalid("data files", error.to_string()).into())
}

fn column(field: &Field, files: &[WrittenFile]) -> Result<ArrayRef, ArrowError> {
    let int32 = |value: fn(&WrittenFile) -> Option<i32>| -> ArrayRef {
        Arc::new(files.iter().map(value).collect::<Int32Array>())
    };
    let int64 = |value: fn(&WrittenFile) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(files.iter().map(value)))
    };
    let text = |value: fn(&WrittenFile) -> Option<&str>| -> ArrayRef {
        Arc::new(files.iter().map(value).collect::<StringArray>())
    };
    Ok(match field.name().as_str() {
        "content" => int32(|file| Some(file.content)),
        "file_path" => text(|file| Some(&file.location)),
        "file_format" => text(|file| Some(file.format.name())),
        "spec_id" => int32(|file| Some(file.spec_id)),
        "partition" => text(|file| Some(&file.partition)),
        "record_count" => int64(|file| file.record_count),
        "file_size_in_bytes" => int64(|file| file.file_size_bytes),
        "column_sizes" => counts(field, files, |metrics| &metrics.column_sizes)?,
        "value_counts" => counts(field, files, |metrics| &metrics.value_counts)?,
        "null_value_counts" => counts(field, files, |metrics| &metrics.null_value_counts)?,
        "nan_value_counts" => counts(field, files, |metrics| &metrics.nan_value_counts)?,
        "lower_bounds" => bounds(field, files, |metrics| &metrics.lower_bounds)?,
        "upper_bounds" => bounds(field, files, |metrics| &metrics.upper_bounds)?,
        "split_offsets" => lists(files, Int64Builder::new(), |file| &file.split_offsets),
        "equality_ids" => lists(files, Int32Builder::new(), |file| &file.equality_ids),
        "sort_order_id" => int32(|file| file.sort_order_id),
        "referenced_data_file" => text(|file| file.referenced_data_file.as_deref()),
        _ => new_null_array(field.data_type(), files.len()),
    })
}

fn counts(
    field: &Field,
    files: &[WrittenFile],
    map: fn(&ColumnMetrics) -> &BTreeMap<i32, i64>,
) -> Result<ArrayRef, ArrowError> {
    let mut builder = MapBuilder::new(names(field), Int32Builder::new(), Int64Builder::new())
        .with_keys_field(key_field())
        .with_values_field(Field::new("value", DataType::Int64, true));
    for file in files {
        let entries = map(&file.metrics);
        for (id, count) in entries {
            builder.keys().append_value(*id);
            builder.values().append_value(*count);
        }
        builder.append(!entries.is_empty())?;
    }
    Ok(Arc::new(builder.finish()))
}

fn bounds(
    field: &Field,
    files: &[WrittenFile],
    map: fn(&ColumnMetrics) -> &BTreeMap<i32, Vec<u8>>,
) -> Result<ArrayRef, ArrowError> {
    let mut builder = MapBuilder::new(names(field), Int32Builder::new(), BinaryBuilder::new())
        .with_keys_field(key_field())
        .with_values_field(Field::new("value", DataType::Binary, true));
    for file in files {
        let entries = map(&file.metrics);
        for (id, bound) in entries {
            builder.keys().append_value(*id);
            builder.values().append_value(bound);
        }
        builder.append(!entries.is_empty())?;
    }
    Ok(Arc::new(builder.finish()))
}

/// Return one list for each file, null where it is empty.
fn lists<T: ArrowPrimitiveType>(
    files: &[WrittenFile],
    values: PrimitiveBuilder<T>,
    list: fn(&WrittenFile) -> &Vec<T::Native>,
) -> ArrayRef {
    let mut builder = ListBuilder::new(values);
    for file in files {
        builder.values().append_slice(list(file));
        builder.append(!list(file).is_empty());
    }
    Arc::new(builder.finish())
}

fn key_field() -> Field {
    Field::new("key", DataType::Int32, false)
}

fn names(field: &Field) -> Option<MapFieldNames> {
    let DataType::Map(entries, _) = field.data_type() else { return None };
    Some(MapFieldNames { entry: entries.name().clone(), key: "key".into(), value: "value".into() })
}

//! The Arrow shapes in which files, manifest entries and manifests travel.
//!
//! Everything that plans, writes or commits speaks these three schemas, and so does Python.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

/// Columns of one data file or delete file, as a manifest stores them.
///
/// `partition` is the tuple as a JSON array of single values in spec order. Columns that a file
/// format or a writer did not record are null.
pub fn data_file_schema() -> SchemaRef {
    Arc::new(Schema::new(data_file_fields()))
}

/// Columns of one manifest entry: its status and history, then those of [`data_file_schema`].
pub fn entry_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let mut fields = vec![
            required("status", DataType::Int32),
            optional("snapshot_id", DataType::Int64),
            optional("sequence_number", DataType::Int64),
            optional("file_sequence_number", DataType::Int64),
        ];
        fields.extend(data_file_fields());
        Arc::new(Schema::new(fields))
    });
    Arc::clone(&SCHEMA)
}

/// [`entry_schema`] without `partition`, for where tuples travel as typed columns beside.
pub fn typed_entry_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let schema = entry_schema();
        let fields = schema.fields().iter().filter(|field| field.name() != "partition").cloned();
        Arc::new(Schema::new(fields.collect::<Fields>()))
    });
    Arc::clone(&SCHEMA)
}

/// Columns of one manifest, as a manifest list stores them.
///
/// A null `sequence_number` or `min_sequence_number` belongs to a manifest of the commit under
/// way: it is filled when the list is written, anew on each retry.
pub fn manifest_file_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        optional("manifest_path", DataType::Utf8),
        optional("manifest_length", DataType::Int64),
        optional("partition_spec_id", DataType::Int32),
        optional("content", DataType::Int32),
        optional("sequence_number", DataType::Int64),
        optional("min_sequence_number", DataType::Int64),
        optional("added_snapshot_id", DataType::Int64),
        optional("added_files_count", DataType::Int32),
        optional("existing_files_count", DataType::Int32),
        optional("deleted_files_count", DataType::Int32),
        optional("added_rows_count", DataType::Int64),
        optional("existing_rows_count", DataType::Int64),
        optional("deleted_rows_count", DataType::Int64),
        optional("partitions", list_of(DataType::Struct(field_summary_fields()))),
        optional("key_metadata", DataType::Binary),
    ]))
}

/// Fields of one element of a manifest's `partitions`: the summary of one partition field.
pub fn field_summary_fields() -> Fields {
    Fields::from(vec![
        optional("contains_null", DataType::Boolean),
        optional("contains_nan", DataType::Boolean),
        optional("lower_bound", DataType::Binary),
        optional("upper_bound", DataType::Binary),
    ])
}

/// A column's statistics by field id: `map<int32, value>` with entries `key` and `value`.
pub fn map_of(value: DataType) -> DataType {
    DataType::Map(map_entries_field(value), false)
}

/// The list type of these schemas; its child is named `item`, as Arrow builders name it.
pub fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}

/// The `entries` field of [`map_of`].
pub fn map_entries_field(value: DataType) -> FieldRef {
    let entry = Fields::from(vec![required("key", DataType::Int32), optional("value", value)]);
    Arc::new(Field::new("entries", DataType::Struct(entry), false))
}

fn data_file_fields() -> Vec<Field> {
    vec![
        required("content", DataType::Int32),
        required("file_path", DataType::Utf8),
        required("file_format", DataType::Utf8),
        required("spec_id", DataType::Int32),
        required("partition", DataType::Utf8),
        required("record_count", DataType::Int64),
        required("file_size_in_bytes", DataType::Int64),
        optional("column_sizes", map_of(DataType::Int64)),
        optional("value_counts", map_of(DataType::Int64)),
        optional("null_value_counts", map_of(DataType::Int64)),
        optional("nan_value_counts", map_of(DataType::Int64)),
        optional("lower_bounds", map_of(DataType::Binary)),
        optional("upper_bounds", map_of(DataType::Binary)),
        optional("key_metadata", DataType::Binary),
        optional("split_offsets", list_of(DataType::Int64)),
        optional("equality_ids", list_of(DataType::Int32)),
        optional("sort_order_id", DataType::Int32),
        optional("referenced_data_file", DataType::Utf8),
    ]
}

fn required(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

fn optional(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

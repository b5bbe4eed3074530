//! The Arrow schemas of data files, manifest entries and manifest files, which planning, writing and commits share with
//! Python.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

/// Return the columns of data files and delete files, as manifests store them.
///
/// `partition` is the tuple as a JSON array of single values in spec order. Values that the writer did not record are
/// null.
pub fn data_file_schema() -> SchemaRef {
    Arc::new(Schema::new(data_file_fields()))
}

/// Return the columns of manifest entries: status and sequence numbers, then the columns of [`data_file_schema`].
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

/// Return [`entry_schema`] without `partition`, for entries whose tuples are typed columns.
pub fn typed_entry_schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let schema = entry_schema();
        let fields = schema.fields().iter().filter(|field| field.name() != "partition").cloned();
        Arc::new(Schema::new(fields.collect::<Fields>()))
    });
    Arc::clone(&SCHEMA)
}

/// Return the columns of manifest files, as manifest lists store them.
///
/// A null `sequence_number` or `min_sequence_number` belongs to a manifest of the current commit. Writing the list fills
/// it, again for each retry.
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

/// Return the fields of a partition field summary, the element of `partitions`.
pub fn field_summary_fields() -> Fields {
    Fields::from(vec![
        optional("contains_null", DataType::Boolean),
        optional("contains_nan", DataType::Boolean),
        optional("lower_bound", DataType::Binary),
        optional("upper_bound", DataType::Binary),
    ])
}

/// Return the type of statistics by field id: `map<int32, value>` with entries `key` and `value`.
pub fn map_of(value: DataType) -> DataType {
    DataType::Map(map_entries_field(value), false)
}

/// Return the list type of these schemas, with a child named `item` as in Arrow's builders.
pub fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}

/// Return the `entries` field of [`map_of`].
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

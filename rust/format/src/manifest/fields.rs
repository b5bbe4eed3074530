//! The record types of manifests and manifest lists.
//!
//! Reading resolves fields by id. Writing follows names, order and presence of the reference implementation, as some
//! readers resolve records by name.

use crate::spec::types::{ListType, MapType, NestedField, PrimitiveType, StructType, Type};

/// Name of the root record of a manifest.
pub const ENTRY_RECORD: &str = "manifest_entry";
/// Name of the root record of a manifest list.
pub const MANIFEST_FILE_RECORD: &str = "manifest_file";
/// Field id of an entry's status.
pub const STATUS_ID: i32 = 0;
/// Field id of an entry's data file.
pub const DATA_FILE_ID: i32 = 2;
/// Field id of a data file's content.
pub const CONTENT_ID: i32 = 134;
/// Field id of the partition tuple in a data file.
pub const PARTITION_ID: i32 = 102;
/// Field ids of the six column statistics.
pub const STATISTICS_IDS: [i32; 6] = [108, 109, 110, 137, 125, 128];

/// Field ids of the metrics that filters use: record count, column counts and bounds.
pub const METRICS_IDS: [i32; 6] = [103, 109, 110, 137, 125, 128];

/// Field ids that readers of entries do not require: statistics, `key_metadata`, `split_offsets` and `sort_order_id`.
pub(super) const DISPENSABLE_ENTRY_IDS: &[i32] = &[108, 109, 110, 137, 125, 128, 131, 132, 140];
/// Field ids that readers of manifest lists do not require: partition summaries and `key_metadata`.
pub(super) const DISPENSABLE_MANIFEST_IDS: &[i32] = &[507, 519];

const INT: PrimitiveType = PrimitiveType::Int;
const LONG: PrimitiveType = PrimitiveType::Long;
const STRING: PrimitiveType = PrimitiveType::String;
const BINARY: PrimitiveType = PrimitiveType::Binary;

/// Return the entry type of a manifest of `format_version`, in writing order.
pub fn written_entry(format_version: u8, partition: &StructType) -> StructType {
    let mut fields = vec![required(STATUS_ID, "status", INT), optional(1, "snapshot_id", LONG)];
    let data_file = if format_version == 1 {
        data_file_v1(partition)
    } else {
        fields.push(optional(3, "sequence_number", LONG));
        fields.push(optional(4, "file_sequence_number", LONG));
        data_file_v2(partition)
    };
    fields.push(NestedField::required(DATA_FILE_ID, "data_file", data_file));
    StructType { fields }
}

/// Return the entry type for reading any manifest: that of version 2, with fields optional that version 1 does not have.
pub fn read_entry(partition: &StructType) -> StructType {
    let mut data_file = data_file_v2(partition);
    for field in &mut data_file.fields {
        // Version 1 has no content, and a manifest of an unpartitioned table may omit the empty tuple.
        if field.id == CONTENT_ID || (field.id == PARTITION_ID && partition.fields.is_empty()) {
            field.required = false;
        }
    }
    let fields = vec![
        required(STATUS_ID, "status", INT),
        optional(1, "snapshot_id", LONG),
        optional(3, "sequence_number", LONG),
        optional(4, "file_sequence_number", LONG),
        NestedField::required(DATA_FILE_ID, "data_file", data_file),
    ];
    StructType { fields }
}

/// Return the entry type with only those fields, and fields of the data file, whose id is in `ids`.
pub(super) fn narrowed(entry: &StructType, ids: &[i32]) -> StructType {
    let mut fields = entry.fields.clone();
    fields.retain(|field| ids.contains(&field.id));
    for field in fields.iter_mut().filter(|field| field.id == DATA_FILE_ID) {
        if let Type::Struct(data_file) = &mut field.field_type {
            data_file.fields.retain(|field| ids.contains(&field.id));
        }
    }
    StructType { fields }
}

/// Return the type of a manifest list of `format_version`, in writing order.
pub fn written_manifest_file(format_version: u8) -> StructType {
    let leading = [
        required(500, "manifest_path", STRING),
        required(501, "manifest_length", LONG),
        required(502, "partition_spec_id", INT),
    ];
    let added_snapshot_id = required(503, "added_snapshot_id", LONG);
    let mut fields = Vec::from(leading);
    if format_version == 1 {
        fields.push(added_snapshot_id);
        fields.extend(file_counts(false));
        fields.push(partitions());
        fields.extend(row_counts(false));
    } else {
        fields.push(required(517, "content", INT));
        fields.push(required(515, "sequence_number", LONG));
        fields.push(required(516, "min_sequence_number", LONG));
        fields.push(added_snapshot_id);
        fields.extend(file_counts(true));
        fields.extend(row_counts(true));
        fields.push(partitions());
    }
    fields.push(optional(519, "key_metadata", BINARY));
    StructType { fields }
}

/// Return the type for reading any manifest list, in the order of the columns.
pub fn read_manifest_file() -> StructType {
    let mut fields = vec![
        required(500, "manifest_path", STRING),
        required(501, "manifest_length", LONG),
        required(502, "partition_spec_id", INT),
        optional(517, "content", INT),
        optional(515, "sequence_number", LONG),
        optional(516, "min_sequence_number", LONG),
        optional(503, "added_snapshot_id", LONG),
    ];
    fields.extend(file_counts(false));
    fields.extend(row_counts(false));
    fields.push(partitions());
    fields.push(optional(519, "key_metadata", BINARY));
    StructType { fields }
}

fn data_file_v1(partition: &StructType) -> StructType {
    let mut fields = Vec::from(leading(partition));
    fields.push(required(105, "block_size_in_bytes", LONG));
    fields.extend(statistics());
    fields.push(optional(131, "key_metadata", BINARY));
    fields.push(split_offsets());
    fields.push(optional(140, "sort_order_id", INT));
    StructType { fields }
}

fn data_file_v2(partition: &StructType) -> StructType {
    let mut fields = vec![required(CONTENT_ID, "content", INT)];
    fields.extend(leading(partition));
    fields.extend(statistics());
    fields.push(optional(131, "key_metadata", BINARY));
    fields.push(split_offsets());
    fields.push(list(135, "equality_ids", 136, INT));
    fields.push(optional(140, "sort_order_id", INT));
    fields.push(optional(143, "referenced_data_file", STRING));
    StructType { fields }
}

fn leading(partition: &StructType) -> [NestedField; 5] {
    [
        required(100, "file_path", STRING),
        required(101, "file_format", STRING),
        NestedField::required(PARTITION_ID, "partition", partition.clone()),
        required(103, "record_count", LONG),
        required(104, "file_size_in_bytes", LONG),
    ]
}

fn statistics() -> [NestedField; 6] {
    [
        map(108, "column_sizes", (117, 118), LONG),
        map(109, "value_counts", (119, 120), LONG),
        map(110, "null_value_counts", (121, 122), LONG),
        map(137, "nan_value_counts", (138, 139), LONG),
        map(125, "lower_bounds", (126, 127), BINARY),
        map(128, "upper_bounds", (129, 130), BINARY),
    ]
}

fn split_offsets() -> NestedField {
    list(132, "split_offsets", 133, LONG)
}

fn file_counts(all: bool) -> [NestedField; 3] {
    [
        field(504, "added_files_count", INT, all),
        field(505, "existing_files_count", INT, all),
        field(506, "deleted_files_count", INT, all),
    ]
}

fn row_counts(all: bool) -> [NestedField; 3] {
    [
        field(512, "added_rows_count", LONG, all),
        field(513, "existing_rows_count", LONG, all),
        field(514, "deleted_rows_count", LONG, all),
    ]
}

fn partitions() -> NestedField {
    let summary = vec![
        required(509, "contains_null", PrimitiveType::Boolean),
        optional(518, "contains_nan", PrimitiveType::Boolean),
        optional(510, "lower_bound", BINARY),
        optional(511, "upper_bound", BINARY),
    ];
    let element = Type::Struct(StructType { fields: summary });
    let list = ListType { element_id: 508, element_required: true, element };
    NestedField::optional(507, "partitions", list)
}

fn list(id: i32, name: &str, element_id: i32, element: PrimitiveType) -> NestedField {
    let list = ListType { element_id, element_required: true, element: element.into() };
    NestedField::optional(id, name, list)
}

fn map(id: i32, name: &str, ids: (i32, i32), value: PrimitiveType) -> NestedField {
    let (key_id, value_id) = ids;
    let (key, value) = (INT.into(), value.into());
    let map = MapType { key_id, key, value_id, value_required: true, value };
    NestedField::optional(id, name, map)
}

fn field(id: i32, name: &str, primitive: PrimitiveType, is_required: bool) -> NestedField {
    if is_required { required(id, name, primitive) } else { optional(id, name, primitive) }
}

fn required(id: i32, name: &str, primitive: PrimitiveType) -> NestedField {
    NestedField::required(id, name, primitive)
}

fn optional(id: i32, name: &str, primitive: PrimitiveType) -> NestedField {
    NestedField::optional(id, name, primitive)
}

//! Decoding and encoding of manifest lists.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, StructArray};

use super::columns::manifest_file_schema;
use super::entries::conform;
use super::fields::{
    DISPENSABLE_MANIFEST_IDS, MANIFEST_FILE_RECORD, narrowed, read_manifest_file,
    written_manifest_file,
};
use crate::avro::iceberg_schema::record_schema;
use crate::avro::{Container, ContainerWriter, Cursor, RowEncoder, Selection, StructColumn};
use crate::codec::Codec;
use crate::spec::Schema;
use crate::spec::types::StructType;
use crate::{Error, Result};

const WHAT: &str = "manifest list";

/// Options of encoding a manifest list.
#[derive(Debug, Clone, Copy)]
pub struct ListOptions {
    /// 1 or 2.
    pub format_version: u8,
    /// The snapshot of the list.
    pub snapshot_id: i64,
    /// The parent snapshot, if any.
    pub parent_snapshot_id: Option<i64>,
    /// The snapshot's sequence number, assigned to manifests without one; 0 in version 1.
    pub sequence_number: i64,
}

/// Decode the manifest files of a snapshot to columns of [`manifest_file_schema`].
///
/// Contents and sequence numbers of version 1 are 0. Null counts are unknown.
///
/// # Errors
/// [`Error::Corrupt`] if `bytes` are no manifest list; [`Error::Unsupported`] for an unknown codec.
pub fn decode_manifest_list(bytes: &[u8]) -> Result<RecordBatch> {
    let wanted = read_manifest_file();
    let (start, records) = read_records(bytes, &wanted)?;
    let (_, mut arrays, _) = records.into_parts();
    for (field, array) in wanted.fields.iter().zip(&mut arrays) {
        match field.name.as_str() {
            "content" => *array = Arc::new(or_zero_int(array)),
            "sequence_number" | "min_sequence_number" => *array = Arc::new(or_long(array, 0)),
            _ => {}
        }
    }
    let list = RecordBatch::try_new(manifest_file_schema(), arrays)
        .map_err(|error| Error::corrupt_at(WHAT, start, error.to_string()))?;
    check_manifests(&list).map_err(|reason| Error::corrupt_at(WHAT, start, reason))?;
    Ok(list)
}

/// The locations, stated lengths and partition specs of the manifests of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedManifests {
    /// Location of each manifest, never null.
    pub paths: StringArray,
    /// Size in bytes as the list states it.
    pub lengths: Int64Array,
    /// Partition spec id of the manifest's entries.
    pub spec_ids: Int32Array,
}

/// Decode only the locations, lengths and partition specs of a manifest list.
///
/// # Errors
/// As for [`decode_manifest_list`].
pub fn decode_listed_manifests(bytes: &[u8]) -> Result<ListedManifests> {
    let wanted = narrowed(&read_manifest_file(), &[500, 501, 502]);
    let (start, records) = read_records(bytes, &wanted)?;
    match records.columns() {
        [paths, lengths, spec_ids] if records.columns().iter().all(|it| it.null_count() == 0) => {
            Ok(ListedManifests {
                paths: paths.as_string().clone(),
                lengths: lengths.as_primitive().clone(),
                spec_ids: spec_ids.as_primitive().clone(),
            })
        }
        _ => {
            let reason = "expected a path, a length and a spec id in every row, got null";
            Err(Error::corrupt_at(WHAT, start, reason))
        }
    }
}

/// Read the wanted fields of all records, and return the position of the first block with them.
fn read_records(bytes: &[u8], wanted: &StructType) -> Result<(u64, StructArray)> {
    let container = Container::parse(bytes)?;
    let schema = container.schema();
    let selection =
        Selection { dispensable_fields: DISPENSABLE_MANIFEST_IDS, ..Selection::default() };
    let mut columns = StructColumn::compile(wanted, Some(schema), &selection)
        .map_err(|error| error.or_at(container.schema_offset()))?;
    let mut blocks = container.blocks();
    let start = blocks.position();
    while let Some(block) = blocks.next_block()? {
        let mut cursor = Cursor::new(block.bytes);
        // Every manifest has a path of at least one byte.
        if block.count > block.bytes.len() {
            let reason =
                format!("a block claims {} manifests in {} bytes", block.count, block.bytes.len());
            return Err(Error::corrupt_at(WHAT, block.offset, reason));
        }
        for _ in 0..block.count {
            columns
                .read(&mut cursor)
                .map_err(|error| block.malformed(WHAT, error, cursor.remaining()))?;
        }
        if cursor.remaining() > 0 {
            let reason =
                format!("a block has {} bytes after its last manifest", cursor.remaining());
            return Err(Error::corrupt_at(WHAT, block.offset, reason));
        }
    }
    Ok((start, columns.finish().map_err(|error| error.or_at(start))?))
}

/// Check the columns without which a row names no manifest.
fn check_manifests(list: &RecordBatch) -> Result<(), String> {
    for name in ["manifest_path", "manifest_length", "partition_spec_id"] {
        if list.column_by_name(name).is_none_or(|column| column.null_count() > 0) {
            return Err(format!("expected a value of {name} in every row, got null"));
        }
    }
    Ok(())
}

/// Encode columns of [`manifest_file_schema`] as a manifest list. Manifests without a sequence number are assigned that
/// of the snapshot. `sync` is the synchronisation marker.
///
/// # Errors
/// [`Error::InvalidArgument`] if a required value is null, or a list of version 1 has delete manifests;
/// [`Error::Unsupported`] for other format versions.
pub fn encode_manifest_list(
    manifests: &RecordBatch,
    options: &ListOptions,
    codec: Codec,
    sync: [u8; 16],
) -> Result<Vec<u8>> {
    if !(1..=2).contains(&options.format_version) {
        let feature =
            format!("writing manifest lists of format version {}", options.format_version);
        return Err(Error::unsupported(feature));
    }
    let manifests = conform(manifests, &manifest_file_schema())?;
    let fields = written_manifest_file(options.format_version);
    let arrays = fields.fields.iter().map(|field| -> Result<ArrayRef> {
        let name = field.name.as_str();
        let array = manifests.column_by_name(name);
        let array = array.ok_or_else(|| Error::invalid(name, "the column is missing"))?;
        Ok(match name {
            "content" => Arc::new(or_zero_int(array)),
            "sequence_number" | "min_sequence_number" => {
                Arc::new(or_long(array, options.sequence_number))
            }
            _ => Arc::clone(array),
        })
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    refuse_deletes_in_version_1(&manifests, options)?;
    let encoder = RowEncoder::compile(&fields, &arrays)?;
    let schema = record_schema(MANIFEST_FILE_RECORD, &fields).to_string();
    let own = Schema::new(0, fields.fields, vec![]);
    let metadata = metadata(options, &own);
    let mut writer = ContainerWriter::new(&schema, &metadata, codec, sync);
    for row in 0..manifests.num_rows() {
        writer.record(|out| encoder.encode(row, out))?;
    }
    writer.finish()
}

fn metadata(options: &ListOptions, own: &Schema) -> Vec<(&'static str, String)> {
    let parent = options.parent_snapshot_id.map_or_else(|| "null".to_owned(), |id| id.to_string());
    let mut metadata =
        vec![("snapshot-id", options.snapshot_id.to_string()), ("parent-snapshot-id", parent)];
    if options.format_version > 1 {
        metadata.push(("sequence-number", options.sequence_number.to_string()));
    }
    metadata.push(("format-version", options.format_version.to_string()));
    metadata.push(("iceberg.schema", own.to_json()));
    metadata
}

fn refuse_deletes_in_version_1(manifests: &RecordBatch, options: &ListOptions) -> Result<()> {
    let content = manifests.column_by_name("content").map(|c| c.as_primitive::<Int32Type>());
    let deletes = content.is_some_and(|content| content.iter().flatten().any(|c| c != 0));
    if options.format_version == 1 && deletes {
        return Err(Error::invalid("content", "tables of format version 1 have no delete files"));
    }
    Ok(())
}

fn or_zero_int(array: &ArrayRef) -> Int32Array {
    array.as_primitive::<Int32Type>().iter().map(|value| value.unwrap_or(0)).collect()
}

fn or_long(array: &ArrayRef, default: i64) -> Int64Array {
    array.as_primitive::<Int64Type>().iter().map(|value| value.unwrap_or(default)).collect()
}

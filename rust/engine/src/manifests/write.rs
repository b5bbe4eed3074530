//! Writing manifests and manifest lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, PrimitiveArray, RecordBatch};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::avro::writer::sync_marker;
use icefloe_format::codec::Codec;
use icefloe_format::manifest::decode::count_entries;
use icefloe_format::manifest::{
    EncodeOptions, ListOptions, ManifestColumns, ManifestContent, ManifestFile, ManifestSummary,
    encode_manifest, encode_manifest_list, manifest_file_schema, manifest_files_to_batch,
};

use super::read::CONCURRENCY;
use super::rows::manifest_rows;
use super::table_types::TableTypes;
use super::written::all_or_none;
use crate::error::{Error, Result};
use crate::runtime::executor::compute;
use crate::store::FileIo;

/// The most entries of one manifest of added files.
const MAX_ENTRIES: usize = 10_000;
const CODEC_PROPERTY: &str = "write.manifest.compression-codec";
const LEVEL_PROPERTY: &str = "write.manifest.compression-level";
/// The codec of manifest lists, which no table property changes.
const LIST_CODEC: Codec = Codec::Deflate(6);

/// The locations, version, snapshot and compression of manifests to write.
#[derive(Debug, Clone)]
pub struct ManifestOptions {
    /// Prefix of the manifests' locations; `-m<N>.avro` follows.
    pub location_prefix: String,
    /// The N of the first manifest.
    pub first_index: usize,
    /// Format version, 1 or 2.
    pub format_version: u8,
    /// The snapshot that adds the manifests.
    pub snapshot_id: i64,
    /// Block compression.
    pub codec: Codec,
}

impl ManifestOptions {
    /// Return the compression codec of manifests from table properties.
    ///
    /// # Errors
    /// [`FormatError::InvalidArgument`] for a codec or level that manifests do not support.
    pub fn codec_of(properties: &BTreeMap<String, String>) -> Result<Codec> {
        let level = properties.get(LEVEL_PROPERTY).map(|text| {
            text.trim().parse::<i32>().map_err(|_| {
                FormatError::invalid(LEVEL_PROPERTY, format!("expected an integer, got {text:?}"))
            })
        });
        let name = properties.get(CODEC_PROPERTY).map_or("gzip", String::as_str);
        Ok(Codec::from_property(name, level.transpose()?)?)
    }
}

/// Write entries as new manifests, one or more per spec, and describe them.
///
/// `entries` are columns of `entry_schema`, or of `data_file_schema` for added files. More than 10,000 entries of a
/// spec are spread evenly over several manifests.
///
/// # Errors
/// [`Error::Format`] if the entries cannot be written, [`Error::Storage`], [`Error::Exists`].
pub async fn write_manifests(
    io: &FileIo,
    entries: &RecordBatch,
    content: ManifestContent,
    types: Arc<TableTypes>,
    options: &ManifestOptions,
) -> Result<RecordBatch> {
    let mut parts = Vec::new();
    for spec_id in spec_ids(entries)? {
        let of_spec = of_spec(entries, spec_id)?;
        let columns = ManifestColumns::from_batch(&of_spec, &types.partition_type(spec_id)?)?;
        for (offset, length) in balanced(columns.len()) {
            parts.push((spec_id, columns.slice(offset, length)));
        }
    }
    let first = options.first_index;
    let writes = parts.into_iter().enumerate().map(|(index, (spec_id, columns))| {
        let target = Target { index: first + index, spec_id, content };
        write_manifest(io, columns, target, Arc::clone(&types), options)
    });
    let written = all_or_none(io, writes, |(file, _)| vec![file.path.clone()]).await?;
    Ok(manifest_files_to_batch(&written)?)
}

/// The number, spec and content of a manifest to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) index: usize,
    pub(super) spec_id: i32,
    pub(super) content: ManifestContent,
}

/// Encode and store one manifest.
pub(super) async fn write_manifest(
    io: &FileIo,
    columns: ManifestColumns,
    target: Target,
    types: Arc<TableTypes>,
    options: &ManifestOptions,
) -> Result<(ManifestFile, ManifestSummary)> {
    let path = format!("{}-m{}.avro", options.location_prefix, target.index);
    let (format_version, snapshot_id) = (options.format_version, options.snapshot_id);
    let (codec, sync) = (options.codec, sync_marker(&path));
    let encoded = compute("encode a manifest", move || {
        let options = EncodeOptions {
            format_version,
            content: target.content,
            schema: types.schema()?,
            spec: types.spec(target.spec_id)?,
            partition_type: &types.written_partition_type(target.spec_id)?,
            snapshot_id,
            codec,
            sync,
        };
        Ok(encode_manifest(&columns, &options)?)
    });
    let encoded = encoded.await?;
    let length = i64::try_from(encoded.bytes.len()).unwrap_or(i64::MAX);
    put_new(io, &path, Bytes::from(encoded.bytes)).await?;
    let summary = encoded.summary;
    let file = ManifestFile {
        path,
        length,
        spec_id: target.spec_id,
        content: target.content,
        // Version 1 has no sequence numbers, which readers take as 0.
        sequence_number: (format_version == 1).then_some(0),
        added_snapshot_id: Some(snapshot_id),
        added_files: Some(summary.added.files),
        existing_files: Some(summary.existing.files),
    };
    Ok((file, summary))
}

/// Write a snapshot's manifest list; manifests without a sequence number inherit the snapshot's.
///
/// Version 2 requires counts that version 1 may lack: manifests without counts are read and counted.
///
/// # Errors
/// [`Error::Format`] if the manifests cannot be written, [`Error::Storage`], [`Error::Exists`].
pub async fn write_manifest_list(
    io: &FileIo,
    location: &str,
    manifests: &RecordBatch,
    options: ListOptions,
) -> Result<()> {
    let mut manifests = manifest_rows(manifests)?.1;
    if options.format_version > 1 {
        manifests = with_counts(io, manifests).await?;
    }
    let sync = sync_marker(location);
    let bytes = encode_manifest_list(&manifests, &options, LIST_CODEC, sync)?;
    put_new(io, location, Bytes::from(bytes)).await
}

const FILE_COUNTS: [&str; 3] = ["existing_files_count", "added_files_count", "deleted_files_count"];
const ROW_COUNTS: [&str; 3] = ["existing_rows_count", "added_rows_count", "deleted_rows_count"];

/// Files and rows of the existing, added and deleted entries of manifests, by row of their list.
type CountsByRow = BTreeMap<usize, [(i32, i64); 3]>;

/// Return manifests with all counts. Counts that the list lacks come from the entries of the manifest.
async fn with_counts(io: &FileIo, manifests: RecordBatch) -> Result<RecordBatch> {
    let names = FILE_COUNTS.iter().chain(&ROW_COUNTS);
    let columns: Vec<&ArrayRef> = names.filter_map(|name| manifests.column_by_name(name)).collect();
    let lacking: Vec<usize> = (0..manifests.num_rows())
        .filter(|row| columns.iter().any(|column| column.is_null(*row)))
        .collect();
    if lacking.is_empty() {
        return Ok(manifests);
    }
    let counted = counted(io, &manifests, &lacking).await?;
    let mut arrays = manifests.columns().to_vec();
    for (field, array) in manifest_file_schema().fields().iter().zip(&mut arrays) {
        let position = |names: &[&str; 3]| names.iter().position(|name| name == field.name());
        if let Some(status) = position(&FILE_COUNTS) {
            *array = filled::<Int32Type>(array, |row| Some(counted.get(&row)?.get(status)?.0));
        } else if let Some(status) = position(&ROW_COUNTS) {
            *array = filled::<Int64Type>(array, |row| Some(counted.get(&row)?.get(status)?.1));
        }
    }
    RecordBatch::try_new(manifests.schema(), arrays)
        .map_err(|error| FormatError::invalid("manifests", error.to_string()).into())
}

/// Read the manifests of `rows` of a list and count their entries.
async fn counted(io: &FileIo, manifests: &RecordBatch, rows: &[usize]) -> Result<CountsByRow> {
    let (files, _) = manifest_rows(manifests)?;
    let paths = rows.iter().filter_map(|row| Some((*row, files.get(*row)?.path.clone())));
    let counted = futures::stream::iter(paths.collect::<Vec<_>>())
        .map(|(row, path)| async move {
            let bytes = io.read(&path).await?;
            let counts = compute("count a manifest's entries", move || {
                count_entries(&bytes).map_err(|error| Error::in_file(path, error))
            });
            Ok::<_, Error>((row, counts.await?))
        })
        .buffered(CONCURRENCY);
    counted.try_collect().await
}

/// Return a column with nulls replaced by the value of their row, if there is one.
fn filled<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    value: impl Fn(usize) -> Option<T::Native>,
) -> ArrayRef {
    let found = column.as_primitive::<T>().iter().enumerate();
    Arc::new(found.map(|(row, found)| found.or_else(|| value(row))).collect::<PrimitiveArray<T>>())
}

/// Store a manifest or manifest list under a new location.
///
/// A storage client that retries after a lost reply meets its own file: a file of the same bytes is success, any other
/// file an error.
async fn put_new(io: &FileIo, location: &str, data: Bytes) -> Result<()> {
    match io.write(location, data.clone(), false).await {
        Err(Error::Exists { location }) => {
            if io.read(&location).await? == data {
                Ok(())
            } else {
                Err(Error::Exists { location })
            }
        }
        Err(error) => {
            // The file may be stored although its reply was lost; nothing refers to its unique name.
            drop(io.delete_many(&[location.to_owned()]).await);
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}

/// Return the distinct spec ids in order of first appearance.
fn spec_ids(entries: &RecordBatch) -> Result<Vec<i32>> {
    let mut distinct = Vec::new();
    for id in spec_id_column(entries)?.iter().flatten() {
        if !distinct.contains(&id) {
            distinct.push(id);
        }
    }
    Ok(distinct)
}

fn of_spec(entries: &RecordBatch, spec_id: i32) -> Result<RecordBatch> {
    let ids = spec_id_column(entries)?;
    if ids.iter().all(|id| id == Some(spec_id)) {
        return Ok(entries.clone());
    }
    let mask: BooleanArray = ids.iter().map(|id| Some(id == Some(spec_id))).collect();
    arrow_select::filter::filter_record_batch(entries, &mask)
        .map_err(|error| FormatError::invalid("entries", error.to_string()).into())
}

fn spec_id_column(entries: &RecordBatch) -> Result<&Int32Array> {
    let column = entries.column_by_name("spec_id").and_then(|c| c.as_primitive_opt::<Int32Type>());
    let column = column.filter(|column| column.null_count() == 0);
    column.ok_or_else(|| {
        FormatError::invalid("spec_id", "expected an int column without nulls").into()
    })
}

/// Return ranges (offset, length) of at most [`MAX_ENTRIES`] each, of sizes that differ by at most 1.
fn balanced(entries: usize) -> Vec<(usize, usize)> {
    let parts = entries.div_ceil(MAX_ENTRIES);
    (0..parts)
        .map(|part| {
            let (start, end) = (entries * part / parts, entries * (part + 1) / parts);
            (start, end - start)
        })
        .collect()
}

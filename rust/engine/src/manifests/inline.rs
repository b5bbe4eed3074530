//! Manifests that a snapshot of format version 1 lists itself, without a manifest list.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, new_null_array};
use futures::{StreamExt, TryStreamExt};
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::decode::count_entries;
use icefloe_format::manifest::{DecodeOptions, ManifestDecoder, Stats, manifest_file_schema};
use icefloe_format::spec::StructType;

use super::read::CONCURRENCY;
use crate::error::{Error, Result};
use crate::runtime::executor::compute;
use crate::store::FileIo;

/// A manifest as its own header and entries describe it.
struct Described {
    location: String,
    length: i64,
    spec_id: i32,
    /// Files and rows of existing, added and deleted entries.
    counts: [(i32, i64); 3],
}

/// Describe manifests in columns of `manifest_file_schema`, with lengths, specs and counts read from the manifests. Added
/// snapshot ids and partition summaries are null.
///
/// # Errors
/// [`Error::Missing`], [`Error::Storage`], and [`Error::InFile`] for a file that is not a manifest.
pub async fn describe_manifests(io: &FileIo, locations: Vec<String>) -> Result<RecordBatch> {
    let described: Vec<Described> = futures::stream::iter(locations)
        .map(|location| describe(io, location))
        .buffered(CONCURRENCY)
        .try_collect()
        .await?;
    batch(&described)
}

async fn describe(io: &FileIo, location: String) -> Result<Described> {
    let location = io.absolute(&location).into_owned();
    let bytes = io.read(&location).await?;
    compute("describe a manifest", move || {
        let found = header_spec_id(&bytes).and_then(|id| Ok((id, count_entries(&bytes)?)));
        let (spec_id, counts) = found.map_err(|error| Error::in_file(&location, error))?;
        let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        Ok(Described { location, length, spec_id, counts })
    })
    .await
}

/// The partition spec id in a manifest's header, 0 if absent.
///
/// # Errors
/// `Corrupt` for a file that is not a manifest.
pub(crate) fn header_spec_id(bytes: &[u8]) -> icefloe_format::Result<i32> {
    let partition_type = StructType::default();
    let options = DecodeOptions { spec_id: 0, partition_type: &partition_type, stats: Stats::Skip };
    Ok(ManifestDecoder::new(bytes, &options)?.header().partition_spec_id.unwrap_or(0))
}

fn batch(described: &[Described]) -> Result<RecordBatch> {
    let ints = |value: &dyn Fn(&Described) -> i32| -> ArrayRef {
        Arc::new(Int32Array::from_iter_values(described.iter().map(value)))
    };
    let longs = |value: &dyn Fn(&Described) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(described.iter().map(value)))
    };
    let schema = manifest_file_schema();
    let columns = schema.fields().iter().map(|field| match field.name().as_str() {
        "manifest_path" => Arc::new(StringArray::from_iter_values(
            described.iter().map(|one| one.location.as_str()),
        )),
        "manifest_length" => longs(&|one| one.length),
        "partition_spec_id" => ints(&|one| one.spec_id),
        "content" => ints(&|_| 0),
        "sequence_number" | "min_sequence_number" => longs(&|_| 0),
        "existing_files_count" => ints(&|one| one.counts[0].0),
        "added_files_count" => ints(&|one| one.counts[1].0),
        "deleted_files_count" => ints(&|one| one.counts[2].0),
        "existing_rows_count" => longs(&|one| one.counts[0].1),
        "added_rows_count" => longs(&|one| one.counts[1].1),
        "deleted_rows_count" => longs(&|one| one.counts[2].1),
        _ => new_null_array(field.data_type(), described.len()),
    });
    let columns = columns.collect();
    RecordBatch::try_new(schema, columns)
        .map_err(|error| FormatError::invalid("manifests", error.to_string()).into())
}

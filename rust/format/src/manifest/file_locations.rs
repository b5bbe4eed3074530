//! Decoding of the locations of a manifest's files, without partitions, statistics and inheritance.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, Int32Array, Int64Array, StringArray};

use super::decode::{WHAT, blocks_of, check_statuses, part, read_blocks};
use super::fields::{CONTENT_ID, DATA_FILE_ID, STATUS_ID, narrowed, read_entry};
use crate::avro::{BlockRun, Container, Selection, StructColumn};
use crate::spec::types::StructType;
use crate::{Error, Result};

const FILE_PATH_ID: i32 = 100;
const FILE_SIZE_ID: i32 = 104;

/// The locations of a manifest's entries; all columns have the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct FileLocations {
    /// Status of each entry, never null.
    pub statuses: Int32Array,
    /// Content: 0 for data, 1 for position deletes, 2 for equality deletes; null means data.
    pub contents: Int32Array,
    /// Location, never null.
    pub paths: StringArray,
    /// Size in bytes, never null.
    pub sizes: Int64Array,
}

/// Decode the locations of all entries of a manifest, or of one run of its blocks; see
/// [`decode_run`](super::decode_run).
///
/// # Errors
/// As for [`ManifestDecoder`](super::ManifestDecoder).
pub fn decode_file_locations(bytes: &[u8], run: Option<&BlockRun>) -> Result<FileLocations> {
    let container = Container::parse(bytes)?;
    let ids = [STATUS_ID, DATA_FILE_ID, CONTENT_ID, FILE_PATH_ID, FILE_SIZE_ID];
    let wanted = narrowed(&read_entry(&StructType::default()), &ids);
    let mut columns =
        StructColumn::compile(&wanted, Some(container.schema()), &Selection::default())
            .map_err(|error| error.or_at(container.schema_offset()))?;
    let mut blocks = blocks_of(&container, run);
    let first = blocks.position();
    read_blocks(&mut blocks, &mut columns, usize::MAX)?;
    let found = columns.finish().and_then(|records| {
        let data_file = part(&records, "data_file")?.as_struct();
        let statuses = part(&records, "status")?;
        check_statuses(statuses)?;
        let found = FileLocations {
            statuses: statuses.as_primitive::<Int32Type>().clone(),
            contents: part(data_file, "content")?.as_primitive::<Int32Type>().clone(),
            paths: part(data_file, "file_path")?.as_string::<i32>().clone(),
            sizes: part(data_file, "file_size_in_bytes")?.as_primitive::<Int64Type>().clone(),
        };
        match found.statuses.null_count() + found.paths.null_count() + found.sizes.null_count() {
            0 => Ok(found),
            _ => Err(Error::corrupt(WHAT, "an entry has no status, location or size")),
        }
    });
    found.map_err(|error| error.or_at(first))
}

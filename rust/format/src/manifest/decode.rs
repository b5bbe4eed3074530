//! Decoding of manifests to columns.
//!
//! The file's schema is compiled once against the requested fields. Each block is then decompressed into a reused buffer,
//! and its records are appended to the columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, StringArray, StructArray};

use super::columns::typed_entry_schema;
use super::entries::{ADDED, DELETED, EXISTING, ManifestColumns, invalid};
use super::fields::{DISPENSABLE_ENTRY_IDS, STATISTICS_IDS, read_entry};
use crate::avro::{Block, BlockRun, Blocks, Container, Cursor, Forecast, Selection, StructColumn};
use crate::spec::types::StructType;
use crate::{Error, Result};

pub(super) const WHAT: &str = "manifest";
/// Entries per batch when counting, so that their columns stay in the cache.
const COUNTED_AT_ONCE: usize = 1_024;

/// The column statistics to decode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stats {
    /// No statistics; the six columns are null.
    Skip,
    /// All statistics.
    #[default]
    All,
    /// The statistics of the columns with these field ids.
    Columns(Vec<i32>),
}

/// Options of decoding a manifest.
#[derive(Debug, Clone)]
pub struct DecodeOptions<'a> {
    /// The manifest's spec id according to the manifest list.
    pub spec_id: i32,
    /// Type of the tuples; see [`partition_type_among`](crate::spec::PartitionSpec::partition_type_among).
    pub partition_type: &'a StructType,
    /// The statistics to decode.
    pub stats: Stats,
}

/// The metadata of a manifest's header, all optional as writers differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManifestHeader {
    /// JSON of the table's schema when the manifest was written.
    pub schema: Option<String>,
    /// JSON of the spec's fields, or of the whole spec.
    pub partition_spec: Option<String>,
    /// Id of the spec.
    pub partition_spec_id: Option<i32>,
    /// Format version.
    pub format_version: Option<i32>,
    /// 0 for data files, 1 for delete files.
    pub content: Option<i32>,
}

/// Decodes a manifest batch by batch.
pub struct ManifestDecoder<'a> {
    blocks: Blocks<'a>,
    columns: StructColumn,
    spec_id: i32,
    header: ManifestHeader,
}

impl<'a> ManifestDecoder<'a> {
    /// Parse the header of a manifest; `bytes` are the whole file.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if `bytes` are no manifest; [`Error::Unsupported`] for a codec or type that is not
    /// implemented.
    pub fn new(bytes: &'a [u8], options: &DecodeOptions<'_>) -> Result<Self> {
        Self::of_run(bytes, None, options)
    }

    /// Parse the header to decode only the blocks of `run`, or all blocks for `None`; see
    /// [`Header::runs`](crate::avro::Header::runs).
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn of_run(
        bytes: &'a [u8],
        run: Option<&BlockRun>,
        options: &DecodeOptions<'_>,
    ) -> Result<Self> {
        let container = Container::parse(bytes)?;
        let wanted = read_entry(options.partition_type);
        let selection = selection(&options.stats);
        let columns = StructColumn::compile(&wanted, Some(container.schema()), &selection)
            .map_err(|error| error.or_at(container.schema_offset()))?;
        let (blocks, header) = (blocks_of(&container, run), header(&container)?);
        Ok(Self { blocks, columns, spec_id: options.spec_id, header })
    }

    /// Return the metadata of the header.
    pub fn header(&self) -> &ManifestHeader {
        &self.header
    }

    /// Decode whole blocks until there are at least `rows` entries; `None` at the end of the manifest.
    ///
    /// # Errors
    /// [`Error::Corrupt`] with the position of the block, or of the batch's first block; the decoder
    /// is then unusable.
    pub fn next_batch(&mut self, rows: usize) -> Result<Option<ManifestColumns>> {
        let first = self.blocks.position();
        read_blocks(&mut self.blocks, &mut self.columns, rows)?;
        if self.columns.rows() == 0 {
            return Ok(None);
        }
        let batch = self.columns.finish().and_then(|records| assemble(&records, self.spec_id));
        batch.map(Some).map_err(|error| error.or_at(first))
    }
}

/// Return the blocks of a run, or all blocks.
pub(super) fn blocks_of<'a>(container: &Container<'a>, run: Option<&BlockRun>) -> Blocks<'a> {
    run.map_or_else(|| container.blocks(), |run| container.blocks_of(run))
}

/// Read whole blocks until there are at least `rows` entries in `columns`, or to the end of the manifest.
pub(super) fn read_blocks(
    blocks: &mut Blocks<'_>,
    columns: &mut StructColumn,
    rows: usize,
) -> Result<()> {
    let start = blocks.remaining();
    let mut forecast_at = 1;
    let mut blocks_read = 0;
    while columns.rows() < rows {
        if rows == usize::MAX && blocks_read == forecast_at {
            // Reserve again whenever the number of blocks has doubled, so that buffers are rarely reallocated.
            let left = blocks.remaining();
            columns.reserve(Forecast { read: start - left, left });
            forecast_at *= 2;
        }
        let Some(block) = blocks.next_block()? else { break };
        blocks_read += 1;
        let mut cursor = Cursor::new(block.bytes);
        check_count(&block)?;
        for _ in 0..block.count {
            columns
                .read(&mut cursor)
                .map_err(|error| block.malformed(WHAT, error, cursor.remaining()))?;
        }
        trailing(&block, &cursor)?;
    }
    Ok(())
}

/// Decode all entries of a manifest, without inheritance. Memory is that of the columns and of one block;
/// [`ManifestDecoder::next_batch`] also bounds the columns.
///
/// # Errors
/// As for [`ManifestDecoder`].
pub fn decode_manifest(bytes: &[u8], options: &DecodeOptions<'_>) -> Result<ManifestColumns> {
    decode_run(bytes, None, options)
}

/// Decode the entries of one run of blocks, or of all blocks. After an error, decode the whole manifest for an accurate
/// message: a run does not know the previous blocks and the limits that remain.
///
/// # Errors
/// As for [`ManifestDecoder`].
pub fn decode_run(
    bytes: &[u8],
    run: Option<&BlockRun>,
    options: &DecodeOptions<'_>,
) -> Result<ManifestColumns> {
    let mut decoder = ManifestDecoder::of_run(bytes, run, options)?;
    match decoder.next_batch(usize::MAX)? {
        Some(columns) => Ok(columns),
        None => assemble(&decoder.columns.finish()?, options.spec_id),
    }
}

/// Return the numbers of entries and of rows of a manifest by status: existing, added, deleted.
///
/// # Errors
/// As for [`ManifestDecoder`].
pub fn count_entries(bytes: &[u8]) -> Result<[(i32, i64); 3]> {
    let partition_type = &StructType::default();
    let options = DecodeOptions { spec_id: 0, partition_type, stats: Stats::Skip };
    let mut decoder = ManifestDecoder::new(bytes, &options)?;
    let mut counts = [(0_i32, 0_i64); 3];
    while let Some(columns) = decoder.next_batch(COUNTED_AT_ONCE)? {
        for (status, rows) in columns.statuses()?.iter().zip(columns.longs("record_count")?) {
            let slot = status.and_then(|status| usize::try_from(status).ok());
            if let Some((files, total)) = slot.and_then(|slot| counts.get_mut(slot)) {
                *files = files.saturating_add(1);
                *total = total.saturating_add(rows.unwrap_or(0));
            }
        }
    }
    Ok(counts)
}

/// Return the selection of fields for `stats`.
pub(super) fn selection(stats: &Stats) -> Selection {
    let all = Selection { dispensable_fields: DISPENSABLE_ENTRY_IDS, ..Selection::default() };
    match stats {
        Stats::All => all,
        Stats::Skip => Selection { skipped_fields: STATISTICS_IDS.to_vec(), ..all },
        Stats::Columns(ids) => {
            let mut ids = ids.clone();
            ids.sort_unstable();
            ids.dedup();
            Selection { map_keys: Some(ids.into()), ..all }
        }
    }
}

/// Check the number of entries against the bytes of a block: each entry has a status of at least one byte.
pub(super) fn check_count(block: &Block<'_>) -> Result<()> {
    if block.count <= block.bytes.len() {
        return Ok(());
    }
    let reason = format!("a block claims {} entries in {} bytes", block.count, block.bytes.len());
    Err(Error::corrupt_at(WHAT, block.offset, reason))
}

/// Check that the last entry ends at the end of its block.
pub(super) fn trailing(block: &Block<'_>, cursor: &Cursor<'_>) -> Result<()> {
    if cursor.remaining() == 0 {
        return Ok(());
    }
    let reason = format!("a block has {} bytes after its last entry", cursor.remaining());
    Err(Error::corrupt_at(WHAT, block.offset, reason))
}

fn header(container: &Container<'_>) -> Result<ManifestHeader> {
    let text = |key: &str| container.metadata(key).map(|value| value.map(str::to_owned));
    let number =
        |key: &str| Ok::<_, Error>(text(key)?.and_then(|value| value.trim().parse::<i32>().ok()));
    Ok(ManifestHeader {
        schema: text("schema")?,
        partition_spec: text("partition-spec")?,
        partition_spec_id: number("partition-spec-id")?,
        format_version: number("format-version")?,
        content: text("content")?.map(|content| i32::from(content == "deletes")),
    })
}

pub(super) fn assemble(records: &StructArray, spec_id: i32) -> Result<ManifestColumns> {
    let rows = records.len();
    let data_file = part(records, "data_file")?.as_struct();
    check_statuses(part(records, "status")?)?;
    let schema = typed_entry_schema();
    let columns = schema.fields().iter().map(|field| -> Result<ArrayRef> {
        let name = field.name().as_str();
        let column = records.column_by_name(name).or_else(|| data_file.column_by_name(name));
        Ok(match (name, column) {
            ("spec_id", _) => Arc::new(Int32Array::from(vec![spec_id; rows])),
            ("content", Some(column)) => or_data(column),
            ("file_format", Some(column)) => upper_case(column),
            (_, Some(column)) => Arc::clone(column),
            (_, None) => return Err(Error::corrupt(WHAT, format!("the field {name} is missing"))),
        })
    });
    let columns = columns.collect::<Result<_>>()?;
    let entries = RecordBatch::try_new(schema, columns)
        .map_err(|error| Error::corrupt(WHAT, error.to_string()))?;
    let partition = part(data_file, "partition")?.as_struct().clone();
    Ok(ManifestColumns { entries, partition: flattened(partition)? })
}

/// Return a column of decoded records.
pub(super) fn part<'r>(records: &'r StructArray, name: &str) -> Result<&'r ArrayRef> {
    records
        .column_by_name(name)
        .ok_or_else(|| Error::corrupt(WHAT, format!("the field {name} is missing")))
}

pub(super) fn check_statuses(statuses: &ArrayRef) -> Result<()> {
    let known = [EXISTING, ADDED, DELETED];
    let statuses = statuses.as_primitive::<Int32Type>();
    match statuses.iter().flatten().find(|status| !known.contains(status)) {
        Some(status) => Err(Error::corrupt(
            WHAT,
            format!("an entry has an invalid status; expected 0, 1 or 2, got {status}"),
        )),
        None => Ok(()),
    }
}

/// Replace null contents by 0: version 1 has data files only and does not store a content.
fn or_data(content: &ArrayRef) -> ArrayRef {
    if content.null_count() == 0 {
        return Arc::clone(content);
    }
    let content = content.as_primitive::<Int32Type>();
    Arc::new(content.iter().map(|content| content.unwrap_or(0)).collect::<Int32Array>())
}

fn upper_case(formats: &ArrayRef) -> ArrayRef {
    let formats_text = formats.as_string::<i32>();
    if !formats_text.value_data().iter().any(u8::is_ascii_lowercase) {
        return Arc::clone(formats);
    }
    let upper = formats_text.iter().map(|text| text.map(str::to_ascii_uppercase));
    Arc::new(upper.collect::<StringArray>())
}

/// Convert null tuples to tuples of nulls.
pub(super) fn flattened(tuples: StructArray) -> Result<StructArray> {
    if tuples.null_count() == 0 {
        return Ok(tuples);
    }
    let (fields, columns, nulls) = tuples.into_parts();
    let rows = nulls.map_or(0, |nulls| nulls.len());
    StructArray::try_new_with_length(fields, columns, None, rows).map_err(|error| invalid(&error))
}

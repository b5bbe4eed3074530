//! An Avro data file, cut into runs of blocks that decode independently.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use icefloe_format::Error as FormatError;
use icefloe_format::avro::container::{Container, MAGIC, SYNC_BYTES};
use icefloe_format::avro::natural::{arrow_schema, columns_of};
use icefloe_format::avro::{AvroType, Cursor, Selection, StructColumn};
use icefloe_format::codec::{Codec, Decompressor, MAX_BLOCK_BYTES};
use icefloe_format::spec::StructType;
use parquet::file::reader::Length;

use super::blocks::{BlockHeader, BlockReader};
use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};
use crate::formats::whole_rows::WholeRows;
use crate::resolve::file_columns::file_columns;
use crate::resolve::request::{FileRequest, check_record_count};
use crate::table::NameMapping;

pub(crate) const WHAT: &str = "the Avro file";
/// Bytes of the first read; more for a longer header.
const HEADER_BYTES: usize = 64 << 10;
/// The longest header. Without a limit, a damaged file would be read into memory as a whole.
const MAX_HEADER_BYTES: usize = 16 << 20;
/// Bytes of a read that counts blocks of a local file.
pub(super) const WALK_BYTES: usize = 4 << 10;
/// Bytes of a read of blocks to decode.
pub(super) const CHUNK_BYTES: usize = 1 << 20;
/// The largest remote file that is read with one request and cut; one thread reads a larger file in order.
const WHOLE_BYTES: u64 = 16 << 20;
/// The most compressed bytes and rows of a unit of several blocks.
const UNIT_BYTES: u64 = 4 << 20;
const UNIT_ROWS: u64 = 131_072;
/// Decoded bytes after which a batch is full.
const BATCH_BYTES: usize = 16 << 20;
/// The most rows of no bytes for each byte of a file, where metadata has no record count.
const ROWS_PER_BYTE: u64 = 16;
/// Rows between two checks of a batch's bytes.
const STEP_ROWS: usize = 1_024;
/// Bytes that nulls and symbols may add between two checks of a batch's bytes.
const STEP_BYTES: usize = BATCH_BYTES / 8;

/// A file ready to decode.
pub(crate) struct AvroFile {
    rows: WholeRows,
    /// The columns by the file's own schema.
    pub(crate) schema: Schema,
    /// The writer's schema with numbered fields.
    pub(super) numbered: AvroType,
    columns: StructType,
    codec: Codec,
    sync: [u8; SYNC_BYTES],
    pub(super) source: DataFile,
    /// Rows by the table's metadata; unknown if negative.
    record_count: i64,
}

/// A run of blocks, decoded on one thread.
pub(crate) struct AvroUnit {
    file: Arc<AvroFile>,
    blocks: Range<u64>,
    /// Position of the first row.
    first_row: u64,
    /// Whether these are all rows of the file, to be counted while decoding.
    uncounted: bool,
}

/// Open a file and cut the blocks that start in the requested part.
///
/// # Errors
/// [`Error::Missing`]; `Corrupt` naming the file; errors of resolving columns.
pub(crate) fn avro_units(request: &FileRequest<'_>) -> Result<Vec<AvroUnit>> {
    let source = request.file()?;
    let remote = matches!(source, DataFile::Remote(_));
    let whole = source.len() <= WHOLE_BYTES;
    let source = match remote && whole {
        true => source.for_thread(true, || vec![vec![0..source.len()]]),
        false => source,
    };
    let (file, first_block) = open(request, source)?;
    let file = Arc::new(file);
    if remote && !whole && request.start == 0 && request.length >= file.source.len() {
        let blocks = first_block..file.source.len();
        return Ok(vec![AvroUnit { file, blocks, first_row: 0, uncounted: true }]);
    }
    let part = request.start..request.start.saturating_add(request.length);
    let chunk = if remote { CHUNK_BYTES } else { WALK_BYTES };
    cut(&file, first_block, &part, chunk)
}

/// Open a file, and return it with the position of its first block.
///
/// # Errors
/// `Corrupt` naming the file; errors of resolving columns.
pub(crate) fn open(request: &FileRequest<'_>, source: DataFile) -> Result<(AvroFile, u64)> {
    let most = usize::try_from(source.len()).unwrap_or(usize::MAX).min(MAX_HEADER_BYTES);
    let mut length = HEADER_BYTES;
    loop {
        let head = source.range(request.location, 0, length.min(most))?;
        match Container::parse(&head) {
            Ok(container) => return opened(request, source.clone(), &container),
            Err(FormatError::Corrupt { .. }) if length < most && head.starts_with(&MAGIC) => {
                length = length.saturating_mul(8);
            }
            Err(error) => return Err(Error::in_file(request.location, error)),
        }
    }
}

fn opened(
    request: &FileRequest<'_>,
    source: DataFile,
    container: &Container<'_>,
) -> Result<(AvroFile, u64)> {
    let named = |error| Error::in_file(request.location, error);
    let text = container.metadata("avro.schema").map_err(named)?.unwrap_or_default();
    let numbered = AvroType::parse_numbered(text).map_err(named)?;
    let context = request.context;
    let table_fixed = |length| context.has_fixed(length);
    let schema = arrow_schema(container.schema(), &table_fixed).map_err(named)?;
    // Unlike in Parquet, columns without ids are matched by name.
    let by_name = NameMapping::of_schema(&context.schema);
    let mapping = context.name_mapping.as_ref().unwrap_or(&by_name);
    let rows = WholeRows::new(request, &file_columns(&schema, Some(mapping)), WHAT)?;
    let columns = columns_of(&numbered, rows.leaves(), &table_fixed).map_err(named)?;
    let (codec, sync) = (container.codec(), container.sync());
    let record_count = request.record_count;
    let first_block = container.first_block() as u64;
    let file = AvroFile { rows, schema, numbered, columns, codec, sync, source, record_count };
    Ok((file, first_block))
}

/// Count the rows of every block and cut the blocks that start in `part`.
fn cut(
    file: &Arc<AvroFile>,
    first_block: u64,
    part: &Range<u64>,
    chunk: usize,
) -> Result<Vec<AvroUnit>> {
    let mut reader = file.reader(file.source.clone(), chunk);
    let mut units: Vec<AvroUnit> = Vec::new();
    let (mut offset, mut row) = (first_block, 0_u64);
    let mut rows_of_last = 0;
    while let Some(header) = reader.header(offset)? {
        reader.skip(&header)?;
        if part.contains(&offset) {
            let full = |unit: &AvroUnit| {
                rows_of_last + header.rows > UNIT_ROWS
                    || header.end() - unit.blocks.start > UNIT_BYTES
            };
            match units.last_mut().filter(|unit| !full(unit)) {
                Some(unit) => {
                    unit.blocks.end = header.end();
                    rows_of_last += header.rows;
                }
                None => {
                    let (file, blocks) = (Arc::clone(file), offset..header.end());
                    units.push(AvroUnit { file, blocks, first_row: row, uncounted: false });
                    rows_of_last = header.rows;
                }
            }
        }
        row = row.saturating_add(header.rows);
        file.check_claim(row)?;
        offset = header.end();
    }
    file.check_count(row)?;
    Ok(units)
}

impl AvroFile {
    pub(super) fn reader(&self, source: DataFile, chunk: usize) -> BlockReader {
        BlockReader::new(source, &self.rows.location, self.sync, chunk)
    }

    /// Return whether no column is decoded, so that only the record count checks the rows of a block.
    fn is_only_counted(&self) -> bool {
        self.columns.fields.is_empty() && self.record_count >= 0
    }

    /// Refuse more rows than the record count before they are decoded: a row may have no bytes at all.
    pub(super) fn check_claim(&self, rows: u64) -> Result<()> {
        let unknown = self.record_count < 0 && self.numbered.min_bytes() == 0;
        if unknown && rows > self.source.len().saturating_mul(ROWS_PER_BYTE) {
            let reason = format!("expected at most {ROWS_PER_BYTE} rows for each byte, got {rows}");
            return Err(Error::corrupt_file(&self.rows.location, WHAT, reason));
        }
        let known = u64::try_from(self.record_count).unwrap_or(u64::MAX);
        if rows > known { self.check_count(rows) } else { Ok(()) }
    }

    /// Return the most rows between two checks of a batch's bytes: nulls and symbols take more bytes than they have in the
    /// file.
    fn step_rows(&self, columns: &StructColumn) -> usize {
        let bytes = columns.null_bytes().saturating_add(self.numbered.symbol_bytes());
        STEP_ROWS.min(STEP_BYTES / bytes.max(1)).max(1)
    }

    fn check_count(&self, found: u64) -> Result<()> {
        let found = i64::try_from(found).unwrap_or(i64::MAX);
        check_record_count(&self.rows.location, WHAT, found, self.record_count)
    }
}

impl AvroUnit {
    /// Decode the rows that are neither deleted nor filtered out.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn decode(
        &self,
        batch_size: usize,
        limit: Option<usize>,
        emit: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        self.decoded(batch_size, limit, true, emit)
    }

    /// Decode the columns of all rows as they are stored.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn decode_as_stored(&self, batch_size: usize) -> Result<()> {
        self.decoded(batch_size, None, false, &mut |_| true)
    }

    fn decoded(
        &self,
        batch_size: usize,
        limit: Option<usize>,
        converts: bool,
        emit: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let selection = Selection { null_map_values: true, ..Selection::default() };
        let columns =
            StructColumn::compile(&self.file.columns, Some(&self.file.numbered), &selection)
                .map_err(|error| Error::in_file(&self.file.rows.location, error))?;
        let decoder = Decoder {
            file: &self.file,
            step_rows: self.file.step_rows(&columns),
            columns,
            batch_size,
            next_row: self.first_row,
            left: limit.unwrap_or(usize::MAX),
            converts,
            emit,
        };
        decoder.decode(self).map_err(|error| error.at(&self.file.rows.location))
    }
}

/// A pass over the blocks of a unit.
struct Decoder<'a> {
    file: &'a AvroFile,
    columns: StructColumn,
    /// The most rows between two checks of a batch's bytes.
    step_rows: usize,
    batch_size: usize,
    /// Position of the first row in `columns`.
    next_row: u64,
    left: usize,
    /// Whether rows are converted to the table's types and emitted.
    converts: bool,
    emit: &'a mut dyn FnMut(RecordBatch) -> bool,
}

impl Decoder<'_> {
    fn decode(mut self, unit: &AvroUnit) -> Result<()> {
        let mut reader = self.file.reader(self.file.source.clone(), CHUNK_BYTES);
        let mut decompressor = Decompressor::new(self.file.codec);
        let (mut offset, mut rows) = (unit.blocks.start, 0_u64);
        while offset < unit.blocks.end {
            let Some(header) = reader.header(offset)? else { break };
            rows = rows.saturating_add(header.rows);
            self.file.check_claim(rows)?;
            if self.file.is_only_counted() {
                reader.skip(&header)?;
                if !self.count(header.rows)? {
                    return Ok(());
                }
                offset = header.end();
                continue;
            }
            let block = reader.block(&header)?;
            let bytes = decompressor.decompress(&block, MAX_BLOCK_BYTES);
            let bytes = bytes.map_err(|error| error.or_at(header.offset))?;
            if !self.block(&header, bytes)? {
                return Ok(());
            }
            offset = header.end();
        }
        if unit.uncounted {
            self.file.check_count(rows)?;
        }
        self.flush()?;
        Ok(())
    }

    /// Emit rows without decoded columns; false if no more are needed.
    fn count(&mut self, mut rows: u64) -> Result<bool> {
        while rows > 0 {
            let step = usize::try_from(rows).unwrap_or(usize::MAX).min(self.batch_size.max(1));
            let batch = self.file.rows.batch(vec![], step, self.next_row)?;
            self.next_row += step as u64;
            rows -= step as u64;
            if !self.emit_batch(batch) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Decode the records of a block; false if no more are needed.
    fn block(&mut self, header: &BlockHeader, bytes: &[u8]) -> Result<bool> {
        let mut cursor = Cursor::new(bytes);
        let mut rows = usize::try_from(header.rows).unwrap_or(usize::MAX);
        while rows > 0 {
            let room = self.batch_size.saturating_sub(self.columns.rows()).max(1);
            let step = rows.min(room).min(self.step_rows);
            for _ in 0..step {
                self.columns.read(&mut cursor).map_err(|error| {
                    let within = bytes.len() - cursor.remaining();
                    let reason = format!("{error} (byte {within} of the decompressed block)");
                    FormatError::corrupt_at("Avro record", header.offset, reason)
                })?;
            }
            rows -= step;
            let full =
                self.columns.rows() >= self.batch_size || self.columns.bytes() >= BATCH_BYTES;
            if full && !self.flush()? {
                return Ok(false);
            }
        }
        if cursor.remaining() > 0 {
            let reason = format!(
                "expected its end after the last record, got {} more bytes",
                cursor.remaining()
            );
            return Err(FormatError::corrupt_at("Avro block", header.offset, reason).into());
        }
        Ok(true)
    }

    /// Emit the rows decoded so far; false if no more are needed.
    fn flush(&mut self) -> Result<bool> {
        let decoded = self.columns.finish()?;
        let rows = decoded.len();
        let first_row = self.next_row;
        self.next_row += rows as u64;
        if !self.converts {
            return Ok(true);
        }
        let batch = self.file.rows.batch(decoded.columns().to_vec(), rows, first_row)?;
        Ok(self.emit_batch(batch))
    }

    /// Emit a batch; false if no more are needed.
    fn emit_batch(&mut self, batch: RecordBatch) -> bool {
        self.left = self.left.saturating_sub(batch.num_rows());
        (batch.num_rows() == 0 || (self.emit)(batch)) && self.left > 0
    }
}

//! One data file: opened, resolved, cut into units, decoded.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field};
use icefloe_format::Error as FormatError;
use icefloe_format::delete::{RowRun, row_runs};
use parquet::arrow::RowNumber;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowFilter,
    RowSelection, RowSelectionPolicy, RowSelector,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use roaring::RoaringTreemap;

use super::ahead::ranges;
use super::columns::{BatchPlan, decoded_schema};
use super::cut::{cut, page_starts, part_rows};
use super::deleted_rows::DeletedRows;
use super::encrypted::{ends_encrypted, has_encrypted_columns};
use super::file_columns::FileColumn;
use super::key_tests::{KeyTest, KeyTests};
use super::page_index::IndexedPages;
use super::pages::KeptRows;
use super::pipeline::catch_panic;
use super::row_filter::RowTest;
use super::row_size::row_bytes;
use super::source::DataFile;
use crate::error::{Error, Result};
use crate::store::FileIo;

pub(crate) const WHAT: &str = "the Parquet file";
/// About the most bytes of a batch.
const BATCH_BYTES: u64 = 5 << 20;
/// Kept and deleted runs of fewer rows than this on average are decoded together and filtered after.
const SHORT_RUN_ROWS: u64 = 32;

/// A file's footer, and its schema as Arrow sees it.
#[derive(Debug)]
pub(crate) struct Footer {
    pub(crate) location: String,
    pub(crate) metadata: Arc<ParquetMetaData>,
    pub(crate) source: DataFile,
    natural: ArrowReaderMetadata,
}

/// A file ready to decode.
pub(crate) struct OpenFile {
    pub(crate) io: FileIo,
    pub(crate) location: String,
    pub(crate) source: DataFile,
    pub(crate) reader: ArrowReaderMetadata,
    pub(crate) output: BatchPlan,
    pub(crate) tests: Vec<RowTest>,
    pub(crate) keys: Option<KeyTests>,
    pub(crate) deleted: Option<RoaringTreemap>,
}

/// Rows of one row group, decoded on one thread.
pub(crate) struct Unit {
    pub(crate) file: Arc<OpenFile>,
    /// Rows of one row group.
    pub(crate) kept: KeptRows,
    /// The part of the row group that they reach over.
    pub(crate) rows: Range<u64>,
    /// Ordinal in the file of the row group's first row.
    pub(crate) first_row: u64,
}

impl Footer {
    /// Read a file's footer and compare its row count with what metadata says; a negative count is unknown.
    ///
    /// # Errors
    /// [`Error::Missing`]; `Corrupt` naming the file.
    pub(crate) fn read(io: &FileIo, location: &str, record_count: i64) -> Result<Self> {
        guarded(location, || Self::parse(io, location, record_count))
    }

    fn parse(io: &FileIo, location: &str, record_count: i64) -> Result<Self> {
        let source = DataFile::open(io, location)?;
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&source);
        let metadata = metadata.map_err(|error| match ends_encrypted(&source) {
            true => Error::unsupported_in(location, "reading encrypted Parquet files"),
            false => parquet_error(location, error),
        })?;
        let found = metadata.file_metadata().num_rows();
        if record_count >= 0 && found != record_count {
            let reason = format!("it holds {found} rows, the table's metadata says {record_count}");
            return Err(Error::corrupt_file(location, WHAT, reason));
        }
        let metadata = Arc::new(metadata);
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let natural = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options)
            .map_err(|error| parquet_error(location, error))?;
        Ok(Self { location: location.to_owned(), metadata, natural, source })
    }

    /// The file's columns as Arrow fields.
    pub(crate) fn schema(&self) -> &arrow_schema::Schema {
        self.natural.schema()
    }

    /// What the decoder needs to know to serve these plans over the row groups whose pages are told.
    ///
    /// # Errors
    /// `Corrupt` naming the file.
    pub(crate) fn reader<'a>(
        &self,
        columns: &[FileColumn],
        plans: impl Iterator<Item = &'a BatchPlan> + Clone,
        pages: IndexedPages<'_>,
    ) -> Result<ArrowReaderMetadata> {
        let decoded: HashMap<usize, DataType> = plans
            .clone()
            .flat_map(|plan| plan.decoded.iter().map(|(leaf, to)| (*leaf, to.clone())))
            .collect();
        let mut options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        if !decoded.is_empty() {
            let schema = decoded_schema(self.schema(), columns, &decoded);
            options = options.with_schema(Arc::new(schema));
        }
        if plans.clone().any(BatchPlan::needs_positions) {
            let field = Field::new("_pos", DataType::Int64, false).with_extension_type(RowNumber);
            options = options
                .with_virtual_columns(vec![Arc::new(field)])
                .map_err(|error| parquet_error(&self.location, error))?;
        }
        let leaves = plans.flat_map(|plan| plan.leaves.iter().copied()).collect();
        let metadata = guarded(&self.location, || {
            let read = pages.read(&self.metadata, &leaves, &self.source);
            read.map_err(|error| parquet_error(&self.location, error))
        })?;
        ArrowReaderMetadata::try_new(metadata, options)
            .map_err(|error| parquet_error(&self.location, error))
    }
}

/// The rows of each row group by their ordinals in the file.
fn group_rows(metadata: &ParquetMetaData) -> Vec<Range<u64>> {
    let mut next = 0;
    let groups = metadata.row_groups().iter().map(|group| {
        let start: u64 = next;
        next = start.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
        start..next
    });
    groups.collect()
}

/// Cut the rows of row groups into units, in file order.
pub(crate) fn units(file: &Arc<OpenFile>, kept: &[KeptRows]) -> Vec<Unit> {
    let metadata = file.reader.metadata();
    let rows = group_rows(metadata);
    let mut units = Vec::new();
    for kept in kept {
        let Some(all) = rows.get(kept.row_group) else { continue };
        let Some(group) = metadata.row_groups().get(kept.row_group) else { continue };
        let leaves = &file.output.leaves;
        let pages = page_starts(metadata, kept.row_group, leaves);
        let part_rows = part_rows(row_bytes(group, leaves));
        for part in cut(all.end - all.start, part_rows, &pages) {
            let kept = kept.within(&part);
            let Some(rows) = kept.rows() else { continue };
            units.push(Unit { file: Arc::clone(file), kept, rows, first_row: all.start });
        }
    }
    units
}

impl Unit {
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
        let file = &self.file;
        let decoded = guarded(&file.location, || self.decode_rows(batch_size, limit, emit));
        decoded.map_err(|error| match error {
            Error::InFile { source: FormatError::Corrupt { .. }, .. }
                if has_encrypted_columns(&file.source) =>
            {
                Error::unsupported_in(&file.location, "reading encrypted columns of Parquet files")
            }
            other => other,
        })
    }

    fn decode_rows(
        &self,
        batch_size: usize,
        limit: Option<usize>,
        emit: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let file = &self.file;
        let source = file.source.again(&file.io, &file.location, || self.stages())?;
        let bytes = source.clone();
        let failed = |error| bytes.failure().unwrap_or_else(|| arrow_error(&file.location, error));
        let descriptor = file.reader.parquet_schema();
        let (output, keys) = self.output();
        let (selection, positions) = self.selection();
        let mut builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(source, file.reader.clone())
                .with_row_groups(vec![self.kept.row_group])
                .with_projection(output.mask(descriptor))
                .with_batch_size(self.batch_rows(batch_size));
        if let Some((selection, policy)) = selection {
            builder = builder.with_row_selection(selection).with_row_selection_policy(policy);
        }
        if !file.tests.is_empty() {
            let steps = file.tests.iter().map(|test| test.step(descriptor)).collect();
            builder = builder.with_row_filter(RowFilter::new(steps));
        }
        let mut left = limit.unwrap_or(usize::MAX);
        if let Some(limit) = limit.filter(|_| keys.is_empty() && positions.is_none()) {
            builder = builder.with_limit(limit);
        }
        let reader = builder.build().map_err(|error| parquet_error(&file.location, error))?;
        let mut deleted = DeletedRows { positions, keys, next: self.first_row + self.rows.start };
        for decoded in reader {
            let decoded = decoded.map_err(failed)?;
            let kept = deleted.drop_from(decoded)?;
            let batch = output.make(&kept).map_err(|error| arrow_error(&file.location, error))?;
            left = left.saturating_sub(batch.num_rows());
            if (batch.num_rows() > 0 && !emit(batch)) || left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// How batches are made of what is decoded, and the deleted keys that rows may have.
    fn output(&self) -> (&BatchPlan, Vec<&KeyTest>) {
        let keys =
            self.file.keys.as_ref().map(|keys| (keys, keys.of_row_group(self.kept.row_group)));
        match keys {
            Some((keys, tests)) if !tests.is_empty() => (&keys.output, tests),
            _ => (&self.file.output, vec![]),
        }
    }

    /// The rows to decode and how to leave out the others (`None` for all of the row group), and the deleted
    /// positions that are among them.
    fn selection(&self) -> (Option<(RowSelection, RowSelectionPolicy)>, Option<&RoaringTreemap>) {
        let count = self.rows.end - self.rows.start;
        let runs = self.runs();
        let short = count / (runs.len() as u64).max(1) < SHORT_RUN_ROWS;
        // What a filter leaves of the rows has no positions that could be told from its order.
        let after = short && self.file.tests.is_empty();
        let positions = self.file.deleted.as_ref().filter(|_| after);
        let selected = if positions.is_some() {
            vec![RowSelector { skip: false, ..skip(count) }]
        } else {
            let selector = |run: &RowRun| RowSelector { skip: run.deleted, ..skip(run.row_count) };
            runs.iter().map(selector).collect()
        };
        let total = self.group_rows();
        if selected.len() == 1 && count == total && !selected.iter().any(|rows| rows.skip) {
            return (None, positions);
        }
        // A mask decodes what it leaves out, too: not worth it where most rows are on pages that are skipped.
        let mask = short && selected.len() > 1 && self.kept.count() > count / 2;
        // The decoder left to itself would count the rows of other parts in.
        let policy = match mask {
            true => RowSelectionPolicy::Mask,
            false => RowSelectionPolicy::Selectors,
        };
        let mut selectors = vec![skip(self.rows.start)];
        selectors.extend(selected);
        selectors.push(skip(total - self.rows.end));
        (Some((RowSelection::from(selectors), policy)), positions)
    }

    /// The rows reached over, as runs of those wanted and of those that are deleted or on pages left out.
    fn runs(&self) -> Vec<RowRun> {
        let mut runs = Vec::new();
        let mut next = self.rows.start;
        for rows in &self.kept.rows {
            if rows.start > next {
                runs.push(RowRun { deleted: true, row_count: rows.start - next });
            }
            next = rows.end;
            let (start, row_count) = (self.first_row + rows.start, rows.end - rows.start);
            match &self.file.deleted {
                Some(deleted) => runs.extend(row_runs(deleted, start, row_count)),
                None => runs.push(RowRun { deleted: false, row_count }),
            }
        }
        runs
    }

    /// What will be read, in the order in which it is found out that it is needed: the columns that rows
    /// are tested by, then the others, if any row passes.
    fn stages(&self) -> Vec<Vec<Range<u64>>> {
        let file = &self.file;
        let tested = file.tests.iter().flat_map(|test| test.columns().leaves.iter().copied());
        let tested: BTreeSet<usize> = tested.collect();
        let others = self.output().0.leaves.difference(&tested).copied().collect();
        let metadata = file.reader.metadata();
        let stages =
            [tested, others].map(|it| ranges(metadata, self.kept.row_group, &self.kept.rows, &it));
        stages.into_iter().filter(|stage| !stage.is_empty()).collect()
    }

    /// Rows of a batch: fewer than asked for where they are wide.
    fn batch_rows(&self, batch_size: usize) -> usize {
        let group = self.file.reader.metadata().row_groups().get(self.kept.row_group);
        let row = group.map_or(1, |group| row_bytes(group, &self.output().0.leaves));
        batch_size.min(usize::try_from(BATCH_BYTES / row).unwrap_or(usize::MAX)).max(1)
    }

    fn group_rows(&self) -> u64 {
        let group = self.file.reader.metadata().row_groups().get(self.kept.row_group);
        group.and_then(|group| u64::try_from(group.num_rows()).ok()).unwrap_or(self.rows.end)
    }
}

/// The Parquet decoder panics on some damaged bytes; to a reader of the file that is damage like any other.
pub(crate) fn guarded<T>(location: &str, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(decode).unwrap_or_else(|text| {
        Err(Error::corrupt_file(location, WHAT, format!("decoding it failed: {text}")))
    })
}

fn skip(rows: u64) -> RowSelector {
    RowSelector { row_count: usize::try_from(rows).unwrap_or(usize::MAX), skip: true }
}

pub(crate) fn parquet_error(location: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => external(location, source.as_ref()),
        ParquetError::NYI(feature) => Error::unsupported_in(location, feature),
        error => Error::corrupt_file(location, WHAT, error),
    }
}

pub(crate) fn arrow_error(location: &str, error: ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(source) => external(location, source.as_ref()),
        error => Error::corrupt_file(location, WHAT, error),
    }
}

fn external(location: &str, source: &(dyn std::error::Error + Send + Sync + 'static)) -> Error {
    if let Some(error) = source.downcast_ref::<Error>() {
        return match error {
            Error::Format(source) => Error::in_file(location, source.clone()),
            error => error.clone(),
        };
    }
    match source.downcast_ref::<std::io::Error>() {
        Some(error) => Error::Storage { location: location.to_owned(), reason: error.to_string() },
        None => Error::corrupt_file(location, WHAT, source),
    }
}

//! A part of a Parquet row group, decoded on one thread.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use icefloe_format::Error as FormatError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowFilter, RowSelection,
    RowSelectionPolicy,
};
use parquet::basic::Compression;

use super::ahead::ranges;
use super::column_groups::{column_groups, side_by_side};
use super::delivery::Delivery;
use super::encrypted::has_encrypted_columns;
use super::file::{OpenFile, arrow_error, guarded, parquet_error};
use super::flat::{FlatGroup, FlatRows};
use super::page_header::CheckedPages;
use super::pages::RowRanges;
use super::row_size::row_bytes;
use super::small_group::{SmallGroup, levels_of};
use crate::bytes::data_file::DataFile;
use crate::error::{Error, Result};
use crate::formats::batch_size::BatchSize;
use crate::resolve::columns::BatchPlan;
use crate::resolve::deleted_rows::DeletedRows;
use crate::resolve::key_filters::KeyFilter;

/// Selected and deleted runs that are shorter than this on average are decoded together and filtered afterwards.
pub(super) const SHORT_RUN_ROWS: u64 = 32;

type Builder = ParquetRecordBatchReaderBuilder<CheckedPages>;

/// A part of a Parquet row group, decoded on one thread.
pub(crate) struct Unit {
    pub(crate) file: Arc<OpenFile>,
    /// The selected rows, by their ordinals within the row group.
    pub(crate) kept: RowRanges,
    /// The range of the row group from the first to the last selected row.
    pub(crate) rows: Range<u64>,
    /// Ordinal in the file of the row group's first row.
    pub(crate) first_row: u64,
    /// The file with its planned byte ranges, shared by the parts that read the same ranges.
    pub(crate) ahead: Arc<OnceLock<DataFile>>,
    /// The columns that the parts of the row group share, if every column can be decoded page by page.
    pub(crate) flat: Option<Arc<FlatGroup>>,
}

impl Unit {
    /// Decode the rows that are neither deleted nor excluded by the filter, and pass their batches to `emit`.
    ///
    /// # Errors
    /// `Corrupt` with the location of the file.
    pub(crate) fn decode(
        &self,
        batch_size: BatchSize,
        limit: Option<usize>,
        emit: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let file = &self.file;
        let source = self.source();
        let decoded =
            guarded(&file.location, || self.decode_rows(source.clone(), (batch_size, limit), emit));
        decoded.map_err(|error| match source.failure().unwrap_or(error) {
            Error::InFile { source: FormatError::Corrupt { .. }, .. }
                if has_encrypted_columns(&file.source) =>
            {
                Error::unsupported_in(&file.location, "reading encrypted columns of Parquet files")
            }
            other => other,
        })
    }

    /// Request the bytes of the first stage, unless they are more than `most`. Return the number of bytes that were not
    /// requested before.
    pub(crate) fn begin(&self, most: usize) -> Option<usize> {
        match &self.file.source {
            DataFile::Local(_) => Some(0),
            DataFile::Remote(_) => self.shared().begin(most),
        }
    }

    /// Return the file for the thread that decodes this unit.
    fn source(&self) -> DataFile {
        match &self.file.source {
            DataFile::Local(_) => self.file.source.for_thread(self.is_compressed(), Vec::new),
            DataFile::Remote(_) => self.shared().share(),
        }
    }

    fn shared(&self) -> &DataFile {
        self.ahead.get_or_init(|| self.file.source.for_thread(false, || self.stages()))
    }

    fn decode_rows(
        &self,
        source: DataFile,
        (batch_size, limit): (BatchSize, Option<usize>),
        emit: &mut dyn FnMut(RecordBatch) -> bool,
    ) -> Result<()> {
        let location = &self.file.location;
        let rows = self.batch_rows(batch_size);
        let next = self.first_row + self.rows.start;
        if let Some(group) = &self.flat {
            // The flat decoder drops deleted rows while it decodes.
            let deleted = DeletedRows { positions: None, keys: vec![], next };
            let mut delivery = Delivery::new(location, deleted, &self.file.output, limit, emit);
            return self.decode_flat(group, &source, (rows, limit), &mut delivery);
        }
        let (output, keys) = self.output();
        let (selection, positions) = self.selection();
        // The decoder's limit counts rows that are dropped after decoding, so it applies only without such rows.
        let most = limit.filter(|_| keys.is_empty() && positions.is_none());
        let deleted = DeletedRows { positions, keys, next };
        let mut delivery = Delivery::new(location, deleted, output, limit, emit);
        if let Some(decoded) = self.small_group(&source, rows, selection.is_some()) {
            return delivery.take(decoded).map(drop);
        }
        match self.column_groups(output).as_slice() {
            [leaves] => self.decode_columns(source, leaves, (rows, most), selection, &mut delivery),
            groups => self.decode_groups(source, groups, (rows, most), selection, &mut delivery),
        }
    }

    /// Decode columns page by page.
    fn decode_flat(
        &self,
        group: &FlatGroup,
        source: &DataFile,
        (rows, limit): (usize, Option<usize>),
        delivery: &mut Delivery<'_>,
    ) -> Result<()> {
        let file = &self.file;
        let (output, (_, keys)) = (&file.output, self.output());
        let rows_left = limit.filter(|_| keys.is_empty() && file.tests.is_empty());
        let batch_rows = rows_left.map_or(rows, |left| rows.min(left.max(1)));
        let (tests, first_row) = (file.tests.as_slice(), self.first_row);
        let flat = FlatRows { group, source, output, tests, keys: &keys, first_row };
        let failed = |error| parquet_error(&file.location, error);
        let mut take = |decoded| delivery.take(decoded);
        flat.decode(&self.flat_runs(), batch_rows, &failed, &mut take)
    }

    /// Decode a whole row group as one batch. `None` if the row group is larger than a batch or has a selection or a
    /// filter, or if decoding fails: the general decoder then reports the error.
    fn small_group(
        &self,
        source: &DataFile,
        batch_rows: usize,
        selected: bool,
    ) -> Option<RecordBatch> {
        let output = self.output().0;
        let fit = u64::try_from(batch_rows).is_ok_and(|most| self.group_rows() <= most);
        if !fit || selected || !self.file.tests.is_empty() {
            return None;
        }
        let reader = &self.file.reader;
        let group = SmallGroup::of(reader.metadata(), source, self.kept.row_group, &output.leaves)?;
        let levels = levels_of(reader, &output.leaves, output.needs_positions()).ok()?;
        group.decode(&levels).ok()
    }

    /// Decode the columns `leaves` batch by batch.
    fn decode_columns(
        &self,
        source: DataFile,
        leaves: &BTreeSet<usize>,
        rows: (usize, Option<usize>),
        selection: Option<(RowSelection, RowSelectionPolicy)>,
        delivery: &mut Delivery<'_>,
    ) -> Result<()> {
        let expected = self.row_count(selection.as_ref());
        let builder = self.builder(source, leaves, rows, selection);
        for decoded in self.built(self.filtered(builder))? {
            if !delivery.take(decoded.map_err(|error| arrow_error(&self.file.location, error))?)? {
                break;
            }
        }
        // The row count is checked only without row filters: the decoder does not report how many rows a filter drops.
        match self.file.tests.is_empty() {
            true => delivery.check(self.kept.row_group, expected),
            false => Ok(()),
        }
    }

    /// Decode all rows of each column group in turn, then join the groups batch by batch.
    fn decode_groups(
        &self,
        source: DataFile,
        groups: &[BTreeSet<usize>],
        rows: (usize, Option<usize>),
        selection: Option<(RowSelection, RowSelectionPolicy)>,
        delivery: &mut Delivery<'_>,
    ) -> Result<()> {
        let failed = |error| arrow_error(&self.file.location, error);
        let selection = self.tested(&source, rows.0, selection)?;
        let mut parts = Vec::with_capacity(groups.len());
        for leaves in groups {
            let reader = self.reader(source.clone(), leaves, rows, selection.clone())?;
            let decoded: std::result::Result<Vec<_>, _> = reader.collect();
            parts.push(decoded.map_err(failed)?.into_iter());
        }
        while let Some(batches) = parts.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
            let decoded = side_by_side(&batches).map_err(failed)?;
            drop(batches);
            if !delivery.take(decoded)? {
                break;
            }
        }
        delivery.check(self.kept.row_group, self.row_count(selection.as_ref()))
    }

    /// Return the rows of a selection that pass the row filters, whose columns are decoded separately.
    fn tested(
        &self,
        source: &DataFile,
        batch_rows: usize,
        mut selection: Option<(RowSelection, RowSelectionPolicy)>,
    ) -> Result<Option<(RowSelection, RowSelectionPolicy)>> {
        for test in &self.file.tests {
            let leaves = &test.columns().leaves;
            let reader =
                self.reader(source.clone(), leaves, (batch_rows, None), selection.clone())?;
            let passed = reader.map(|decoded| {
                test.passing(&decoded.map_err(|error| arrow_error(&self.file.location, error))?)
            });
            let passed = RowSelection::from_filters(&passed.collect::<Result<Vec<_>>>()?);
            let rows = match &selection {
                Some((rows, _)) => rows.and_then(&passed),
                None => passed,
            };
            let runs = rows.iter().count() as u64;
            let short = (self.rows.end - self.rows.start) / runs.max(1) < SHORT_RUN_ROWS;
            let policy =
                if short { RowSelectionPolicy::Mask } else { RowSelectionPolicy::Selectors };
            selection = Some((rows, policy));
        }
        Ok(selection)
    }

    /// Return a decoder of `leaves`; `rows` are the rows of a batch and an optional limit.
    fn reader(
        &self,
        source: DataFile,
        leaves: &BTreeSet<usize>,
        rows: (usize, Option<usize>),
        selection: Option<(RowSelection, RowSelectionPolicy)>,
    ) -> Result<ParquetRecordBatchReader> {
        self.built(self.builder(source, leaves, rows, selection))
    }

    fn builder(
        &self,
        source: DataFile,
        leaves: &BTreeSet<usize>,
        (batch_rows, limit): (usize, Option<usize>),
        selection: Option<(RowSelection, RowSelectionPolicy)>,
    ) -> Builder {
        let file = &self.file;
        let descriptor = file.reader.parquet_schema();
        let mut builder = Builder::new_with_metadata(CheckedPages(source), file.reader.clone())
            .with_row_groups(vec![self.kept.row_group])
            .with_projection(ProjectionMask::leaves(descriptor, leaves.iter().copied()))
            .with_batch_size(batch_rows);
        if let Some((selection, policy)) = selection {
            builder = builder.with_row_selection(selection).with_row_selection_policy(policy);
        }
        if let Some(limit) = limit {
            builder = builder.with_limit(limit);
        }
        builder
    }

    /// Return a decoder that applies the row filters.
    fn filtered(&self, builder: Builder) -> Builder {
        if self.file.tests.is_empty() {
            return builder;
        }
        let descriptor = self.file.reader.parquet_schema();
        let steps = self.file.tests.iter().map(|test| test.step(descriptor)).collect();
        builder.with_row_filter(RowFilter::new(steps))
    }

    fn built(&self, builder: Builder) -> Result<ParquetRecordBatchReader> {
        builder.build().map_err(|error| parquet_error(&self.file.location, error))
    }

    /// Return the groups of columns that are decoded together. Plans with row numbers have one group, because every
    /// decoder would return the numbers.
    fn column_groups(&self, output: &BatchPlan) -> Vec<BTreeSet<usize>> {
        if output.needs_positions() {
            return vec![output.leaves.clone()];
        }
        column_groups(self.file.reader.parquet_schema(), &output.leaves)
    }

    /// Return whether all columns are compressed: the stored bytes of a page are then dropped before the next read.
    fn is_compressed(&self) -> bool {
        let group = self.file.reader.metadata().row_groups().get(self.kept.row_group);
        let leaves = self.output().0.leaves.iter();
        let mut columns = leaves.filter_map(|leaf| group?.columns().get(*leaf));
        columns.all(|column| column.compression() != Compression::UNCOMPRESSED)
    }

    /// Return the plan of the output batches and the equality deletes whose keys the row group may hold.
    fn output(&self) -> (&BatchPlan, Vec<&KeyFilter>) {
        let keys =
            self.file.keys.as_ref().map(|keys| (keys, keys.of_row_group(self.kept.row_group)));
        match keys {
            Some((keys, tests)) if !tests.is_empty() => (&keys.output, tests),
            _ => (&self.file.output, vec![]),
        }
    }

    /// Return the byte ranges to read in each stage: first the columns of the row filters, then the other columns,
    /// which are read only if a row passes.
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

    /// Return the rows of a batch, fewer than the requested number if rows are wide.
    fn batch_rows(&self, batch_size: BatchSize) -> usize {
        let group = self.file.reader.metadata().row_groups().get(self.kept.row_group);
        let row = group.map_or(1, |group| row_bytes(group, &self.output().0.leaves));
        batch_size.of_rows(row)
    }

    /// Return the number of rows of the row group in a selection.
    fn row_count(&self, selection: Option<&(RowSelection, RowSelectionPolicy)>) -> u64 {
        selection.map_or_else(|| self.group_rows(), |(rows, _)| rows.row_count() as u64)
    }

    pub(super) fn group_rows(&self) -> u64 {
        let group = self.file.reader.metadata().row_groups().get(self.kept.row_group);
        group.and_then(|group| u64::try_from(group.num_rows()).ok()).unwrap_or(self.rows.end)
    }
}

//! The files of one partition, one after the other: each is closed at the target size.

use std::sync::Arc;

use arrow_array::RecordBatch;

use super::closed_file::ClosedFile;
use super::copied_rows::CopiedGroup;
use super::data_file::WrittenFile;
use super::file_options::FileOptions;
use super::file_shape::{FileShape, OpenFile};
use super::locations::{FileNames, Locations};
use super::output::Outputs;
use super::position_file::FilePositions;
use crate::error::Result;

/// Percent of the target size from which the first file is closed: the size of an open row group is an estimate, which the
/// encoded row group replaces before the file is closed.
const LEAST_FIRST_FILE_PERCENT: u64 = 85;

/// The least rows between two checks of a file's size.
const ROWS_BETWEEN_CHECKS: usize = 1_000;

/// The settings that all partitions of one task share.
pub(super) struct Files {
    pub(super) outputs: Outputs,
    pub(super) names: FileNames,
    pub(super) locations: Locations,
    pub(super) options: FileOptions,
    pub(super) shape: Arc<FileShape>,
    pub(super) content: i32,
    /// Ids of the key columns of equality delete files; empty for other files.
    pub(super) equality_ids: Vec<i32>,
    /// The id of the order that rows are sorted by; None for position delete files.
    pub(super) sort_order_id: Option<i32>,
    pub(super) finished: Vec<WrittenFile>,
}

impl Files {
    /// Return the same settings, names and outputs for another thread, without finished files.
    pub(super) fn share(&self) -> Self {
        Self {
            outputs: self.outputs.clone(),
            names: self.names.clone(),
            locations: self.locations.clone(),
            options: self.options.clone(),
            shape: Arc::clone(&self.shape),
            content: self.content,
            equality_ids: self.equality_ids.clone(),
            sort_order_id: self.sort_order_id,
            finished: Vec::new(),
        }
    }
}

/// The partition that files are written to.
#[derive(Debug, Clone, Default)]
pub(super) struct Destination {
    pub(super) spec_id: i32,
    /// The tuple as a JSON array.
    pub(super) partition: String,
    /// The directories of the partition; empty without partitions.
    pub(super) path: String,
}

/// The data files whose positions are in one delete file.
#[derive(Debug, Default)]
enum Referenced {
    #[default]
    Nothing,
    One(String),
    Several,
}

impl Referenced {
    fn add(&mut self, path: &str) {
        match self {
            Self::Nothing => *self = Self::One(path.to_owned()),
            Self::One(known) if known == path => {}
            Self::One(_) | Self::Several => *self = Self::Several,
        }
    }
}

/// Writes batches of one partition.
pub(super) struct Rolling {
    destination: Destination,
    file: Option<OpenFile>,
    /// The name of the next file, if it is reserved.
    name: Option<String>,
    referenced: Referenced,
    /// Estimated and final bytes of the closed files: the open row group is estimated before it is encoded.
    estimated: usize,
    closed: usize,
    /// Rows of the closed files.
    closed_rows: usize,
    /// Bytes by which the row groups that ended early in the open file are smaller than their estimates.
    excess: usize,
}

impl Rolling {
    pub(super) fn new(destination: Destination) -> Self {
        let referenced = Referenced::default();
        Self {
            destination,
            file: None,
            name: None,
            referenced,
            estimated: 0,
            closed: 0,
            closed_rows: 0,
            excess: 0,
        }
    }

    /// Reserve the name of the next file, so that names do not depend on the order of threads.
    pub(super) fn reserve_name(&mut self, names: &FileNames) {
        if self.file.is_none() {
            self.name.get_or_insert_with(|| names.next_name());
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Return the bytes that the open file holds in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.file.as_ref().map_or(0, OpenFile::memory_bytes)
    }

    /// Write the rows that the open file holds in memory.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), OpenFile::flush)
    }

    /// Write rows, and start a new file whenever the target size is reached.
    pub(super) fn write(&mut self, files: &mut Files, batch: &RecordBatch) -> Result<()> {
        self.write_rows(files, batch, None)
    }

    /// Write positions of one data file; see [`Rolling::write`].
    pub(super) fn write_positions(
        &mut self,
        files: &mut Files,
        batch: &RecordBatch,
        data_file: &str,
    ) -> Result<()> {
        self.write_rows(files, batch, Some(data_file))
    }

    /// Write all positions of one data file as one Parquet file; `first` has the first rows. Return false if the general
    /// writer has to write them, because the file has another format or more than one row group.
    pub(super) fn write_file_of(
        &mut self,
        files: &mut Files,
        positions: FilePositions<'_>,
        first: &RecordBatch,
    ) -> Result<bool> {
        let shape = Arc::clone(&files.shape);
        let FileShape::Parquet(shape) = shape.as_ref() else { return Ok(false) };
        let target = usize::try_from(files.options.target_file_bytes).unwrap_or(usize::MAX);
        if self.is_open() || !positions.fit(shape, target) {
            return Ok(false);
        }
        let name = self.name.take().unwrap_or_else(|| files.names.next_name());
        let location = files.locations.file(&self.destination.path, &name);
        let Some(closed) = positions.write((&files.outputs, shape), &location, first)? else {
            self.name = Some(name);
            return Ok(false);
        };
        self.referenced.add(positions.path);
        self.add_finished(files, closed);
        Ok(true)
    }

    fn write_rows(
        &mut self,
        files: &mut Files,
        batch: &RecordBatch,
        data_file: Option<&str>,
    ) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            // One batch may fill several files.
            let target = self.estimate_of(files.options.target_file_bytes);
            let least = usize::try_from(files.options.target_file_bytes).unwrap_or(usize::MAX);
            let expected_rows = self.expected_rows(files.options.target_file_bytes);
            let file = self.open_file(files, batch)?;
            let left = batch.num_rows() - start;
            let size = file.size_bytes();
            let next_size = if size < least { least.min(target) } else { target };
            let rows = rows_until_check(file.rows(), size, next_size, batch);
            let rows = rows.min(rows_until_expected(file.rows(), expected_rows));
            let rows = rows.min(files.shape.rows_at_once(batch)).min(left);
            file.write(&files.shape, &batch.slice(start, rows))?;
            start += rows;
            let size = file.size_bytes();
            let is_full = size >= target || (size >= least && file.rows() >= expected_rows);
            if let Some(path) = data_file {
                self.referenced.add(path);
            }
            if is_full && !self.is_first_and_small(files)? {
                self.close(files)?;
            }
        }
        Ok(())
    }

    /// Write a row group of copied pages, to a new file if the open file would exceed the target size. A new
    /// file is created for the rows in `first`, which may be empty.
    pub(super) fn append_copied(
        &mut self,
        files: &mut Files,
        group: CopiedGroup,
        first: &RecordBatch,
    ) -> Result<()> {
        let target = files.options.target_file_bytes;
        let is_full = self
            .file
            .as_ref()
            .is_some_and(|file| (file.size_bytes() as u64).saturating_add(group.len()) > target);
        if is_full {
            self.close(files)?;
        }
        self.open_file(files, first)?.append_copied(group)
    }

    /// Return the open file, or a new one, whose first rows are in `first`.
    fn open_file(&mut self, files: &Files, first: &RecordBatch) -> Result<&mut OpenFile> {
        match &mut self.file {
            Some(file) => Ok(file),
            closed => {
                let name = self.name.take().unwrap_or_else(|| files.names.next_name());
                let location = files.locations.file(&self.destination.path, &name);
                let file = files.shape.create(&files.outputs, location, first)?;
                Ok(closed.insert(file))
            }
        }
    }

    /// Return the rows of a file of a size, by the files closed so far; no number of rows is enough before the first one.
    fn expected_rows(&self, bytes: u64) -> usize {
        let rows = u128::from(bytes).saturating_mul(self.closed_rows as u128);
        let rows = rows.checked_div(self.closed as u128).unwrap_or(u128::MAX);
        usize::try_from(rows).unwrap_or(usize::MAX)
    }

    /// Return whether the open file is the first one and, once its row group is encoded, far below the target size. Later
    /// files are closed by the estimates of earlier ones.
    fn is_first_and_small(&mut self, files: &Files) -> Result<bool> {
        let Some(file) = self.file.as_mut().filter(|_| self.closed == 0) else { return Ok(false) };
        let estimate = file.size_bytes();
        file.flush()?;
        let encoded = file.size_bytes();
        self.excess += estimate.saturating_sub(encoded);
        let least = files.options.target_file_bytes / 100 * LEAST_FIRST_FILE_PERCENT;
        Ok(encoded < estimate && (encoded as u64) < least)
    }

    /// Return the estimate at which a file has a size, by the files closed so far.
    fn estimate_of(&self, bytes: u64) -> usize {
        let bytes = u128::from(bytes);
        let (estimated, closed) = (self.estimated as u128, self.closed as u128);
        let scaled = bytes.saturating_mul(estimated).checked_div(closed).unwrap_or(bytes);
        // A file of few rows says little about the next one.
        let bounded = scaled.clamp(bytes / 4, bytes.saturating_mul(4));
        usize::try_from(bounded).unwrap_or(usize::MAX)
    }

    /// Close the open file, if there is one.
    pub(super) fn close(&mut self, files: &mut Files) -> Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        self.estimated += file.size_bytes() + std::mem::take(&mut self.excess);
        let closed = file.close(&files.shape)?;
        self.closed_rows += closed.rows;
        self.closed += usize::try_from(closed.size_bytes).unwrap_or(usize::MAX / 2);
        self.add_finished(files, closed);
        Ok(())
    }

    fn add_finished(&mut self, files: &mut Files, closed: ClosedFile) {
        let referenced_data_file = match std::mem::take(&mut self.referenced) {
            Referenced::One(path) => Some(path),
            Referenced::Nothing | Referenced::Several => None,
        };
        files.finished.push(WrittenFile {
            content: files.content,
            format: files.shape.format(),
            location: closed.location,
            spec_id: self.destination.spec_id,
            partition: self.destination.partition.clone(),
            record_count: i64::try_from(closed.rows).unwrap_or(i64::MAX),
            file_size_bytes: i64::try_from(closed.size_bytes).unwrap_or(i64::MAX),
            metrics: closed.metrics,
            split_offsets: closed.split_offsets,
            equality_ids: files.equality_ids.clone(),
            sort_order_id: files.sort_order_id,
            referenced_data_file,
        });
    }
}

/// Return the estimated rows up to a file's target size; for an empty file estimated from their size in memory.
fn rows_until_check(rows: usize, size: usize, target: usize, batch: &RecordBatch) -> usize {
    let (rows, written) = match rows {
        0 => (batch.num_rows(), batch.get_array_memory_size()),
        rows => (rows, size),
    };
    let row_bytes = (written / rows.max(1)).max(1);
    (target.saturating_sub(size) / row_bytes).max(ROWS_BETWEEN_CHECKS)
}

/// Return the rows up to the expected rows of a file, by earlier files; then a tenth of these at a time, since an estimate of
/// the size that is still below the target may lag.
fn rows_until_expected(rows: usize, expected: usize) -> usize {
    let step = match expected.saturating_sub(rows) {
        0 => expected / 10,
        left => left,
    };
    step.max(ROWS_BETWEEN_CHECKS)
}

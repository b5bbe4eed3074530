//! The files of one partition, one after the other: each is closed at the target size.

use arrow_array::RecordBatch;

use super::data_file::WrittenFile;
use super::file_options::FileOptions;
use super::file_shape::{FileShape, OpenFile};
use super::locations::{FileNames, Locations};
use super::output::Outputs;
use crate::error::Result;

/// The least rows between two checks of a file's size.
const ROWS_BETWEEN_CHECKS: usize = 1_000;

/// The settings that all partitions of one task share.
pub(super) struct Files<'a> {
    pub(super) outputs: Outputs<'a>,
    pub(super) names: FileNames,
    pub(super) locations: Locations,
    pub(super) options: FileOptions,
    pub(super) shape: FileShape,
    pub(super) content: i32,
    /// The id of the order that rows are sorted by; None for delete files.
    pub(super) sort_order_id: Option<i32>,
    pub(super) finished: Vec<WrittenFile>,
}

/// The partition that files are written to.
#[derive(Debug, Clone, Default)]
pub(super) struct Destination {
    pub(super) spec_id: i32,
    /// The tuple as a JSON array.
    pub(super) partition: String,
    /// The directories of the partition; empty without partitions.
    pub(super) path: String,
    /// The data file whose positions are deleted, if it is one.
    pub(super) referenced_data_file: Option<String>,
}

/// Writes batches of one partition.
pub(super) struct Rolling {
    destination: Destination,
    file: Option<OpenFile>,
}

impl Rolling {
    pub(super) fn new(destination: Destination) -> Self {
        Self { destination, file: None }
    }

    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Bytes that the open file holds in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.file.as_ref().map_or(0, OpenFile::memory_bytes)
    }

    /// Write the rows that the open file holds in memory.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.file.as_mut().map_or(Ok(()), OpenFile::flush)
    }

    /// Write rows, and start a new file whenever the target size is reached.
    pub(super) fn write(&mut self, files: &mut Files<'_>, batch: &RecordBatch) -> Result<()> {
        let target = usize::try_from(files.options.target_file_bytes).unwrap_or(usize::MAX);
        let mut start = 0;
        while start < batch.num_rows() {
            let file = match &mut self.file {
                Some(file) => file,
                closed => {
                    let location =
                        files.locations.file(&self.destination.path, &files.names.next_name());
                    let file = files.shape.create(&mut files.outputs, location, batch)?;
                    closed.insert(file)
                }
            };
            let left = batch.num_rows() - start;
            let rows = rows_until_check(file.rows(), file.size_bytes(), target, batch);
            let rows = rows.min(files.shape.rows_at_once(batch)).min(left);
            file.write(&files.shape, &batch.slice(start, rows))?;
            start += rows;
            if file.size_bytes() >= target {
                self.close(files)?;
            }
        }
        Ok(())
    }

    /// Close the open file, if there is one.
    pub(super) fn close(&mut self, files: &mut Files<'_>) -> Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let closed = file.close(&files.shape)?;
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
            sort_order_id: files.sort_order_id,
            referenced_data_file: self.destination.referenced_data_file.clone(),
        });
        Ok(())
    }
}

/// The estimated rows up to a file's target size; for an empty file estimated from their size in memory.
fn rows_until_check(rows: usize, size: usize, target: usize, batch: &RecordBatch) -> usize {
    let (rows, written) = match rows {
        0 => (batch.num_rows(), batch.get_array_memory_size()),
        rows => (rows, size),
    };
    let row_bytes = (written / rows.max(1)).max(1);
    (target.saturating_sub(size) / row_bytes).max(ROWS_BETWEEN_CHECKS)
}

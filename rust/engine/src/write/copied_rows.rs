//! Rows of existing files that a write takes over as encoded pages, as far as whole pages remain.
//!
//! A rewrite that changes few rows of a file decodes and encodes the others only to store the same bytes again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch};
use icefloe_format::Error as FormatError;
use icefloe_format::spec::{
    Partition, PartitionSpec, Schema, SortOrder, StructType, partition_from_json,
};
use parquet::file::writer::SerializedFileWriter;

use super::changed_files::{ChangedFile, FILE_ROW, changed_files};
use super::copied_chunk::CopiedChunk;
use super::copied_footers::{FileCopies, copies_of};
use super::copy_rules::CopyRules;
use super::file_format::FileKind;
use super::file_options::{Encoding, FileOptions};
use super::output::Output;
use super::parquet_failure::failed;
use crate::bytes::data_file::DataFile;
use crate::error::Result;
use crate::store::FileIo;

/// Pages of existing files that are the last row groups of a write.
#[derive(Debug)]
pub struct CopiedRows {
    io: FileIo,
    rules: Option<Arc<CopyRules>>,
    spec: PartitionSpec,
    partition_type: StructType,
    groups: Mutex<Vec<CopiedGroup>>,
}

/// The remaining rows of changed files.
#[derive(Debug)]
pub struct RemainingRows {
    /// For each file, whether pages of it are copied.
    pub is_copied: BooleanArray,
    /// The rows of these files that are not copied, for the caller to write, as runs: `__file_row` int32, `first` int64 and
    /// `count` int64, sorted by the first two.
    pub others: RecordBatch,
}

/// A row group of copied pages.
#[derive(Debug)]
pub(super) struct CopiedGroup {
    io: FileIo,
    location: Arc<str>,
    /// The bytes of the file.
    length: u64,
    partition: Partition,
    rows: usize,
    chunks: Vec<CopiedChunk>,
}

impl CopiedRows {
    /// Create an empty set for a write. No page is copied for sorted rows, formats other than Parquet, and nested columns.
    ///
    /// # Errors
    /// `InvalidArgument` for properties that are not valid.
    pub fn new(
        io: &FileIo,
        (schema, spec, order): (&Schema, &PartitionSpec, Option<&SortOrder>),
        properties: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let options = FileOptions::new(properties, FileKind::Data)?;
        let is_sorted = order.is_some_and(|order| !order.is_unsorted());
        let rules = match &options.encoding {
            Encoding::Parquet(options) if !is_sorted => {
                Some(Arc::new(CopyRules::new(schema, options)?))
            }
            _ => None,
        };
        let (spec, partition_type) = (spec.clone(), spec.partition_type(schema));
        Ok(Self { io: io.clone(), rules, spec, partition_type, groups: Mutex::default() })
    }

    /// Add the pages of files without the rows at some positions. Footers are read concurrently, in memory for as long as
    /// they are read; the descriptions of copied pages remain. A file that cannot be read is not copied: the reader of its
    /// rows reports the failure.
    ///
    /// `files` has `file_path`, `spec_id`, `partition`, `record_count` and `has_deletes`, `removed` has the row in `files` and
    /// the position of each row to leave out: `__file_row` int32 and `_pos` int64, sorted by both.
    ///
    /// # Errors
    /// `Mismatch` for other columns, `InvalidArgument` for a partition that the spec does not fit; [`crate::Error::Internal`] if the operating system starts no threads.
    pub fn add(&self, files: &RecordBatch, removed: &RecordBatch) -> Result<RemainingRows> {
        let mut changed = changed_files(files, removed)?;
        // Rows of another spec's file may be in several partitions.
        changed.retain(|file| self.spec.fields.is_empty() || file.spec_id == self.spec.spec_id);
        let copies = match &self.rules {
            Some(rules) => copies_of(&self.io, rules, changed)?,
            None => Vec::new(),
        };
        let remaining = remaining_rows(files.num_rows(), &copies)?;
        let mut groups = Vec::new();
        for copies in copies {
            self.add_groups(copies, &mut groups)?;
        }
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).extend(groups);
        Ok(remaining)
    }

    fn add_groups(&self, copies: FileCopies, groups: &mut Vec<CopiedGroup>) -> Result<()> {
        let FileCopies { file: ChangedFile { location, partition, .. }, length, remaining } =
            copies;
        let location: Arc<str> = location.into();
        let partition = match self.spec.fields.is_empty() {
            true => Partition::new(),
            false => partition_from_json(&self.partition_type, &partition)?,
        };
        groups.extend(remaining.runs.into_iter().map(|run| CopiedGroup {
            io: self.io.clone(),
            location: Arc::clone(&location),
            length,
            partition: partition.clone(),
            rows: usize::try_from(run.rows.end - run.rows.start).unwrap_or_default(),
            chunks: run.chunks,
        }));
        Ok(())
    }

    /// Return the row groups added so far, and forget them.
    pub(super) fn take(&self) -> Vec<CopiedGroup> {
        std::mem::take(&mut self.groups.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn remaining_rows(files: usize, copies: &[FileCopies]) -> Result<RemainingRows> {
    let mut is_copied = vec![false; files];
    let (mut numbers, mut firsts, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for FileCopies { file, remaining, .. } in copies {
        if let Some(flag) = is_copied.get_mut(file.number) {
            *flag = true;
        }
        let number = i32::try_from(file.number).unwrap_or(i32::MAX);
        numbers.resize(numbers.len() + remaining.others.len(), number);
        firsts.extend(remaining.others.iter().map(|run| run.start));
        counts.extend(remaining.others.iter().map(|run| run.end - run.start));
    }
    let columns: [(&str, ArrayRef); 3] = [
        (FILE_ROW, Arc::new(Int32Array::from(numbers))),
        ("first", Arc::new(Int64Array::from(firsts))),
        ("count", Arc::new(Int64Array::from(counts))),
    ];
    let others = RecordBatch::try_from_iter(columns)
        .map_err(|error| FormatError::invalid("removed", error.to_string()))?;
    Ok(RemainingRows { is_copied: is_copied.into(), others })
}

impl CopiedGroup {
    /// Return the bytes of the pages.
    pub(super) fn len(&self) -> u64 {
        self.chunks.iter().map(CopiedChunk::len).sum()
    }

    /// Return the partition of the rows.
    pub(super) fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Return the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Write the row group to the file at `location`. The pages of one column at a time are in memory.
    ///
    /// # Errors
    /// The errors of reading the pages and of writing them.
    pub(super) fn write(
        self,
        writer: &mut SerializedFileWriter<Output>,
        location: &str,
    ) -> Result<()> {
        let file = DataFile::of_length(&self.io, &self.location, self.length)?;
        let mut group = writer.next_row_group().map_err(|error| failed(location, error))?;
        for chunk in self.chunks {
            let read = chunk.read(&file);
            let (bytes, close) = read.map_err(|error| failed(&self.location, error))?;
            let written = group.append_column(&bytes, close);
            written.map_err(|error| failed(location, error))?;
        }
        group.close().map_err(|error| failed(location, error))?;
        Ok(())
    }
}

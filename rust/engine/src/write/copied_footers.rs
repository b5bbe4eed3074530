//! Footers of changed files read concurrently, each to the rows of its file that are copied as pages.

use std::sync::Arc;

use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
};
use parquet::file::reader::Length;

use super::changed_files::ChangedFile;
use super::copy_rules::{CopyRules, LEAST_ROWS, Remaining};
use crate::bytes::data_file::{DataFile, TailFetch};
use crate::error::Result;
use crate::pipeline::{Flight, Pipeline, Work};
use crate::runtime::{catch_panic, default_threads};
use crate::store::FileIo;

/// The least number of threads that read footers: most of their time is waiting for storage.
const LEAST_THREADS: usize = 8;
/// Bytes of results that may wait for their turn.
const WAITING_BYTES: usize = 64 << 20;

/// The remaining rows of a file with rows to copy.
#[derive(Debug)]
pub(super) struct FileCopies {
    pub(super) file: ChangedFile,
    /// The bytes of the file.
    pub(super) length: u64,
    pub(super) remaining: Remaining,
}

/// Return the copies of the files that have any, in the order of `files`. Footers of small files and of files with deletes
/// are not read.
///
/// # Errors
/// [`crate::Error::Internal`] if the operating system starts no threads; `InvalidArgument` naming a property.
pub(super) fn copies_of(
    io: &FileIo,
    rules: &Arc<CopyRules>,
    mut files: Vec<ChangedFile>,
) -> Result<Vec<FileCopies>> {
    files.retain(|file| file.record_count >= LEAST_ROWS && !file.has_deletes);
    let Some(first) = files.first() else { return Ok(Vec::new()) };
    let ahead = io.read_ahead_bytes(&first.location)?;
    let threads = default_threads().max(LEAST_THREADS);
    let flight = Flight { threads, bytes: WAITING_BYTES, ahead };
    let footers = Footers { io: io.clone(), rules: Arc::clone(rules), files };
    Pipeline::new(footers, flight)?.collect()
}

/// Reads the footer of every file.
struct Footers {
    io: FileIo,
    rules: Arc<CopyRules>,
    files: Vec<ChangedFile>,
}

impl Work for Footers {
    type Unit = FileCopies;
    type Item = FileCopies;

    const NEEDED_WHOLE: bool = true;

    fn tasks(&self) -> usize {
        self.files.len()
    }

    fn fetch_tail(&self, task: usize) -> Option<TailFetch> {
        self.files.get(task).and_then(|file| TailFetch::start(&self.io, &file.location))
    }

    fn prefetch(&self, _: &FileCopies, _: usize) -> Option<usize> {
        Some(0)
    }

    fn prepare(&self, task: usize, tail: Option<TailFetch>) -> Result<Vec<FileCopies>> {
        // A failure is reported by the reader of the rows.
        let copies = catch_panic(|| self.copies(task, tail)).ok().flatten();
        Ok(copies.into_iter().collect())
    }

    fn decode(&self, unit: FileCopies, emit: &mut dyn FnMut(FileCopies) -> bool) -> Result<()> {
        emit(unit);
        Ok(())
    }

    fn bytes(item: &FileCopies) -> usize {
        size_of::<FileCopies>() + size_of_val(item.remaining.others.as_slice())
    }
}

impl Footers {
    fn copies(&self, task: usize, tail: Option<TailFetch>) -> Option<FileCopies> {
        let file = self.files.get(task)?;
        let source = DataFile::opened(tail, &self.io, &file.location).ok()?;
        let remaining = self.rules.remaining(&footer(&source)?, &file.removed)?;
        Some(FileCopies { file: file.clone(), length: source.len(), remaining })
    }
}

/// Read a footer with its page indexes.
fn footer(file: &DataFile) -> Option<ParquetMetaData> {
    let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
    let reader = ParquetMetaDataReader::new()
        .with_metadata_options(Some(options))
        .with_page_index_policy(PageIndexPolicy::Optional);
    reader.parse_and_finish(file).ok()
}

//! Rows of existing files that a write takes over as encoded pages, as far as whole pages remain.
//!
//! A rewrite that changes few rows of a file decodes and encodes the others only to store the same bytes again. Pages are
//! copied where a long run of rows remains, so that row groups do not become small.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use icefloe_format::spec::{PartitionSpec, Schema, SortOrder};
use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    RowGroupMetaData,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::SchemaDescriptor;

use super::copied_chunk::{CopiedChunk, SourceChunk};
use super::file_format::FileKind;
use super::file_options::{Encoding, FileOptions};
use super::output::Output;
use super::parquet_failure::failed;
use super::parquet_options::{CREATED_BY, ParquetOptions};
use super::parquet_schema::{parquet_schema, path_of};
use crate::bytes::data_file::DataFile;
use crate::error::Result;
use crate::runtime::catch_panic;
use crate::store::FileIo;

/// The least rows that are copied; they are at least half of their row group, too.
const LEAST_ROWS: i64 = 100_000;
/// The most row groups of a file whose pages are copied. A file of more row groups is rewritten, which merges them.
const MOST_ROW_GROUPS: usize = 16;

/// Pages of existing files that are the last row groups of a write.
#[derive(Debug)]
pub struct CopiedRows {
    io: FileIo,
    rules: Option<Rules>,
    groups: Mutex<Vec<CopiedGroup>>,
}

/// The schema and properties that a file has in common with the files of the write.
#[derive(Debug)]
struct Rules {
    schema: SchemaDescriptor,
    properties: WriterProperties,
}

/// A row group of copied pages.
#[derive(Debug)]
pub(super) struct CopiedGroup {
    location: String,
    file: DataFile,
    rows: usize,
    chunks: Vec<CopiedChunk>,
}

impl CopiedRows {
    /// Create an empty set for a write. No page is copied for partitioned or sorted rows, formats other than Parquet, and
    /// nested columns.
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
            Encoding::Parquet(options) if spec.fields.is_empty() && !is_sorted => {
                Some(Rules::new(schema, options)?)
            }
            _ => None,
        };
        Ok(Self { io: io.clone(), rules, groups: Mutex::default() })
    }

    /// Add the pages of a file without the rows at some positions. Return the rows that are not copied and not removed,
    /// for the caller to write; `None` if the file has no pages to copy, or cannot be read.
    ///
    /// `removed` has ascending positions.
    pub fn add(&self, location: &str, removed: &[i64]) -> Option<Vec<i64>> {
        let rules = self.rules.as_ref()?;
        let file = DataFile::open(&self.io, location).ok()?;
        // A failure is reported by the reader of the rows.
        let metadata = catch_panic(|| footer(&file)).ok().flatten()?;
        let (groups, others) = rules.copies(&metadata, (location, &file), removed)?;
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).extend(groups);
        Some(others)
    }

    /// Return the row groups added so far, and forget them.
    pub(super) fn take(&self) -> Vec<CopiedGroup> {
        std::mem::take(&mut self.groups.lock().unwrap_or_else(PoisonError::into_inner))
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

impl Rules {
    fn new(schema: &Schema, options: &ParquetOptions) -> Result<Self> {
        let parquet = parquet_schema(schema)?;
        let path = |column: &str| path_of(&parquet, schema.id_by_name(column, true)?);
        let properties = options.properties(None, path).build();
        Ok(Self { schema: parquet, properties })
    }

    /// Return the copies of a file's pages, and the positions of the other rows that remain. `None` without copies.
    fn copies(
        &self,
        metadata: &ParquetMetaData,
        (location, file): (&str, &DataFile),
        removed: &[i64],
    ) -> Option<(Vec<CopiedGroup>, Vec<i64>)> {
        let facts = metadata.file_metadata();
        let is_alike = facts.created_by() == Some(CREATED_BY)
            && facts.schema_descr().root_schema() == self.schema.root_schema();
        if !is_alike || metadata.num_row_groups() > MOST_ROW_GROUPS {
            return None;
        }
        let (mut groups, mut others, mut first) = (Vec::new(), Vec::new(), 0);
        for (number, group) in metadata.row_groups().iter().enumerate() {
            let rows = first..first + group.num_rows();
            let within = within(removed, &rows);
            let mut next = rows.start;
            for run in self.runs(metadata, number, within, rows.start) {
                let Some(chunks) = self.chunks(metadata, number, &run) else { continue };
                let copied = rows.start + run.start..rows.start + run.end;
                add_others(&mut others, next..copied.start, within);
                next = copied.end;
                groups.push(CopiedGroup {
                    location: location.to_owned(),
                    file: file.share(),
                    rows: usize::try_from(run.end - run.start).ok()?,
                    chunks,
                });
            }
            add_others(&mut others, next..rows.end, within);
            first = rows.end;
        }
        (!groups.is_empty()).then_some((groups, others))
    }

    /// Return the runs of whole pages without a removed row that are worth copying, as rows of a row group.
    fn runs(
        &self,
        metadata: &ParquetMetaData,
        number: usize,
        removed: &[i64],
        first: i64,
    ) -> Vec<Range<i64>> {
        let Some(chunks) = self.source(metadata, number) else { return Vec::new() };
        let Some(group) = metadata.row_groups().get(number) else { return Vec::new() };
        let rows = group.num_rows();
        let least = LEAST_ROWS.max(rows.saturating_add(1) / 2);
        let mut runs: Vec<Range<i64>> = Vec::new();
        let starts = common_starts(&chunks);
        let ends = starts.iter().skip(1).copied().chain([rows]);
        for (start, end) in starts.iter().copied().zip(ends) {
            if !within(removed, &(first + start..first + end)).is_empty() {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == start => run.end = end,
                _ => runs.push(start..end),
            }
        }
        runs.retain(|run| run.end - run.start >= least);
        runs
    }

    /// Return the chunks of a row group; `None` if one of them cannot be copied.
    fn source<'a>(
        &self,
        metadata: &'a ParquetMetaData,
        number: usize,
    ) -> Option<Vec<SourceChunk<'a>>> {
        let group: &RowGroupMetaData = metadata.row_groups().get(number)?;
        let indexes = metadata.page_index()?.as_ref();
        let chunks = group.columns().iter().enumerate().map(|(leaf, chunk)| {
            let rules = (&self.properties, group.num_rows());
            SourceChunk::new(chunk, indexes, (number, leaf), rules)
        });
        chunks.collect()
    }

    fn chunks(
        &self,
        metadata: &ParquetMetaData,
        number: usize,
        run: &Range<i64>,
    ) -> Option<Vec<CopiedChunk>> {
        let chunks = self.source(metadata, number)?;
        let columns = self.schema.columns().iter();
        chunks.iter().zip(columns).map(|(chunk, column)| chunk.copy(run, column)).collect()
    }
}

/// Return the ascending positions that are in a range.
fn within<'a>(positions: &'a [i64], range: &Range<i64>) -> &'a [i64] {
    let start = positions.partition_point(|position| *position < range.start);
    let end = positions.partition_point(|position| *position < range.end);
    positions.get(start..end).unwrap_or_default()
}

/// Add the positions of a range that are not removed.
fn add_others(others: &mut Vec<i64>, range: Range<i64>, removed: &[i64]) {
    let mut removed = within(removed, &range).iter().peekable();
    others.extend(range.filter(|position| removed.next_if_eq(&position).is_none()));
}

/// Return the rows at which pages of all columns start.
fn common_starts(chunks: &[SourceChunk<'_>]) -> Vec<i64> {
    let Some((first, others)) = chunks.split_first() else { return Vec::new() };
    let mut starts: Vec<i64> = first.page_rows().collect();
    for chunk in others {
        let mut pages = chunk.page_rows().peekable();
        starts.retain(|start| {
            while pages.next_if(|row| row < start).is_some() {}
            pages.peek() == Some(start)
        });
    }
    starts
}

impl CopiedGroup {
    /// Return the bytes of the pages.
    pub(super) fn len(&self) -> u64 {
        self.chunks.iter().map(CopiedChunk::len).sum()
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
        let mut group = writer.next_row_group().map_err(|error| failed(location, error))?;
        for chunk in self.chunks {
            let read = chunk.read(&self.file);
            let (bytes, close) = read.map_err(|error| failed(&self.location, error))?;
            let written = group.append_column(&bytes, close);
            written.map_err(|error| failed(location, error))?;
        }
        group.close().map_err(|error| failed(location, error))?;
        Ok(())
    }
}

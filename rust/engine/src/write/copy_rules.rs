//! The rows of an existing file whose pages a write copies.
//!
//! Pages are copied where a long run of rows remains, so that row groups do not become small.

use std::ops::Range;

use icefloe_format::spec::Schema;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

use super::copied_chunk::{CopiedChunk, SourceChunk};
use super::parquet_options::{CREATED_BY, ParquetOptions};
use super::parquet_schema::{parquet_schema, path_of};
use crate::error::Result;

/// The least rows that are copied; they are at least half of their row group, too.
pub(super) const LEAST_ROWS: i64 = 100_000;
/// The most row groups of a file whose pages are copied. A file of more row groups is rewritten, which merges them.
const MOST_ROW_GROUPS: usize = 16;

/// The schema and properties that a file has in common with the files of the write.
#[derive(Debug)]
pub(super) struct CopyRules {
    schema: SchemaDescriptor,
    properties: WriterProperties,
}

/// The remaining rows of a file: the runs that are copied, and all others.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    pub(super) runs: Vec<CopiedRun>,
    /// The runs of the other rows, ascending and not adjacent. Positions of single rows would take eight bytes for each
    /// row that is not copied.
    pub(super) others: Vec<Range<i64>>,
}

/// Rows of one row group that are copied, and the pages of their columns.
#[derive(Debug)]
pub(super) struct CopiedRun {
    pub(super) rows: Range<i64>,
    pub(super) chunks: Vec<CopiedChunk>,
}

impl CopyRules {
    /// # Errors
    /// `Unsupported` for a column that Parquet cannot store.
    pub(super) fn new(schema: &Schema, options: &ParquetOptions) -> Result<Self> {
        let parquet = parquet_schema(schema)?;
        let path = |column: &str| path_of(&parquet, schema.id_by_name(column, true)?);
        let properties = options.properties(None, path).build();
        Ok(Self { schema: parquet, properties })
    }

    /// Return the rows of a file without those at the ascending positions `removed`. `None` if no row is copied.
    pub(super) fn remaining(
        &self,
        metadata: &ParquetMetaData,
        removed: &[i64],
    ) -> Option<Remaining> {
        if !self.allow(metadata) {
            return None;
        }
        let (mut remaining, mut first) = (Remaining::default(), 0i64);
        for (number, group) in metadata.row_groups().iter().enumerate() {
            let rows = first..first.saturating_add(group.num_rows());
            let removed = within(removed, &rows);
            first = rows.end;
            remaining.add(self.copied_runs(metadata, number, (rows.start, removed)), rows, removed);
        }
        (!remaining.runs.is_empty()).then_some(remaining)
    }

    /// Return whether this library wrote the file, with the same columns and few row groups.
    fn allow(&self, metadata: &ParquetMetaData) -> bool {
        let facts = metadata.file_metadata();
        facts.created_by() == Some(CREATED_BY)
            && facts.schema_descr().root_schema() == self.schema.root_schema()
            && metadata.num_row_groups() <= MOST_ROW_GROUPS
    }

    /// Return the runs of a row group that are copied. The row group starts at the row `first` of the file.
    fn copied_runs(
        &self,
        metadata: &ParquetMetaData,
        number: usize,
        (first, removed): (i64, &[i64]),
    ) -> Vec<CopiedRun> {
        let Some(group) = self.source(metadata, number) else { return Vec::new() };
        let runs = group.runs(first, removed).into_iter().filter_map(|run| {
            let chunks = group.copy(&run, self.schema.columns())?;
            Some(CopiedRun { rows: first + run.start..first + run.end, chunks })
        });
        runs.collect()
    }

    /// Return a row group; `None` if a chunk of it cannot be copied.
    fn source<'a>(&self, metadata: &'a ParquetMetaData, number: usize) -> Option<SourceGroup<'a>> {
        let group = metadata.row_groups().get(number)?;
        let indexes = metadata.page_index()?.as_ref();
        let rules = (&self.properties, group.num_rows());
        let chunks = group.columns().iter().enumerate();
        let chunks =
            chunks.map(|(leaf, chunk)| SourceChunk::new(chunk, indexes, (number, leaf), rules));
        Some(SourceGroup { chunks: chunks.collect::<Option<_>>()?, rows: group.num_rows() })
    }
}

impl Remaining {
    /// Add the rows of a row group, of which some runs are copied.
    fn add(&mut self, runs: Vec<CopiedRun>, rows: Range<i64>, removed: &[i64]) {
        let mut next = rows.start;
        for run in runs {
            self.add_others(next..run.rows.start, removed);
            next = run.rows.end;
            self.runs.push(run);
        }
        self.add_others(next..rows.end, removed);
    }

    /// Add the rows of a range that are not removed.
    fn add_others(&mut self, range: Range<i64>, removed: &[i64]) {
        let mut next = range.start;
        for position in within(removed, &range) {
            self.add_run(next..*position);
            next = position + 1;
        }
        self.add_run(next..range.end);
    }

    fn add_run(&mut self, run: Range<i64>) {
        match self.others.last_mut() {
            _ if run.is_empty() => {}
            Some(last) if last.end == run.start => last.end = run.end,
            _ => self.others.push(run),
        }
    }
}

/// A row group whose pages can be copied.
struct SourceGroup<'a> {
    chunks: Vec<SourceChunk<'a>>,
    rows: i64,
}

impl SourceGroup<'_> {
    /// Return the runs of whole pages without a removed row that are worth copying, as rows of the row group, which starts
    /// at the row `first` of the file.
    fn runs(&self, first: i64, removed: &[i64]) -> Vec<Range<i64>> {
        let mut runs: Vec<Range<i64>> = Vec::new();
        let starts = self.common_starts();
        let ends = starts.iter().skip(1).copied().chain([self.rows]);
        for (start, end) in starts.iter().copied().zip(ends) {
            if !within(removed, &(first + start..first + end)).is_empty() {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == start => run.end = end,
                _ => runs.push(start..end),
            }
        }
        let least = LEAST_ROWS.max(self.rows.saturating_add(1) / 2);
        runs.retain(|run| run.end - run.start >= least);
        runs
    }

    /// Return the rows at which pages of all columns start.
    fn common_starts(&self) -> Vec<i64> {
        let Some((first, others)) = self.chunks.split_first() else { return Vec::new() };
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

    /// Return copies of the pages of a run, for a file with these columns. `None` if a column cannot be copied.
    fn copy(&self, run: &Range<i64>, columns: &[ColumnDescPtr]) -> Option<Vec<CopiedChunk>> {
        self.chunks.iter().zip(columns).map(|(chunk, column)| chunk.copy(run, column)).collect()
    }
}

/// Return the ascending positions that are in a range.
fn within<'a>(positions: &'a [i64], range: &Range<i64>) -> &'a [i64] {
    let start = positions.partition_point(|position| *position < range.start);
    let end = positions.partition_point(|position| *position < range.end);
    positions.get(start..end).unwrap_or_default()
}

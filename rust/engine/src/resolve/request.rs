//! A request for the rows of one data or delete file, whatever its format.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use icefloe_format::predicate::{BoundPredicate, Predicate};
use icefloe_format::spec::{Datum, Schema};
use parquet::schema::types::SchemaDescriptor;
use roaring::RoaringTreemap;

use super::columns::FileFacts;
use super::file_columns::FileColumn;
use super::key_set::KeySet;
use super::row_filter::RowTest;
use crate::bytes::data_file::{DataFile, TailFetch};
use crate::error::{Error, Result};
use crate::store::FileIo;
use crate::table::TableContext;

/// A file, the part and columns to read, and the rows to leave out.
pub(crate) struct FileRequest<'a> {
    pub(crate) io: &'a FileIo,
    pub(crate) context: &'a TableContext,
    pub(crate) location: &'a str,
    /// The request for the end of the file, if it was sent; the first to open the file takes it.
    pub(crate) tail: Cell<Option<TailFetch>>,
    /// Rows of the whole file by the table's metadata; unknown if negative.
    pub(crate) record_count: i64,
    /// First byte of the part to read.
    pub(crate) start: u64,
    /// Bytes of the part to read.
    pub(crate) length: u64,
    pub(crate) spec_id: i32,
    /// Number of the file's task in its scan.
    pub(crate) task: i32,
    /// Values of identity-partitioned columns, by source id.
    pub(crate) identities: HashMap<i32, Option<Datum>>,
    /// The columns of the batches.
    pub(crate) projection: &'a Schema,
    pub(crate) string_views: bool,
    /// Whether the columns of batches may be dictionaries of their types.
    pub(crate) dictionaries: bool,
    /// The predicate that rows must satisfy.
    pub(crate) residual: BoundPredicate,
    /// The partition tuple by partition field id, if a column shows it.
    pub(crate) partition: HashMap<i32, Option<Datum>>,
    /// The rows to leave out.
    pub(crate) deletes: RowDeletes,
    /// Positions of the rows that `_deleted` is true for.
    pub(crate) marked: Option<Arc<RoaringTreemap>>,
}

/// The deletes of a data file, resolved.
#[derive(Clone, Default)]
pub(crate) struct RowDeletes {
    /// Positions of deleted rows.
    pub(crate) positions: Option<Arc<RoaringTreemap>>,
    /// Keys of deleted rows.
    pub(crate) keys: Vec<KeySet>,
}

impl<'a> FileRequest<'a> {
    /// Return a request for all rows of a file without metadata columns.
    pub(crate) fn whole(
        (io, context): (&'a FileIo, &'a TableContext),
        (location, record_count): (&'a str, i64),
        projection: &'a Schema,
    ) -> Self {
        Self {
            io,
            context,
            location,
            tail: Cell::default(),
            record_count,
            start: 0,
            length: u64::MAX,
            spec_id: 0,
            task: 0,
            identities: HashMap::new(),
            projection,
            string_views: true,
            dictionaries: false,
            residual: Predicate::AlwaysTrue,
            partition: HashMap::new(),
            deletes: RowDeletes::default(),
            marked: None,
        }
    }

    /// Open the file.
    ///
    /// # Errors
    /// The errors of [`DataFile::open`].
    pub(crate) fn file(&self) -> Result<DataFile> {
        DataFile::opened(self.tail.take(), self.io, self.location)
    }

    /// Return the columns of the file with the values that all of its rows share. `what` names the file in error messages,
    /// `descriptor` has the leaves of a Parquet file.
    pub(crate) fn facts<'f>(
        &'f self,
        what: &'static str,
        columns: &'f [FileColumn],
        descriptor: Option<&'f SchemaDescriptor>,
    ) -> FileFacts<'f> {
        FileFacts {
            what,
            columns,
            descriptor,
            location: self.location,
            spec_id: self.spec_id,
            task: self.task,
            identities: &self.identities,
            partition: &self.partition,
            deleted: self.marked.as_ref(),
        }
    }

    /// Return the tests that every row must pass.
    ///
    /// # Errors
    /// Errors of resolving the columns of the residual.
    pub(crate) fn tests(&self, facts: &FileFacts<'_>) -> Result<Vec<RowTest>> {
        self.tests_beside(facts, &BTreeSet::new())
    }

    /// As [`FileRequest::tests`], for batches that contain these decoded leaves as well.
    ///
    /// # Errors
    /// As for [`FileRequest::tests`].
    pub(crate) fn tests_beside(
        &self,
        facts: &FileFacts<'_>,
        leaves: &BTreeSet<usize>,
    ) -> Result<Vec<RowTest>> {
        if matches!(self.residual, Predicate::AlwaysTrue) {
            return Ok(vec![]);
        }
        let schema = &self.context.schema;
        Ok(vec![RowTest::matches(self.residual.clone(), schema, facts, leaves.clone())?])
    }
}

/// Compare the rows of a whole file, deleted ones included, with the `record_count` of its manifest entry, which is
/// unknown if negative.
///
/// # Errors
/// `Corrupt` naming the file and both counts.
pub(crate) fn check_record_count(
    location: &str,
    what: &str,
    found: i64,
    record_count: i64,
) -> Result<()> {
    if record_count < 0 || found == record_count {
        return Ok(());
    }
    let reason = format!("expected {record_count} rows by the table's metadata, got {found}");
    Err(Error::corrupt_file(location, what, reason))
}

//! What is wanted of one data or delete file, whatever its format.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use icefloe_format::predicate::{BoundPredicate, Predicate};
use icefloe_format::spec::{Datum, Schema};
use roaring::RoaringTreemap;

use super::columns::FileFacts;
use super::key_set::KeySet;
use super::row_filter::RowTest;
use crate::bytes::data_file::{DataFile, Opening};
use crate::error::{Error, Result};
use crate::store::FileIo;
use crate::table::TableContext;

/// A file and what is wanted of it. A format answers with the units that it cuts the file into.
pub(crate) struct FileRequest<'a> {
    pub(crate) io: &'a FileIo,
    pub(crate) context: &'a TableContext,
    pub(crate) location: &'a str,
    /// What of the file is on its way, for who opens it first.
    pub(crate) opening: Cell<Option<Opening>>,
    /// Rows of the whole file by the table's metadata; unknown if negative.
    pub(crate) record_count: i64,
    /// First byte of the part to read.
    pub(crate) start: u64,
    /// Bytes of the part to read.
    pub(crate) length: u64,
    pub(crate) spec_id: i32,
    /// Values of identity-partitioned columns, by source id.
    pub(crate) identities: HashMap<i32, Option<Datum>>,
    /// The columns of the batches made.
    pub(crate) projection: &'a Schema,
    pub(crate) string_views: bool,
    /// What rows must satisfy.
    pub(crate) residual: BoundPredicate,
    /// The partition tuple by partition field id, where it is wanted.
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
    /// The whole of a file: every row and no metadata.
    pub(crate) fn whole(
        (io, context): (&'a FileIo, &'a TableContext),
        (location, record_count): (&'a str, i64),
        projection: &'a Schema,
    ) -> Self {
        Self {
            io,
            context,
            location,
            opening: Cell::default(),
            record_count,
            start: 0,
            length: u64::MAX,
            spec_id: 0,
            identities: HashMap::new(),
            projection,
            string_views: true,
            residual: Predicate::AlwaysTrue,
            partition: HashMap::new(),
            deletes: RowDeletes::default(),
            marked: None,
        }
    }

    /// The file, open.
    ///
    /// # Errors
    /// Those of [`DataFile::open`].
    pub(crate) fn file(&self) -> Result<DataFile> {
        DataFile::opened(self.opening.take(), self.io, self.location)
    }

    /// The questions that every row is asked.
    ///
    /// # Errors
    /// Those of resolving the columns of the residual.
    pub(crate) fn tests(&self, facts: &FileFacts<'_>) -> Result<Vec<RowTest>> {
        self.tests_beside(facts, &BTreeSet::new())
    }

    /// As [`FileRequest::tests`], asked of batches in which these leaves are decoded too.
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
    let reason = format!("it holds {found} rows, the table's metadata says {record_count}");
    Err(Error::corrupt_file(location, what, reason))
}

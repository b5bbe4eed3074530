//! Rows of the metadata table `partitions`: the live files of each partition, added up.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchOptions,
    TimestampMicrosecondArray,
};
use arrow_ord::sort::{SortColumn, lexsort_to_indices};
use arrow_schema::{Schema as ArrowSchema, SortOptions};
use arrow_select::take::take_record_batch;

use super::unified_partition::unified_partition;
use crate::manifest::partition::tuples_to_json;
use crate::manifest::{DELETED, ManifestColumns};
use crate::spec::{
    ArrowOptions, Schema, StructType, null_array, partition_from_json, partitions_to_struct,
    struct_to_arrow, type_to_arrow,
};
use crate::{Error, Result};

/// A snapshot that added or deleted a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LastUpdate {
    /// Microseconds since 1970-01-01 UTC.
    pub committed_at: i64,
    /// Id of the snapshot.
    pub snapshot_id: i64,
}

/// The sums of the live files of every partition, a partition being a spec and a tuple.
#[derive(Debug, Clone)]
pub struct PartitionTotals {
    unified: StructType,
    /// The commit time of each known snapshot in microseconds.
    committed_at: HashMap<i64, i64>,
    places: HashMap<(i32, String), usize>,
    totals: Vec<Totals>,
}

#[derive(Debug, Clone, Default)]
struct Totals {
    spec_id: i32,
    tuple: String,
    /// Rows of data files, position deletes and equality deletes.
    records: [i64; 3],
    /// Numbers of data files, position delete files and equality delete files.
    files: [i32; 3],
    data_bytes: i64,
    last_update: Option<LastUpdate>,
}

impl Totals {
    /// Add a live file.
    fn add_file(&mut self, content: i32, records: i64, bytes: i64) {
        let kind = usize::try_from(content).unwrap_or(0).min(2);
        if let (Some(sum), Some(files)) = (self.records.get_mut(kind), self.files.get_mut(kind)) {
            *sum = sum.saturating_add(records);
            *files = files.saturating_add(1);
        }
        if kind == 0 {
            self.data_bytes = self.data_bytes.saturating_add(bytes);
        }
    }
}

impl PartitionTotals {
    /// Create totals without files. `unified` is the type of the column `partition`, without fields for a table that was
    /// never partitioned; `committed_at` has the commit times of the table's snapshots in microseconds.
    pub fn new(unified: StructType, committed_at: HashMap<i64, i64>) -> Self {
        Self { unified, committed_at, places: HashMap::new(), totals: Vec::new() }
    }

    /// Add the entries of one manifest, or of a part of one. A deleted entry counts as an update of its partition alone.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a tuple does not fit the unified type.
    pub fn add(&mut self, columns: &ManifestColumns, partition_type: &StructType) -> Result<()> {
        let tuples = unified_partition(&columns.partition, partition_type, &self.unified)?;
        let texts = tuples_to_json(&self.unified, &tuples)?;
        let (spec_ids, contents) = (columns.ints("spec_id")?, columns.ints("content")?);
        let (records, sizes) =
            (columns.longs("record_count")?, columns.longs("file_size_in_bytes")?);
        let (snapshot_ids, statuses) = (columns.longs("snapshot_id")?, columns.ints("status")?);
        let mut last: Option<(i32, &str, usize)> = None;
        for row in 0..columns.len() {
            let (spec_id, text) = (spec_ids.value(row), texts.value(row));
            let place = match last {
                Some((known, tuple, place)) if known == spec_id && tuple == text => place,
                _ => self.place(spec_id, text),
            };
            last = Some((spec_id, text, place));
            let Some(totals) = self.totals.get_mut(place) else { continue };
            if statuses.value(row) != DELETED {
                totals.add_file(contents.value(row), records.value(row), sizes.value(row));
            }
            if snapshot_ids.is_valid(row) {
                let snapshot_id = snapshot_ids.value(row);
                let update = self.committed_at.get(&snapshot_id);
                let update = update.map(|at| LastUpdate { committed_at: *at, snapshot_id });
                totals.last_update = totals.last_update.max(update);
            }
        }
        Ok(())
    }

    fn place(&mut self, spec_id: i32, text: &str) -> usize {
        let next = self.totals.len();
        let place = *self.places.entry((spec_id, text.to_owned())).or_insert(next);
        if place == next {
            let totals = Totals { spec_id, tuple: text.to_owned(), ..Totals::default() };
            self.totals.push(totals);
        }
        place
    }

    /// Return one row for each partition, sorted by tuple with nulls first and then by spec id, in the columns of `wanted`.
    /// A table without partition fields has one row, or none without files.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a column of `wanted` is unknown and required.
    pub fn finish(mut self, wanted: &Schema) -> Result<RecordBatch> {
        if self.unified.fields.is_empty() && !self.totals.is_empty() {
            self.merge_into_one();
        }
        let tuples = self.totals.iter().map(|one| partition_from_json(&self.unified, &one.tuple));
        let tuples = partitions_to_struct(&self.unified, &tuples.collect::<Result<Vec<_>>>()?)?;
        let rows = self.totals.len();
        let tuples: ArrayRef = Arc::new(tuples);
        let columns = wanted.fields().iter().map(|field| match self.column(&field.name) {
            Some(column) => Ok(column),
            None if field.name == "partition" => Ok(Arc::clone(&tuples)),
            None => null_array(&type_to_arrow(&field.field_type, ArrowOptions::default()), rows),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let fields = struct_to_arrow(&wanted.as_struct(), ArrowOptions::default());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(
            Arc::new(ArrowSchema::new(fields)),
            columns,
            &options,
        );
        let invalid =
            |error: arrow_schema::ArrowError| Error::invalid("partitions", error.to_string());
        let options = Some(SortOptions { descending: false, nulls_first: true });
        let spec_ids: ArrayRef = Arc::new(self.ints(|one| one.spec_id));
        let tuples = arrow_array::cast::AsArray::as_struct(tuples.as_ref());
        let by = tuples.columns().iter().cloned().chain([spec_ids]);
        let by: Vec<SortColumn> = by.map(|values| SortColumn { values, options }).collect();
        let order = lexsort_to_indices(&by, None).map_err(invalid)?;
        take_record_batch(&batch.map_err(invalid)?, &order).map_err(invalid)
    }

    /// Add up the rows of specs without fields: the table has one partition.
    fn merge_into_one(&mut self) {
        let mut all = Totals { tuple: "[]".to_owned(), ..Totals::default() };
        for one in &self.totals {
            for (sum, more) in all.records.iter_mut().zip(one.records) {
                *sum = sum.saturating_add(more);
            }
            for (sum, more) in all.files.iter_mut().zip(one.files) {
                *sum = sum.saturating_add(more);
            }
            all.data_bytes = all.data_bytes.saturating_add(one.data_bytes);
            all.last_update = all.last_update.max(one.last_update);
        }
        self.totals = vec![all];
    }

    fn column(&self, name: &str) -> Option<ArrayRef> {
        let [data, positions, equalities] = [0, 1, 2];
        let records = |kind: usize| self.longs(move |one| *one.records.get(kind).unwrap_or(&0));
        let files = |kind: usize| self.ints(move |one| *one.files.get(kind).unwrap_or(&0));
        Some(match name {
            "spec_id" => Arc::new(self.ints(|one| one.spec_id)),
            "record_count" | "data_record_count" => Arc::new(records(data)),
            "file_count" | "data_file_count" => Arc::new(files(data)),
            "total_data_file_size_in_bytes" => Arc::new(self.longs(|one| one.data_bytes)),
            "position_delete_record_count" => Arc::new(records(positions)),
            "position_delete_file_count" => Arc::new(files(positions)),
            "equality_delete_record_count" => Arc::new(records(equalities)),
            "equality_delete_file_count" => Arc::new(files(equalities)),
            "last_updated_at" => {
                let times = self.totals.iter().map(|one| one.last_update.map(|it| it.committed_at));
                Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
            }
            "last_updated_snapshot_id" => {
                let ids = self.totals.iter().map(|one| one.last_update.map(|it| it.snapshot_id));
                Arc::new(ids.collect::<Int64Array>())
            }
            _ => return None,
        })
    }

    fn longs(&self, value: impl Fn(&Totals) -> i64) -> Int64Array {
        self.totals.iter().map(value).collect::<Vec<i64>>().into()
    }

    fn ints(&self, value: impl Fn(&Totals) -> i32) -> Int32Array {
        self.totals.iter().map(value).collect::<Vec<i32>>().into()
    }
}

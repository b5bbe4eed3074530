//! The manifests of a snapshot, pruned by their partition summaries.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, UInt32Array};
use arrow_select::take::take;
use icefloe_format::Error as FormatError;
use icefloe_format::manifest::decode_manifest_list;
use icefloe_format::predicate::{ManifestSummaries, evaluate_inclusive};

use super::counters::PlanCounters;
use super::filter::ScanFilter;
use super::request::PlanRequest;
use crate::error::{Error, Result};
use crate::manifests::{absolute_list, header_spec_id};
use crate::store::FileIo;
use crate::table::TableContext;

const DELETES: i32 = 1;
const WHAT: &str = "the manifest list";

/// A manifest to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ManifestToRead {
    pub(crate) location: String,
    pub(crate) spec_id: i32,
    pub(crate) sequence_number: i64,
    pub(crate) added_snapshot_id: Option<i64>,
    /// Its length in bytes, if known.
    pub(crate) length: Option<u64>,
}

/// All manifests of a snapshot.
pub(crate) enum Manifests {
    /// Columns of a manifest list, and its location.
    Listed(RecordBatch, String),
    /// Manifests listed inline, by their own headers.
    Inline(Vec<ManifestToRead>),
}

impl Manifests {
    /// Read the manifest list, or the headers of inline manifests.
    pub(crate) async fn load(io: &FileIo, request: &PlanRequest) -> Result<Self> {
        if let Some(location) = &request.manifest_list {
            let location = &io.absolute(location).into_owned();
            let bytes = io.read(location).await?;
            let list =
                decode_manifest_list(&bytes).map_err(|error| Error::in_file(location, error))?;
            return Ok(Self::Listed(absolute_list(io, list)?, location.clone()));
        }
        let mut manifests = Vec::with_capacity(request.manifests.len());
        for location in &request.manifests {
            let bytes = io.read(location).await?;
            let spec_id =
                header_spec_id(&bytes).map_err(|error| Error::in_file(location, error))?;
            manifests.push(ManifestToRead {
                location: io.absolute(location).into_owned(),
                spec_id,
                sequence_number: 0,
                added_snapshot_id: None,
                length: Some(bytes.len() as u64),
            });
        }
        Ok(Self::Inline(manifests))
    }

    /// The data and the delete manifests that might hold files for the filter; with `added_by` only manifests of this
    /// snapshot.
    pub(crate) fn prune(
        self,
        (filter, added_by): (&ScanFilter, Option<i64>),
        context: &TableContext,
        counters: &mut PlanCounters,
    ) -> Result<(Vec<ManifestToRead>, Vec<ManifestToRead>)> {
        let (list, location) = match self {
            Self::Inline(manifests) => {
                counters.data_manifests_total = manifests.len() as u64;
                return Ok((manifests, vec![]));
            }
            Self::Listed(list, location) => (list, location),
        };
        let list = ManifestList::new(&list).map_err(|error| Error::in_file(&location, error))?;
        let might_match = list.might_match(filter).map_err(|error| error.at(&location))?;
        let (mut data, mut deletes) = (vec![], vec![]);
        for (row, might_match) in might_match.into_iter().enumerate() {
            let manifest = list.manifest(row).map_err(|error| Error::in_file(&location, error))?;
            // Files that a snapshot adds are in manifests that it writes.
            let writer = manifest.added_snapshot_id;
            let other = added_by.is_some() && writer.is_some() && writer != added_by;
            let opened = might_match && !other && list.has_files(row);
            // Without the spec, partition tuples cannot be decoded.
            context.spec(manifest.spec_id).map_err(|error| error.at(&manifest.location))?;
            list.count(row, opened, counters);
            if opened {
                if list.is_deletes(row) { deletes.push(manifest) } else { data.push(manifest) }
            }
        }
        Ok((data, deletes))
    }
}

struct ManifestList<'a> {
    batch: &'a RecordBatch,
}

impl<'a> ManifestList<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Self, FormatError> {
        for name in ["manifest_path", "partition_spec_id", "content", "sequence_number"] {
            let column = batch.column_by_name(name);
            if column.is_none_or(|column| column.null_count() > 0) {
                return Err(FormatError::corrupt(
                    WHAT,
                    format!("expected values in column {name}, got null or no column"),
                ));
            }
        }
        Ok(Self { batch })
    }

    fn manifest(&self, row: usize) -> Result<ManifestToRead, FormatError> {
        let absent =
            |name: &str| FormatError::corrupt(WHAT, format!("expected a column {name}, got none"));
        let path = self.batch.column_by_name("manifest_path");
        let path = path.and_then(|path| path.as_string_opt::<i32>());
        Ok(ManifestToRead {
            location: path.ok_or_else(|| absent("manifest_path"))?.value(row).to_owned(),
            spec_id: self
                .int("partition_spec_id", row)
                .ok_or_else(|| absent("partition_spec_id"))?,
            sequence_number: self.long("sequence_number", row).unwrap_or(0),
            added_snapshot_id: self.long("added_snapshot_id", row),
            length: self.long("manifest_length", row).and_then(|length| u64::try_from(length).ok()),
        })
    }

    fn is_deletes(&self, row: usize) -> bool {
        self.int("content", row) == Some(DELETES)
    }

    /// Whether the manifest may have live files; true for unknown counts.
    fn has_files(&self, row: usize) -> bool {
        self.int("added_files_count", row) != Some(0)
            || self.int("existing_files_count", row) != Some(0)
    }

    fn live_files(&self, row: usize) -> u64 {
        let count = |name| u64::try_from(self.int(name, row).unwrap_or(0)).unwrap_or(0);
        count("added_files_count") + count("existing_files_count")
    }

    fn count(&self, row: usize, opened: bool, counters: &mut PlanCounters) {
        if self.is_deletes(row) {
            counters.delete_manifests_total += 1;
            counters.delete_manifests_skipped += u64::from(!opened);
            return;
        }
        counters.data_manifests_total += 1;
        if !opened {
            counters.data_manifests_skipped += 1;
            counters.data_files_total += self.live_files(row);
            counters.files_skipped_by_partition += self.live_files(row);
        }
    }

    /// A mask of the manifests that might hold a file whose partition satisfies the filter.
    fn might_match(&self, filter: &ScanFilter) -> Result<Vec<bool>> {
        let mut might_match = vec![true; self.batch.num_rows()];
        let summaries = self.batch.column_by_name("partitions");
        let Some(summaries) = summaries.filter(|_| !filter.is_always_true()) else {
            return Ok(might_match);
        };
        let mut by_spec: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        for row in 0..self.batch.num_rows() {
            let position = u32::try_from(row).unwrap_or(u32::MAX);
            if let Some(spec_id) = self.int("partition_spec_id", row) {
                by_spec.entry(spec_id).or_default().push(position);
            }
        }
        for (spec_id, rows) in by_spec {
            let Some(of_spec) = filter.of_spec(spec_id) else { continue };
            let of_rows = take(summaries, &UInt32Array::from(rows.clone()), None)
                .map_err(|error| FormatError::corrupt(WHAT, error.to_string()))?;
            let Some(of_rows) = of_rows.as_list_opt::<i32>() else { continue };
            let stats = ManifestSummaries::new(of_rows, &of_spec.partition_type);
            let matching = evaluate_inclusive(&of_spec.partitions, &stats)?;
            for (row, matches) in rows.into_iter().zip(matching.values()) {
                if let Some(slot) = might_match.get_mut(row as usize) {
                    *slot = matches;
                }
            }
        }
        Ok(might_match)
    }

    fn int(&self, name: &str, row: usize) -> Option<i32> {
        let column = self.batch.column_by_name(name)?.as_primitive_opt::<Int32Type>()?;
        column.is_valid(row).then(|| column.value(row))
    }

    fn long(&self, name: &str, row: usize) -> Option<i64> {
        let column = self.batch.column_by_name(name)?.as_primitive_opt::<Int64Type>()?;
        column.is_valid(row).then(|| column.value(row))
    }
}

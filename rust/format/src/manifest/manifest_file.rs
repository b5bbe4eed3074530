//! One row of a manifest list.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, ListBuilder, StructBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};

use super::columns::{field_summary_fields, manifest_file_schema};
use super::encode::ManifestContent;
use super::entries::invalid;
use super::inherit::Inheritance;
use super::summary::{FieldSummary, ManifestSummary};
use crate::{Error, Result};

/// A manifest as its row of a manifest list describes it, without partition summaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFile {
    /// Location.
    pub path: String,
    /// Size in bytes, as the list states it.
    pub length: i64,
    /// Partition spec id of the entries.
    pub spec_id: i32,
    /// Content of the entries, data or deletes.
    pub content: ManifestContent,
    /// `None` for a manifest of the current commit, whose sequence number is assigned when the manifest list is written.
    pub sequence_number: Option<i64>,
    /// The snapshot that added the manifest.
    pub added_snapshot_id: Option<i64>,
    /// Number of added entries; `None` where not recorded.
    pub added_files: Option<i32>,
    /// Number of existing entries; `None` where not recorded.
    pub existing_files: Option<i32>,
}

impl ManifestFile {
    /// Return the rows of a batch of [`manifest_file_schema`]. A null content means data.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a path, length or spec id is null, or a content is neither 0 nor 1.
    pub fn from_batch(manifests: &RecordBatch) -> Result<Vec<Self>> {
        (0..manifests.num_rows()).map(|row| Self::from_row(manifests, row)).collect()
    }

    fn from_row(manifests: &RecordBatch, row: usize) -> Result<Self> {
        let path = manifests
            .column_by_name("manifest_path")
            .and_then(|paths| paths.as_string_opt::<i32>())
            .filter(|paths| paths.is_valid(row))
            .map(|paths| paths.value(row).to_owned());
        let long = |name| value::<Int64Type>(manifests, name, row);
        let int = |name| value::<Int32Type>(manifests, name, row);
        let missing = |name: &str| {
            Error::invalid(name, format!("expected a value in every row, got null in row {row}"))
        };
        Ok(Self {
            path: path.ok_or_else(|| missing("manifest_path"))?,
            length: long("manifest_length").ok_or_else(|| missing("manifest_length"))?,
            spec_id: int("partition_spec_id").ok_or_else(|| missing("partition_spec_id"))?,
            content: ManifestContent::from_code(int("content").unwrap_or(0))?,
            sequence_number: long("sequence_number"),
            added_snapshot_id: long("added_snapshot_id"),
            added_files: int("added_files_count"),
            existing_files: int("existing_files_count"),
        })
    }

    /// Return the stated size in bytes; `None` for a negative one, which is no size.
    pub fn stated_length(&self) -> Option<u64> {
        u64::try_from(self.length).ok()
    }

    /// Return whether the manifest may have entries that are not deleted; true for unknown counts.
    pub fn may_have_live_files(&self) -> bool {
        self.added_files != Some(0) || self.existing_files != Some(0)
    }

    /// Return the number of entries that are not deleted; unknown and negative counts are 0.
    pub fn live_files(&self) -> u64 {
        let count = |files: Option<i32>| u64::try_from(files.unwrap_or(0)).unwrap_or(0);
        count(self.added_files) + count(self.existing_files)
    }

    /// Return the values that the manifest's entries inherit.
    pub fn inheritance(&self) -> Inheritance {
        Inheritance {
            added_snapshot_id: self.added_snapshot_id,
            sequence_number: self.sequence_number,
        }
    }
}

fn value<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str, row: usize) -> Option<T::Native> {
    let column = batch.column_by_name(name)?.as_primitive_opt::<T>()?;
    column.is_valid(row).then(|| column.value(row))
}

/// Convert manifests and their summaries to columns of [`manifest_file_schema`].
///
/// A manifest with a sequence number has it as its least one too: such manifests have format version 1, or no summary.
///
/// # Errors
/// None for manifests of this crate.
pub fn manifest_files_to_batch(files: &[(ManifestFile, ManifestSummary)]) -> Result<RecordBatch> {
    type Row = (ManifestFile, ManifestSummary);
    let longs = |value: &dyn Fn(&Row) -> Option<i64>| -> ArrayRef {
        Arc::new(files.iter().map(value).collect::<Int64Array>())
    };
    let ints = |value: &dyn Fn(&Row) -> i32| -> ArrayRef {
        Arc::new(files.iter().map(|file| Some(value(file))).collect::<Int32Array>())
    };
    let paths = files.iter().map(|(file, _)| Some(file.path.as_str()));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(paths.collect::<StringArray>()),
        longs(&|(file, _)| Some(file.length)),
        ints(&|(file, _)| file.spec_id),
        ints(&|(file, _)| file.content.code()),
        longs(&|(file, _)| file.sequence_number),
        longs(&|(file, summary)| file.sequence_number.or(summary.min_sequence_number)),
        longs(&|(file, _)| file.added_snapshot_id),
        ints(&|(_, summary)| summary.added.files),
        ints(&|(_, summary)| summary.existing.files),
        ints(&|(_, summary)| summary.deleted.files),
        longs(&|(_, summary)| Some(summary.added.rows)),
        longs(&|(_, summary)| Some(summary.existing.rows)),
        longs(&|(_, summary)| Some(summary.deleted.rows)),
        partitions(files.iter().map(|(_, summary)| summary.partitions.as_deref())),
        arrow_array::new_null_array(&arrow_schema::DataType::Binary, files.len()),
    ];
    RecordBatch::try_new(manifest_file_schema(), columns).map_err(|error| invalid(&error))
}

fn partitions<'a>(manifests: impl Iterator<Item = Option<&'a [FieldSummary]>>) -> ArrayRef {
    let mut lists = ListBuilder::new(StructBuilder::from_fields(field_summary_fields(), 0));
    for summaries in manifests {
        for summary in summaries.unwrap_or_default() {
            append(lists.values(), summary);
        }
        lists.append(summaries.is_some());
    }
    Arc::new(lists.finish())
}

fn append(to: &mut StructBuilder, summary: &FieldSummary) {
    let flags = [Some(summary.contains_null), summary.contains_nan];
    for (index, flag) in flags.into_iter().enumerate() {
        if let Some(builder) = to.field_builder::<BooleanBuilder>(index) {
            builder.append_option(flag);
        }
    }
    let bounds = [&summary.lower_bound, &summary.upper_bound];
    for (index, bound) in bounds.into_iter().enumerate() {
        if let Some(builder) = to.field_builder::<BinaryBuilder>(index + 2) {
            builder.append_option(bound.as_deref());
        }
    }
    to.append(true);
}

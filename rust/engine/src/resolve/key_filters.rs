//! Equality deletes of one file, applied to decoded batches.
//!
//! A decoder that reads column by column decodes the key columns alone, then the other columns without the deleted
//! rows. Other decoders decode the key columns beside the projected ones and drop the deleted rows from each batch.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::BooleanBuffer;
use icefloe_format::delete::{EqualityKeys, KeyedColumns, deleted_rows};
use icefloe_format::predicate::BoundPredicate;
use icefloe_format::spec::Schema;

use super::columns::{BatchPlan, FileFacts};
use super::key_set::KeySet;
use super::prune::{prune, values_at};
use crate::error::{Error, Result};

/// The key sets that apply to a file.
pub(crate) struct KeyFilters {
    /// The projected columns, from batches that contain the key columns as well.
    pub(crate) output: BatchPlan,
    filters: Vec<KeyFilter>,
}

/// A set of deleted keys and the decoded columns to compare with them.
pub(crate) struct KeyFilter {
    keys: Arc<EqualityKeys>,
    sources: Option<Arc<[Range<u32>]>>,
    /// The key columns, from batches of their leaves alone.
    alone: BatchPlan,
    /// The key columns, from batches that contain the projected columns as well.
    beside: BatchPlan,
    paths: Vec<Vec<usize>>,
    /// Row groups that may hold one of the keys.
    row_groups: Vec<usize>,
}

impl KeyFilters {
    /// Resolve the columns of key sets beside the columns of the output; `None` where no row group can hold one of
    /// their keys. `row_groups_of` returns the row groups that may hold a row that satisfies a predicate.
    ///
    /// # Errors
    /// Errors of resolving the key columns.
    pub(crate) fn new(
        sets: &[KeySet],
        (projection, output, views): (&Schema, &BatchPlan, bool),
        facts: &FileFacts<'_>,
        row_groups_of: &dyn Fn(&BoundPredicate) -> Result<Vec<usize>>,
    ) -> Result<Option<Self>> {
        let mut filters = Vec::new();
        let mut leaves = output.leaves.clone();
        for set in sets {
            let row_groups = row_groups_of(&set.bounds)?;
            if row_groups.is_empty() {
                continue;
            }
            let pruned = prune(&set.schema, &set.field_ids);
            let paths = set.field_ids.iter().filter_map(|id| pruned.position_path(*id)).collect();
            let alone = BatchPlan::new(&pruned, facts, true)?;
            leaves.extend(&alone.leaves);
            let (keys, sources) = (Arc::clone(&set.keys), set.sources.clone());
            let beside = alone.clone();
            filters.push((pruned, KeyFilter { keys, sources, alone, beside, paths, row_groups }));
        }
        if filters.is_empty() {
            return Ok(None);
        }
        let output = BatchPlan::beside(projection, facts, views, leaves.clone())?;
        let filters =
            filters.into_iter().map(|(schema, filter)| filter.beside(&schema, facts, &leaves));
        Ok(Some(Self { output, filters: filters.collect::<Result<_>>()? }))
    }

    /// Return the plans of all decoded columns.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &BatchPlan> + Clone {
        std::iter::once(&self.output).chain(self.filters.iter().map(|filter| &filter.beside))
    }

    /// Return the leaves of the key columns.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = usize> {
        self.filters.iter().flat_map(|filter| filter.alone.leaves.iter().copied())
    }

    /// Return the filters that rows of a row group need.
    pub(crate) fn of_row_group(&self, row_group: usize) -> Vec<&KeyFilter> {
        self.filters.iter().filter(|filter| filter.row_groups.contains(&row_group)).collect()
    }
}

impl KeyFilter {
    fn beside(
        self,
        schema: &Schema,
        facts: &FileFacts<'_>,
        leaves: &BTreeSet<usize>,
    ) -> Result<Self> {
        Ok(Self { beside: BatchPlan::beside(schema, facts, true, leaves.clone())?, ..self })
    }

    /// Return the plan of the key columns, from batches of their leaves alone.
    pub(crate) fn alone(&self) -> &BatchPlan {
        &self.alone
    }

    /// Return which rows of a batch of [`KeyFilter::alone`] have a deleted key; `None` if no row has one.
    ///
    /// # Errors
    /// As for [`KeyFilter::keyed`].
    pub(crate) fn deleted(&self, decoded: &RecordBatch) -> Result<Option<BooleanBuffer>> {
        let keyed = self.keyed_by(&self.alone, decoded)?;
        Ok(deleted_rows(0..decoded.num_rows() as u64, None, &[keyed])?)
    }

    /// Return the keys beside their columns of a decoded batch, which contains the projected columns as well.
    ///
    /// # Errors
    /// `Corrupt` for columns that cannot be converted to the types of the keys.
    pub(crate) fn keyed(&self, decoded: &RecordBatch) -> Result<KeyedColumns<'_>> {
        self.keyed_by(&self.beside, decoded)
    }

    fn keyed_by(&self, plan: &BatchPlan, decoded: &RecordBatch) -> Result<KeyedColumns<'_>> {
        let batch = plan.make(decoded).map_err(|error| {
            Error::from(icefloe_format::Error::corrupt(plan.what, error.to_string()))
        })?;
        let columns = self.paths.iter().map(|path| values_at(&batch, path));
        let columns = columns.collect::<Result<_>>()?;
        Ok(KeyedColumns { keys: &self.keys, sources: self.sources.as_deref(), columns })
    }
}

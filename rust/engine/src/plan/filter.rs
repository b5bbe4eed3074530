//! The filter of a scan, bound once and projected once per partition spec.

use std::collections::HashMap;

use icefloe_format::manifest::Stats;
use icefloe_format::predicate::{
    BoundPredicate, Predicate, bind, parse_json, project_inclusive, references,
};
use icefloe_format::spec::{PartitionSpec, StructType};

use crate::error::Result;
use crate::table::TableContext;

/// A bound filter.
#[derive(Debug)]
pub(crate) struct ScanFilter {
    /// Over the table's columns, NOT pushed down.
    pub(crate) rows: BoundPredicate,
    by_spec: HashMap<i32, SpecFilter>,
}

/// The filter projected to the partitions of one spec.
#[derive(Debug)]
pub(crate) struct SpecFilter {
    pub(crate) spec: PartitionSpec,
    pub(crate) partition_type: StructType,
    /// Predicate over partition fields; false proves that a partition has no matching row.
    pub(crate) partitions: BoundPredicate,
}

impl ScanFilter {
    /// Bind predicate JSON to the context's schema.
    ///
    /// # Errors
    /// `UnknownColumn`, and `InvalidArgument` naming the literal that does not fit.
    pub(crate) fn new(filter: &str, context: &TableContext) -> Result<Self> {
        let bound = bind(&parse_json(filter)?, &context.schema, context.case_sensitive)?;
        let rows = bound.push_not_down();
        let mut by_spec = HashMap::new();
        for (spec_id, spec) in &context.specs {
            let partitions = project_inclusive(&rows, &context.schema, spec)?;
            let partition_type = context.partition_type(spec);
            let spec = spec.clone();
            by_spec.insert(*spec_id, SpecFilter { spec, partition_type, partitions });
        }
        Ok(Self { rows, by_spec })
    }

    /// Return whether every row of the table satisfies the filter.
    pub(crate) fn is_always_true(&self) -> bool {
        matches!(self.rows, Predicate::AlwaysTrue)
    }

    /// Return the filter for the partitions of one spec.
    pub(crate) fn of_spec(&self, spec_id: i32) -> Option<&SpecFilter> {
        self.by_spec.get(&spec_id)
    }

    /// Return the statistics that the filter and equality deletes on these fields need.
    pub(crate) fn statistics(&self, equality_ids: Vec<i32>) -> Stats {
        let mut ids = references(&self.rows);
        ids.extend(equality_ids);
        if ids.is_empty() { Stats::Skip } else { Stats::Columns(ids) }
    }
}

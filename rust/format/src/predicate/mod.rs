//! Predicates: parsing, binding, projection on partitions, evaluation over statistics and rows.
//!
//! [`parse_json`] and [`bind`] produce a [`BoundPredicate`]. [`project_inclusive`] and [`project_strict`] project it on
//! partition values. [`evaluate_inclusive`] and [`evaluate_strict`] return which entries might match and which must
//! match, by their [`ColumnStats`]. [`residual`] removes the leaves that a partition decides, and [`filter_mask`]
//! filters rows.

mod bind;
mod compare;
mod evaluate;
mod field_summaries;
mod file_stats;
mod json;
mod leaf_facts;
mod literal;
mod literal_set;
mod mask;
mod nodes;
mod partition_stats;
mod prefix_keys;
mod project;
mod residual;
mod row_filter;
mod schema_filter;
mod stats;
mod tree;
mod wrapped_partitions;

pub use bind::bind;
pub use evaluate::{Pruner, evaluate_inclusive, evaluate_strict};
pub(crate) use field_summaries::FieldSummaries;
pub(crate) use file_stats::file_facts;
pub use file_stats::{FileStats, stored_bounds};
pub use json::{from_value, parse_json, to_json, to_unbound_json};
pub use partition_stats::{ManifestSummaries, PartitionTuples};
pub use project::{project_inclusive, project_strict};
pub use residual::{Residuals, residual, residuals};
pub use row_filter::{RowFilter, filter_mask};
pub use schema_filter::{SchemaFilter, validate};
pub use stats::{ColumnCounts, ColumnFacts, ColumnStats};
pub use tree::{
    BoundLeaf, BoundPredicate, Negate, Operator, Predicate, Term, UnboundLeaf, UnboundPredicate,
    references,
};

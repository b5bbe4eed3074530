//! Predicates: parse, bind, project on partitions, evaluate over statistics and rows.
//!
//! [`parse_json`] and [`bind`] give a [`BoundPredicate`]. [`project_inclusive`] and
//! [`project_strict`] turn it into one over partition values; [`evaluate_inclusive`] and
//! [`evaluate_strict`] ask [`ColumnStats`] which entries might and which must match; [`residual`]
//! is what is left for the rows, and [`filter_mask`] filters those.

mod bind;
mod bounds;
mod calendar;
mod compare;
mod evaluate;
mod file_stats;
mod gather;
mod json;
mod literal;
mod map_places;
mod members;
mod project;
mod project_target;
mod project_term;
mod project_text;
mod residual;
mod row;
mod stats;
mod summaries;
mod term_facts;
mod text_keys;
mod texts;
mod tree;
mod tuples;
mod uuid_bounds;
mod validate;

pub use bind::bind;
pub use evaluate::{Pruner, evaluate_inclusive, evaluate_strict};
pub use file_stats::FileStats;
pub(crate) use file_stats::file_facts;
pub use file_stats::stored_bounds;
pub use json::{from_value, parse_json, to_json, to_unbound_json};
pub use project::{project_inclusive, project_strict};
pub use residual::{Residuals, residual, residuals};
pub use row::{RowFilter, filter_mask};
pub use stats::{ColumnCounts, ColumnFacts, ColumnStats};
pub use summaries::ManifestSummaries;
pub use texts::SchemaFilter;
pub use tree::{
    BoundLeaf, BoundPredicate, Negate, Operator, Predicate, Term, UnboundLeaf, UnboundPredicate,
    references,
};
pub use tuples::PartitionTuples;
pub use validate::validate;

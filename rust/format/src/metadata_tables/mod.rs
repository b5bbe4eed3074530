//! Rows of metadata tables from decoded manifests and manifest lists. The schemas of the tables are arguments: their owner
//! is the Python package.

mod file_columns;
mod file_rows;
mod manifest_facts;
mod manifest_rows;
mod partition_filter;
mod partition_totals;
mod readable_metrics;
mod unified_partition;

pub use file_rows::FileRows;
pub use manifest_facts::ManifestFacts;
pub use manifest_rows::{ManifestSpecs, manifest_rows};
pub use partition_filter::partition_filter;
pub use partition_totals::{LastUpdate, PartitionTotals};
pub use readable_metrics::metrics_field_ids;
pub use unified_partition::unified_partition;

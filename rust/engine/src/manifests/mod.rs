//! Manifests and manifest lists, read from and written to storage.
//!
//! Manifests travel as rows of a manifest list (`manifest_file_schema`), their entries as columns.
//! Nothing here commits: a manifest that no manifest list contains is garbage, not damage.

mod filter;
mod inline;
mod merge;
mod parallel_decode;
mod read;
mod rows;
mod table_types;
mod write;
mod written;

pub use filter::{FilteredManifests, filter_manifests};
pub use inline::describe_manifests;
pub(crate) use inline::{header_spec_id, inline_manifest};
pub use merge::{MergeOptions, merge_manifests};
pub(crate) use parallel_decode::{decode_in_runs, runs_per_manifest};
pub(crate) use read::absolute_list;
pub use read::{Keep, read_entries, read_manifest_list};
pub use table_types::TableTypes;
pub use write::{ManifestOptions, write_manifest_list, write_manifests};

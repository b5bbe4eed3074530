//! Manifests and manifest lists, read from and written to storage.
//!
//! Manifests travel as rows of a manifest list (`manifest_file_schema`), their entries as columns.
//! Nothing here commits: a manifest that no list mentions is garbage, not damage.

mod filter;
mod inline;
mod merge;
mod put;
mod read;
mod rows;
mod runs;
mod table_types;
mod write;

pub use filter::{FilteredManifests, filter_manifests};
pub use inline::describe_manifests;
pub(crate) use inline::header_spec_id;
pub use merge::{MergeOptions, merge_manifests};
pub(crate) use read::absolute_list;
pub use read::{Keep, read_entries, read_manifest_list};
pub use rows::{ManifestRow, manifest_rows};
pub(crate) use runs::decode_in_runs;
pub use table_types::TableTypes;
pub use write::{WriteOptions, write_manifest_list, write_manifests};

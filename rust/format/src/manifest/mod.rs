//! Manifests and manifest lists: decoding to and encoding from Arrow columns.

pub mod bundle;
mod chunk;
pub mod columns;
pub mod decode;
pub mod encode;
pub mod entries;
pub mod fields;
mod file_locations;
pub mod inherit;
pub mod list;
pub mod manifest_file;
pub mod matching;
pub mod partition;
pub mod summary;

pub use bundle::{BundleDecoder, EntryBundle, Member, filtered_members};
pub use columns::{data_file_schema, entry_schema, manifest_file_schema};
pub use decode::{
    DecodeOptions, ManifestDecoder, ManifestHeader, Stats, decode_manifest, decode_run,
};
pub use encode::{EncodeOptions, EncodedManifest, ManifestContent, encode_manifest};
pub use entries::{ADDED, DELETED, EXISTING, ManifestColumns};
pub use file_locations::{FileLocations, decode_file_locations};
pub use inherit::{Inheritance, inherit};
pub use list::{
    ListOptions, ListedManifests, decode_listed_manifests, decode_manifest_list,
    encode_manifest_list,
};
pub use manifest_file::{ManifestFile, manifest_files_to_batch};
pub use matching::{EntryFilter, MatchingEntries, decode_matching, decode_matching_run};
pub use summary::{Count, ManifestSummary};

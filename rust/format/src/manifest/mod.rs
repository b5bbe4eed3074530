//! Manifests and manifest lists: columns in, columns out.

pub mod columns;
pub mod decode;
pub mod entries;
pub mod fields;
pub mod inherit;
pub mod partition;

pub use columns::{data_file_schema, entry_schema, manifest_file_schema};
pub use decode::{DecodeOptions, ManifestDecoder, ManifestHeader, Stats, decode_manifest};
pub use entries::{ADDED, DELETED, EXISTING, ManifestColumns};
pub use inherit::{Inheritance, inherit};
pub use partition::partition_type;

//! Manifests and manifest lists: columns in, columns out.

pub mod columns;

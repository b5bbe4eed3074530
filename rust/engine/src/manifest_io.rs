//! Manifests and manifest lists, read from and written to storage.

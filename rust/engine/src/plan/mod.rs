//! From a manifest list to scan tasks.

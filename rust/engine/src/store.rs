//! Locations to object stores.

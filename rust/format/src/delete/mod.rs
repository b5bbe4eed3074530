//! Deletes: positions, equality keys, which files they apply to.

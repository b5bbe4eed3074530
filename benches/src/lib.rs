//! Seeded inputs for the criterion benches.

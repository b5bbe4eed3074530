//! The tests of the format crate: one binary, which links the crate once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at a value that it does not expect"
)]

mod avro_container;
mod avro_keyed;
mod avro_oracle;
mod avro_tolerance;
mod corrupt_vectors;
mod curve;
mod delete;
mod manifest_golden;
mod manifest_inheritance;
mod manifest_list;
mod manifest_matching;
mod manifest_reference;
mod manifest_round_trip;
mod metrics;
mod predicate;
mod spec;
mod strategies;
mod transform;
mod vectors;

//! Predicates against shared vectors and naive oracles.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

#[path = "../shared/vectors.rs"]
mod vectors;

mod bind;
mod oracle;
mod projection_vectors;
mod pruning;
mod rows;
mod statistics_vectors;
mod stats;

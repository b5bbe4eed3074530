//! Predicates against shared vectors and naive oracles.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod bind;
mod oracle;
mod pruning;
mod rows;
mod stats;
mod vectors;

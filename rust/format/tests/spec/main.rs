//! Tests of the spec's nouns.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[path = "../shared/strategies.rs"]
mod strategies;
#[path = "../shared/vectors.rs"]
mod vectors;

mod datum;
mod decimal;
mod json;
mod names;
mod order;
mod partition;
mod schema;
mod single_value;
mod sort_order;

//! Tests of the spec's nouns.

#[path = "../shared/strategies.rs"]
mod strategies;
#[path = "../shared/vectors.rs"]
mod vectors;

mod datum;
mod decimal;
mod names;
mod partition;
mod schema;
mod single_value;
mod sort_order;
